//! The world around a session: what it still owes answers for, and what it says next. It
//! reorders, delays, duplicates and drops, and now and then it talks nonsense.

use super::{
    model::{Model, prose, word},
    people,
    rng::Rng,
    settings,
};
use crate::test_host::EPOCH;
use innerloop_core::{
    config::ModelConfig,
    event::EventKind,
    id::{AgentId, EffectId},
    input::{
        Answer, Command, HookReply, HttpFailure, HttpFailureKind, HttpInput, Input, ResponseHead,
        ToolInput,
    },
    message::{Block, Part, Reply, ToolCall, ToolResult, Turn, TurnKind},
    output::{Effect, Output, OutputBatch},
};
use std::collections::VecDeque;

/// How many settled answers are kept to be given again.
const KEPT: usize = 6;

/// Everything outside of the session.
#[derive(Debug)]
pub(super) struct World {
    model: Model,
    pending: Vec<Pending>,
    /// Terminal answers that were given.
    given: VecDeque<Input>,
    /// Who started whom.
    started: Vec<(AgentId, u32)>,
    /// The number of the newest effect.
    newest: u64,
    /// How many conversations were taken over.
    imports: u32,
    mood: Mood,
}

/// An effect for which an answer is owed.
#[derive(Debug)]
struct Pending {
    effect: Effect,
    news: VecDeque<Input>,
    /// Nobody will answer.
    silent: bool,
    cancelled: bool,
}

/// What a world is inclined to do, of a hundred.
#[derive(Clone, Copy, Debug)]
struct Mood {
    talk: u64,
    ticks: u64,
    nonsense: u64,
    silence: u64,
}

impl World {
    /// `chances` are the model's, for faults of its texts, for tools that are shown or not and for
    /// agents with names.
    pub(super) fn new(model: &ModelConfig, chances: [Option<Rng>; 3], rng: &mut Rng) -> Self {
        let mood = match rng.below(3) {
            0 => Mood { talk: 4, ticks: 5, nonsense: 1, silence: 1 },
            1 => Mood { talk: 12, ticks: 15, nonsense: 8, silence: 6 },
            _ => Mood { talk: 30, ticks: 20, nonsense: 10, silence: 15 },
        };
        let (pending, given, started) = (Vec::new(), VecDeque::new(), Vec::new());
        let model = Model::new(model, chances, rng);
        Self { model, pending, given, started, newest: 0, imports: 0, mood }
    }

    /// Takes over what is to be done.
    pub(super) fn take(&mut self, outputs: &OutputBatch, rng: &mut Rng) {
        for output in outputs {
            let effect = match output {
                Output::Effect(effect) => effect,
                Output::Event(event) => {
                    if let EventKind::AgentStarted { parent, .. } = event.kind {
                        self.started.push((parent, event.agent.0));
                    }
                    continue;
                }
            };
            self.newest = self.newest.max(effect.id().0);
            if let Effect::Cancel { id, .. } = effect {
                let cancelled = self.pending.iter_mut().find(|pending| pending.effect.id() == *id);
                if let Some(pending) = cancelled {
                    pending.cancelled = true;
                    match rng.below(4) {
                        0 => pending.silent = true,
                        1 => {}
                        _ => pending.news = VecDeque::from([ended(&pending.effect)]),
                    }
                }
                continue;
            }
            self.plan(effect.clone(), rng);
        }
    }

    /// The process was killed: what is owed is carried out again, or reported as lost.
    pub(super) fn restart(&mut self, owed: &OutputBatch, rng: &mut Rng) {
        self.pending.retain(|pending| pending.cancelled);
        for effect in owed.effects() {
            self.plan(effect.clone(), rng);
            if rng.chance(40)
                && let Some(pending) = self.pending.last_mut()
            {
                pending.news = VecDeque::from([Input::Lost { id: effect.id() }]);
            }
        }
    }

    /// What happens next, and by how many milliseconds the clock moves before.
    pub(super) fn next(&mut self, rng: &mut Rng, deadline_ms: Option<u64>) -> (Input, i64) {
        let Mood { talk, ticks, nonsense, .. } = self.mood;
        let delay = i64::try_from(rng.below(20)).unwrap_or(0);
        let left = deadline_ms.map_or(1_000, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
        match rng.weighted(&[60, talk, ticks, nonsense, 3]) {
            0 => match self.news(rng) {
                Some(input) => (input, delay),
                None if rng.chance(50) => (Input::Tick, left),
                None => (Input::command(self.command(rng)), delay),
            },
            1 => (Input::command(self.command(rng)), delay),
            2 => match rng.below(5) {
                0 => (Input::Tick, left.saturating_add(delay)),
                1 => (Input::Tick, left.saturating_sub(1).max(0)),
                2 => (Input::Tick, -30),
                _ => (Input::Tick, left),
            },
            3 => (self.nonsense(rng), delay - 5),
            _ => (self.any_agent(rng), delay),
        }
    }

    /// A request that has no answer yet, be it cancelled.
    pub(super) fn any_request(&self, rng: &mut Rng) -> Option<EffectId> {
        let is_request = |pending: &&Pending| matches!(pending.effect, Effect::Http { .. });
        let open: Vec<_> = self.pending.iter().filter(is_request).collect();
        open.get(rng.index(open.len())).map(|pending| pending.effect.id())
    }

    /// News of any open effect; those that nobody answers are lost at last.
    pub(super) fn settle(&mut self, rng: &mut Rng) -> Option<Input> {
        for pending in self.pending.iter_mut().filter(|pending| pending.silent) {
            pending.silent = false;
            pending.news = VecDeque::from([Input::Lost { id: pending.effect.id() }]);
        }
        self.news(rng)
    }

    fn plan(&mut self, effect: Effect, rng: &mut Rng) {
        let id = effect.id();
        let news: VecDeque<Input> = match &effect {
            Effect::Http { agent, .. } => {
                let own = self.started.iter().filter(|(parent, _)| parent == agent);
                let own: Vec<u32> = own.map(|(_, child)| *child).collect();
                let news = self.model.answer(&own, rng);
                news.into_iter().map(|input| Input::Http { id, input }).collect()
            }
            Effect::RunTool { .. } => {
                people::run(rng).into_iter().map(|input| Input::Tool { id, input }).collect()
            }
            Effect::Ask { .. } => [Input::Answer { id, answer: people::answer(rng) }].into(),
            Effect::RunHook { .. } => [Input::Hook { id, reply: people::reply(rng) }].into(),
            Effect::Cancel { .. } => VecDeque::new(),
        };
        let silent = rng.chance(self.mood.silence);
        self.pending.push(Pending { effect, news, silent, cancelled: false });
    }

    fn news(&mut self, rng: &mut Rng) -> Option<Input> {
        let talking: Vec<usize> =
            (0..self.pending.len()).filter(|&at| !self.pending[at].silent).collect();
        let &at = talking.get(rng.index(talking.len()))?;
        let input = self.pending[at].news.pop_front();
        if self.pending[at].news.is_empty() {
            self.pending.remove(at);
            self.given.extend(input.clone());
            if self.given.len() > KEPT {
                self.given.pop_front();
            }
        }
        input
    }

    /// A message with a word of its own.
    fn said(&mut self, rng: &mut Rng) -> Vec<Part> {
        self.model.words += 1;
        let mut parts = vec![Part::text(format!("{} {}", word(self.model.words), prose(rng)))];
        if rng.chance(5) {
            parts.push(Part::Image { media_type: "image/png".into(), data: "aGk=".into() });
        }
        if rng.chance(5) {
            parts.push(Part::text(" "));
        }
        parts
    }

    fn command(&mut self, rng: &mut Rng) -> Command {
        match rng.weighted(&[40, 20, 20, 8, 8, 1]) {
            0 => Command::submit(self.said(rng)),
            1 => Command::Steer { parts: self.said(rng) },
            2 => Command::follow_up(self.said(rng)),
            3 => Command::Configure { patch: settings::patch(rng) },
            4 => Command::Interrupt,
            _ => Command::Close,
        }
    }

    /// A word that changes what an agent sees whose log has so many turns.
    pub(super) fn view(&mut self, turns: usize, rng: &mut Rng) -> Command {
        let steps = u32::try_from(rng.below(4)).unwrap_or(0);
        let at = u32::try_from(rng.index(turns + 2)).unwrap_or(0);
        match rng.weighted(&[10, 7, 4, 2, 3]) {
            0 => Command::Undo { steps },
            1 => Command::Redo { steps },
            2 => Command::Restore { at },
            3 => Command::Clear,
            _ => Command::Import { turns: self.elsewhere(rng) },
        }
    }

    /// Turns of another conversation, of which some cannot be taken over.
    fn elsewhere(&mut self, rng: &mut Rng) -> Vec<Turn> {
        self.imports += 1;
        let id = format!("imported_{}", self.imports);
        let call = ToolCall {
            id: id.clone(),
            name: settings::LOOKUP.into(),
            arguments: r#"{"key":"a"}"#.into(),
            detail: None,
        };
        let reply = |blocks| TurnKind::Assistant(Box::new(Reply { blocks, ..Reply::default() }));
        let parts = vec![Part::text("Said elsewhere.")];
        let result = ToolResult { call_id: id, parts: parts.clone(), is_error: rng.chance(30) };
        let mut kinds = vec![
            TurnKind::User(parts),
            reply(vec![Block::ToolCall(call)]),
            TurnKind::ToolResults(vec![result]),
            reply(vec![Block::Text("Done elsewhere.".into())]),
        ];
        kinds.truncate(1 + rng.index(4));
        if rng.chance(20) {
            kinds.remove(rng.index(kinds.len()));
        }
        kinds.into_iter().map(|kind| Turn { at: EPOCH, kind }).collect()
    }

    /// A command to an agent that may not exist.
    fn any_agent(&mut self, rng: &mut Rng) -> Input {
        let agent = AgentId(u32::try_from(rng.below(5)).unwrap_or(0));
        let command = match rng.below(7) {
            0 => Command::Close,
            1 => Command::Interrupt,
            2 => Command::Configure { patch: settings::patch(rng) },
            3 => Command::submit(self.said(rng)),
            4 => Command::follow_up(self.said(rng)),
            _ => Command::Steer { parts: self.said(rng) },
        };
        match (agent, command) {
            (AgentId::ROOT, Command::Close) => Input::command(Command::Interrupt),
            (agent, command) => Input::Command { agent, command },
        }
    }

    /// What no host should say.
    fn nonsense(&mut self, rng: &mut Rng) -> Input {
        let never = EffectId(self.newest + rng.between(1, 3));
        let some = EffectId(rng.between(1, self.newest.max(1)));
        match rng.below(9) {
            0 => Input::Lost { id: never },
            1 => Input::Tool { id: never, input: ToolInput::Done(people::outcome(rng)) },
            2 => Input::Http { id: EffectId(0), input: HttpInput::End },
            3 => {
                let (handle, outcome) = ("h".to_owned(), people::outcome(rng));
                Input::Tool { id: some, input: ToolInput::Parked { handle, outcome } }
            }
            4 => Input::command(Command::submit(vec![Part::text(" \n")])),
            5 => self.wrong_kind(rng),
            _ => match self.given.get(rng.index(self.given.len())) {
                Some(given) => given.clone(),
                None => Input::command(Command::Steer { parts: Vec::new() }),
            },
        }
    }

    /// An answer of another kind than the effect's.
    fn wrong_kind(&self, rng: &mut Rng) -> Input {
        let Some(pending) = self.pending.get(rng.index(self.pending.len())) else {
            return Input::Lost { id: EffectId(0) };
        };
        let id = pending.effect.id();
        match (&pending.effect, rng.below(3)) {
            (Effect::Http { .. }, 0) => Input::Tool { id, input: ToolInput::Delta("x".into()) },
            (Effect::Http { .. }, 1) => Input::Answer { id, answer: Answer::Allow },
            (Effect::Http { .. }, _) => Input::Hook { id, reply: HookReply::Allow },
            (Effect::Ask { .. }, 0) => Input::Hook { id, reply: HookReply::Allow },
            (Effect::RunHook { .. }, 0) => Input::Answer { id, answer: Answer::Allow },
            (_, 1) => Input::Http { id, input: HttpInput::Head(ResponseHead::default()) },
            _ => Input::Http { id, input: HttpInput::End },
        }
    }
}

/// The terminal answer to a cancelled effect.
fn ended(effect: &Effect) -> Input {
    let id = effect.id();
    match effect {
        Effect::Http { .. } => {
            let (kind, message) = (HttpFailureKind::Cancelled, "as asked".to_owned());
            Input::Http { id, input: HttpInput::Failed(HttpFailure { kind, message }) }
        }
        Effect::RunTool { .. } => {
            let outcome = innerloop_core::action::Outcome::text("in part");
            Input::Tool { id, input: ToolInput::Done(outcome) }
        }
        Effect::Ask { .. } => Input::Answer { id, answer: Answer::deny("") },
        Effect::RunHook { .. } => Input::Hook { id, reply: HookReply::Allow },
        Effect::Cancel { .. } => Input::Lost { id },
    }
}

//! What the model sees: a rewind leads to what was seen before. The steps are counted here by what
//! was seen at each, and not by their places in the log.

use super::{
    requests::check_body,
    seen::{Seen, require},
};
use crate::{
    simulator::subject::Subject,
    test_host::{EPOCH, text},
};
use innerloop_core::{
    Session,
    config::{SpendAmount, WireKind},
    digest::DigestBuilder,
    event::EventKind,
    id::{AgentId, SessionId},
    input::{Command, Input},
    json::to_string,
    message::TurnKind,
    output::{Effect, OutputBatch},
    time::UnixMillis,
};
use std::collections::BTreeMap;

/// Whether an input changes what is seen, and nothing else.
pub(super) const fn changes_view(input: &Input) -> bool {
    let Input::Command { command, .. } = input else { return false };
    matches!(
        command,
        Command::Undo { .. }
            | Command::Redo { .. }
            | Command::Restore { .. }
            | Command::Clear
            | Command::Import { .. }
    )
}

/// What an agent sees, as JSON.
pub(super) fn view(session: &Session, agent: AgentId) -> String {
    let history = session.history(agent);
    let seen: Vec<String> =
        history.into_iter().flat_map(|it| it.seen()).map(|said| to_string(&said)).collect();
    seen.join("\n")
}

/// What each agent has seen.
#[derive(Debug, Default)]
pub(super) struct Views(BTreeMap<AgentId, Book>);

/// A digest of what was seen, where that is known.
type Seeing = Option<u64>;

#[derive(Debug)]
struct Book {
    now: u64,
    turns: usize,
    /// What was seen when the log had so many turns.
    before: BTreeMap<usize, u64>,
    /// What was seen before each step that can be taken back.
    undo: Vec<Seeing>,
    /// What was seen after each step that can be put back.
    redo: Vec<Seeing>,
}

impl Views {
    pub(super) fn on_outputs(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let mut id = AgentId::ROOT;
        while seen.session().history(id).is_some() {
            self.on_agent(id, seen)?;
            id.0 += 1;
        }
        Ok(())
    }

    fn on_agent(&mut self, id: AgentId, seen: &Seen<'_>) -> Result<(), String> {
        let book = self.0.entry(id).or_insert_with(Book::new);
        let turns = seen.turns(id);
        if turns.len() == book.turns && !changes_view(seen.input) {
            return Ok(());
        }
        let now = DigestBuilder::of(view(seen.session(), id).as_bytes()).0;
        let told: Vec<(usize, usize)> = seen
            .outputs
            .events()
            .filter_map(|event| match event.kind {
                EventKind::Rewound { undo_left, redo_left, .. } if event.agent == id => {
                    Some((undo_left as usize, redo_left as usize))
                }
                _ => None,
            })
            .collect();
        let command = match seen.input {
            Input::Command { agent, command } if *agent == id => Some(command),
            _ => None,
        };
        let max = seen.config.undo.max_steps;
        match command.and_then(|command| book.rewound(command, max)) {
            Some(expected) => {
                let left = (book.undo_left(max), book.redo.len());
                require(told == [left], || format!("{id} tells {told:?} steps, and has {left:?}"))?;
                // Calls that nobody had answered are answered now.
                let is_same = turns.len() > book.turns + 1 || expected.is_none_or(|it| it == now);
                require(is_same, || format!("{id} sees what it never saw after {command:?}"))?;
            }
            None => {
                require(told.is_empty(), || format!("{id} is rewound, and nobody asked"))?;
                for (at, turn) in turns.iter().enumerate().skip(book.turns) {
                    if let TurnKind::User(_) = turn.kind {
                        book.undo.push((at == book.turns).then_some(book.now));
                        book.redo.clear();
                    }
                }
            }
        }
        (book.now, book.turns) = (now, turns.len());
        book.before.insert(book.turns, now);
        Ok(())
    }

    /// Whether there is nothing that a command could change.
    pub(super) fn has_nothing(&self, command: &Command, subject: &Subject) -> bool {
        let none = Book::new();
        let book = self.0.get(&AgentId::ROOT).unwrap_or(&none);
        match *command {
            Command::Undo { steps } => {
                steps == 0 || book.undo_left(subject.config().undo.max_steps) == 0
            }
            Command::Redo { steps } => steps == 0 || book.redo.is_empty(),
            Command::Restore { at } => at as usize >= book.turns,
            Command::Clear => view(subject.session(), AgentId::ROOT).is_empty(),
            _ => false,
        }
    }
}

impl Book {
    fn new() -> Self {
        let nothing = DigestBuilder::of(b"").0;
        let before = BTreeMap::from([(0, nothing)]);
        Self { now: nothing, turns: 0, before, undo: Vec::new(), redo: Vec::new() }
    }

    fn undo_left(&self, max: u32) -> usize {
        let most = if max == 0 { usize::MAX } else { max as usize };
        self.undo.len().min(most.saturating_sub(self.redo.len()))
    }

    /// What must be seen after a command, where it is known; nothing if that is no rewind.
    fn rewound(&mut self, command: &Command, max: u32) -> Option<Seeing> {
        let mut here = Some(self.now);
        match *command {
            Command::Undo { steps } => {
                for _ in 0..self.undo_left(max).min(steps as usize) {
                    self.redo.push(here);
                    here = self.undo.pop().flatten();
                }
            }
            Command::Redo { steps } => {
                for _ in 0..self.redo.len().min(steps as usize) {
                    self.undo.push(here);
                    here = self.redo.pop().flatten();
                }
            }
            Command::Restore { at } => {
                self.undo.push(here);
                self.redo.clear();
                here = self.before.get(&(at as usize)).copied();
            }
            Command::Clear => {
                self.undo.push(here);
                self.redo.clear();
                here = self.before.get(&0).copied();
            }
            _ => return None,
        }
        Some(here)
    }
}

/// Has copies of an idle session undo, undo and redo, and fork, and compares their next requests.
pub(super) fn check_undo(subject: &Subject, wire: WireKind) -> Result<(), String> {
    let now = subject.session().now();
    let copy = || {
        let wall = UnixMillis(EPOCH.0 + now.0);
        Session::restore(&subject.session().snapshot(), wall).map_err(|error| error.to_string())
    };
    let (mut undone, mut redone) = (copy()?, copy()?);
    let undo = || Input::command(Command::Undo { steps: 1 });
    let Ok(outputs) = undone.handle(undo(), now) else { return Ok(()) };
    let _ = redone.handle(undo(), now);
    let redo = Input::command(Command::Redo { steps: 1 });
    let _ = redone.handle(redo, now).map_err(|rejected| rejected.reason.to_string())?;
    let same = |what: &str, one: Option<String>, other: Option<String>| match one.zip(other) {
        // A limit or a hook may stand before it.
        None => Ok(()),
        Some((one, other)) => {
            check_body(wire, &one, false).map_err(|fault| format!("{fault}, in {one}"))?;
            require(one == other, || format!("{what}:\n{one}\n{other}"))
        }
    };
    // A rewind ends the subagents, and what their half replies cost may spend the session's budget.
    let is_spent = subject.config().limits.session != SpendAmount::default();
    let again = asked(&mut redone)?.filter(|_| !is_spent);
    same("undone and redone", again, asked(&mut copy()?)?)?;
    // A fork begins with the session's own model, and knows of none that has failed.
    let state = crate::snapshot::state(&subject.snapshot());
    if !state["model"].is_null() || !state["off_until"].is_null() {
        return Ok(());
    }
    let is_told = outputs.events().find_map(|event| match event.kind {
        EventKind::Rewound { to, .. } => usize::try_from(to).ok(),
        _ => None,
    });
    let to = is_told.ok_or("an undo is not told")?;
    let id = SessionId("fork".into());
    let fork = subject.session().fork(id, to, EPOCH).map_err(|error| error.to_string())?;
    // A fork does not hear what waits to be said, its limits are further away, and it tries anew
    // the folds that have failed.
    let agent = &crate::snapshot::state(&undone.snapshot())["agents"][0];
    let differs = agent["steering"].is_array() || agent["folding"].is_object();
    let limits = subject.config().limits;
    let is_limited = limits.max_turns > 0 || limits.session != SpendAmount::default();
    let forked = asked(&mut { fork.0 })?.filter(|_| !differs && !is_limited);
    let own = format!("\"{}\"", subject.session().id().0);
    same("undone and forked", asked(&mut undone)?, forked.map(|it| it.replace("\"fork\"", &own)))
}

/// The request that follows when the user goes on.
fn asked(session: &mut Session) -> Result<Option<String>, String> {
    let submit = Input::command(Command::submit(text("go on")));
    let outputs: OutputBatch =
        session.handle(submit, session.now()).map_err(|rejected| rejected.reason.to_string())?;
    let body = outputs.effects().find_map(|effect| match effect {
        Effect::Http { request, .. } => Some(String::from_utf8_lossy(&request.body).into_owned()),
        _ => None,
    });
    Ok(body)
}

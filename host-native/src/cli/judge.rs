//! Who says whether a call may run: of a command line that only reads the program says so itself;
//! all else is asked of the person at the terminal, if there is one.

use super::approval::Person;
use crate::{host::Commands, sandbox::Executor};
use innerloop_core::{
    Profile,
    action::Action,
    config::{AskAbout, Facts, SessionConfig},
    id::{AgentId, EffectId},
    input::Answer,
    output::Ask,
};
use innerloop_driver::NOBODY_APPROVES;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Answers questions, or passes them on.
#[derive(Clone)]
pub(super) struct Judge {
    profile: Profile,
    facts: Arc<Facts>,
    asks_about: AskAbout,
    /// Where the command lines are carried out that can be judged, if any can.
    sandbox: Option<Executor>,
    commands: Commands,
    person: Option<Person>,
    /// The questions that are looked at.
    open: Arc<Mutex<BTreeSet<EffectId>>>,
}

/// A command line that may be judged.
struct Line {
    /// The id of its call.
    call: String,
    command: String,
    /// The folder of its agent.
    folder: String,
}

impl Judge {
    /// For the calls of a session with that configuration.
    pub(super) fn new(
        config: &SessionConfig,
        sandbox: Option<Executor>,
        commands: Commands,
        person: Option<Person>,
    ) -> Self {
        let (profile, asks_about) = (Profile::of(&config.model), config.approval.ask);
        let (facts, open) = (Arc::new(config.facts.clone()), Arc::default());
        Self { profile, facts, asks_about, sandbox, commands, person, open }
    }

    /// Whether it can say anything without a person.
    pub(super) fn decides(config: &SessionConfig) -> bool {
        let shell = |name: &str| config.facts.programs.iter().any(|program| program.name == name);
        config.approval.ask != AskAbout::Everything && shell("bash")
    }

    /// An agent's call waits for a word, or the model for an answer.
    pub(super) fn asked(&self, id: EffectId, agent: AgentId, ask: &Ask) {
        let (Some(line), Some(sandbox)) = (self.line(ask), &self.sandbox) else {
            return self.pass_on(id, ask);
        };
        let Line { call, command, folder } = line;
        self.open().insert(id);
        let (judge, ask) = (self.clone(), ask.clone());
        let sandbox = sandbox.of_agent(agent).of_call(&call).within(&folder);
        tokio::spawn(async move {
            let reads_only = sandbox.reads_only(&command).await;
            match (judge.open().remove(&id), reads_only) {
                // It is no longer asked.
                (false, _) => {}
                (true, true) => judge.commands.answer(id, Answer::Allow),
                (true, false) => judge.pass_on(id, &ask),
            }
        });
    }

    /// The question needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        if !self.open().remove(&id) {
            self.person.iter().for_each(|person| person.withdraw(id));
        }
    }

    /// The command line that the question is about, if it is about one that may be judged.
    fn line(&self, ask: &Ask) -> Option<Line> {
        let Ask::Approval { call_id, name, arguments, folder } = ask else { return None };
        if self.asks_about == AskAbout::Everything {
            return None;
        }
        match self.profile.translate(&self.facts, name, arguments.text()).ok()?.action {
            Action::Shell { command, .. } => {
                Some(Line { call: call_id.clone(), command, folder: folder.clone() })
            }
            _ => None,
        }
    }

    fn pass_on(&self, id: EffectId, ask: &Ask) {
        match &self.person {
            Some(person) => person.ask(id, ask),
            None => {
                self.commands.answer(id, Answer::Deny { reason: NOBODY_APPROVES.to_owned() });
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeSet<EffectId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Who says whether a call may run: where a rule names it, or where a command line only reads, the
//! program says so itself; all else is asked of the person at the terminal, if there is one.

use super::{
    allow::{Conditions, Rules, Verdict},
    approval::Person,
    words::Words,
};
use crate::{
    host::Commands,
    sandbox::{Executor, Workspace},
    web::Domains,
};
use innerloop_core::{
    action::Action,
    config::{AskAbout, ProfileKind, SessionConfig},
    id::{AgentId, EffectId},
    input::Answer,
    json::to_string,
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
    words: Arc<Words>,
    family: ProfileKind,
    rules: Rules,
    workspace: Workspace,
    /// Whose pages are asked for when they are read.
    domains: Domains,
    asks_about: AskAbout,
    /// Where the command lines are carried out that can be judged, if any can.
    sandbox: Option<Executor>,
    commands: Commands,
    person: Option<Person>,
    /// The questions that are looked at.
    open: Arc<Mutex<BTreeSet<EffectId>>>,
}

/// What says of itself that a call may run.
enum Reason {
    /// Its command line only reads.
    Reads(String),
    /// A rule allows its command line, if that holds.
    Named(Conditions),
}

impl Judge {
    /// For the calls of a session with that configuration.
    pub(super) fn new(
        config: &SessionConfig,
        (rules, workspace, domains): (Rules, Workspace, Domains),
        sandbox: Option<Executor>,
        commands: Commands,
        person: Option<Person>,
    ) -> Self {
        let (words, family) = (Arc::new(Words::new(config)), config.model.profile);
        let (asks_about, open) = (config.approval.ask, Arc::default());
        Self {
            words,
            family,
            rules,
            workspace,
            domains,
            asks_about,
            sandbox,
            commands,
            person,
            open,
        }
    }

    /// The session goes on with a model of that family. What one of another family calls, a person
    /// has to judge.
    pub(super) fn goes_on_with(&self, family: &str) {
        let other = to_string(&self.family);
        self.rules.suspend(other.trim_matches('"') != family);
    }

    /// Whether it can say anything without a person.
    pub(super) fn decides(config: &SessionConfig) -> bool {
        let shell = |name: &str| config.facts.programs.iter().any(|program| program.name == name);
        config.approval.ask != AskAbout::Everything && shell("bash")
    }

    /// An agent's call waits for a word, or the model for an answer.
    pub(super) fn asked(&self, id: EffectId, agent: AgentId, ask: &Ask) {
        let Ask::Approval { call_id, name, arguments, folder } = ask else {
            return self.pass_on(id, ask);
        };
        let is_understood = !self.rules.are_suspended();
        let action = self.words.action(name, arguments.text()).filter(|_| is_understood);
        if let Some(Action::Fetch { urls, .. }) = &action
            && self.domains.asks_for_all(urls)
        {
            // One question is enough.
            return self.commands.answer(id, Answer::Allow);
        }
        let place = (folder.as_str(), &self.workspace);
        let reason = match self.rules.verdict(name, action.as_ref(), place) {
            Verdict::Allowed => return self.commands.answer(id, Answer::Allow),
            Verdict::AllowedIf(conditions) => Some(Reason::Named(conditions)),
            Verdict::Open => self.reads(action),
        };
        let Some(reason) = reason else { return self.pass_on(id, ask) };
        let Some(sandbox) = &self.sandbox else {
            // What a command of the machine reads or writes is not known from its name.
            let is_named = matches!(&reason, Reason::Named(named) if named.readers.is_empty());
            return match is_named {
                true => self.commands.answer(id, Answer::Allow),
                false => self.pass_on(id, ask),
            };
        };
        self.open().insert(id);
        let (judge, ask) = (self.clone(), ask.clone());
        let sandbox = sandbox.of_agent(agent).of_call(call_id).within(folder);
        tokio::spawn(async move {
            let may_run = judge.holds(&reason, &sandbox).await;
            match (judge.open().remove(&id), may_run) {
                // It is no longer asked.
                (false, _) => {}
                (true, true) => judge.commands.answer(id, Answer::Allow),
                (true, false) => judge.pass_on(id, &ask),
            }
        });
    }

    /// Whether that is so where the call is carried out.
    async fn holds(&self, reason: &Reason, sandbox: &Executor) -> bool {
        match reason {
            Reason::Reads(command) => sandbox.reads_only(command).await,
            // What only reads is asked about, too.
            Reason::Named(Conditions { readers, .. })
                if self.asks_about == AskAbout::Everything && !readers.is_empty() =>
            {
                false
            }
            Reason::Named(Conditions { programs, readers }) => {
                sandbox.runs_as_named(programs, readers).await
            }
        }
    }

    /// The question needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        if !self.open().remove(&id) {
            self.person.iter().for_each(|person| person.withdraw(id));
        }
    }

    /// The command line, if it may run where it only reads.
    fn reads(&self, action: Option<Action>) -> Option<Reason> {
        match action? {
            Action::Shell { command, .. } if self.asks_about != AskAbout::Everything => {
                Some(Reason::Reads(command))
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

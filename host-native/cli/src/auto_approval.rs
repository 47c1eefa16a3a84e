//! The judge of calls that need approval: allows those that a rule names and command lines that
//! only read, and passes all others on to the person at the terminal, if there is one. It never
//! denies a call that a person could be asked about. Questions reach the person in the order of
//! the calls, although each may take a different time to judge.

use super::{
    allow::{CallRules, CommandConditions, RuleVerdict},
    approval::PersonHandle,
    call_summary::CallDescriber,
};
use innerloop_core::{
    action::Action,
    config::{AskAbout, ProfileKind, SessionConfig},
    event::{Event, EventKind},
    id::{AgentId, EffectId},
    input::Answer,
    json::to_string,
    output::Ask,
};
use innerloop_driver::NOBODY_APPROVES;
use innerloop_host::{host::CommandSender, web::SessionDomains};
use innerloop_sandbox::{CallContext, Executor};
use innerloop_workspace::Workspace;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The judge, which answers questions or passes them on.
#[derive(Clone)]
pub(super) struct ApprovalJudge {
    words: Arc<CallDescriber>,
    family: ProfileKind,
    rules: CallRules,
    workspace: Workspace,
    /// The domains that are allowed, or asked about when a page of them is read.
    domains: SessionDomains,
    asks_about: AskAbout,
    /// The sandbox that runs command lines; `None` if they run where they can't be judged.
    sandbox: Option<Arc<Executor>>,
    commands: CommandSender,
    person: Option<PersonHandle>,
    /// The questions that the person has not been asked yet.
    open: Arc<Mutex<BTreeMap<EffectId, UndecidedCall>>>,
}

/// A question about a call that the person has not been asked yet.
struct UndecidedCall {
    agent: AgentId,
    /// The question; `None` while the call is being checked.
    ask: Option<Ask>,
    /// The earlier calls that have not ended.
    after: Vec<String>,
}

/// The reason why a call may run without a question.
enum AllowReason {
    /// Its command line only reads, if the sandbox agrees.
    Reads(String),
    /// A rule allows its command line, if these conditions hold.
    Named(CommandConditions),
}

impl ApprovalJudge {
    /// Judges the calls of a session with that configuration, in those words.
    pub(super) fn new(
        (config, words): (&SessionConfig, &CallDescriber),
        (rules, workspace, domains): (CallRules, Workspace, SessionDomains),
        sandbox: Option<Executor>,
        commands: CommandSender,
        person: Option<PersonHandle>,
    ) -> Self {
        let (words, family) = (Arc::new(words.clone()), config.model.profile);
        let (asks_about, open) = (config.approval.ask, Arc::default());
        Self {
            words,
            family,
            rules,
            workspace,
            domains,
            asks_about,
            sandbox: sandbox.map(Arc::new),
            commands,
            person,
            open,
        }
    }

    /// Notes that the session goes on with a model of that family. Tools of another family may have
    /// the same names with another meaning, so that a person has to judge its calls.
    pub(super) fn goes_on_with(&self, family: &str) {
        let other = to_string(&self.family);
        self.rules.suspend(other.trim_matches('"') != family);
    }

    /// Forgets what a person has allowed for the rest of the session.
    pub(super) fn forget(&self) {
        self.rules.forget();
        self.domains.forget();
    }

    /// Returns whether it can decide anything without a person or rules.
    pub(super) fn decides(config: &SessionConfig) -> bool {
        let shell = |name: &str| config.facts.programs.iter().any(|program| program.name == name);
        config.approval.ask != AskAbout::Everything && shell("bash")
    }

    /// Takes a question: a call that needs approval, or a question of the model.
    pub(super) fn asked(&self, id: EffectId, agent: AgentId, ask: &Ask) {
        let Ask::Approval { call_id, name, arguments, folder, after } = ask else {
            return self.pass_on(id, ask);
        };
        let waits = |ask: Option<Ask>| {
            self.open().insert(id, UndecidedCall { agent, ask, after: after.clone() });
            self.pass_on_due();
        };
        let is_understood = !self.rules.are_suspended();
        let action = self.words.action(name, arguments.text()).filter(|_| is_understood);
        if let Some(Action::Fetch { urls, .. }) = &action
            && self.domains.asks_for_all(urls)
        {
            // The domains are asked about while the pages are read: asking twice is no safer.
            return self.commands.answer(id, Answer::Allow);
        }
        let place = (folder.as_str(), &self.workspace);
        let reason = match self.rules.verdict(name, action.as_ref(), self.words.patches(), place) {
            RuleVerdict::Allowed => return self.commands.answer(id, Answer::Allow),
            RuleVerdict::AllowedIf(conditions) => Some(AllowReason::Named(conditions)),
            RuleVerdict::Open => self.reads(action),
        };
        let Some(reason) = reason else { return waits(Some(ask.clone())) };
        let Some(sandbox) = &self.sandbox else {
            // On this machine a program's name tells nothing about what it reads or writes: only
            // what a rule names may run.
            let is_named = matches!(&reason, AllowReason::Named(named) if named.readers.is_empty());
            return match is_named {
                true => self.commands.answer(id, Answer::Allow),
                false => waits(Some(ask.clone())),
            };
        };
        waits(None);
        let (judge, ask) = (self.clone(), ask.clone());
        let (id_of_call, folder) = (call_id.clone(), folder.clone());
        let call = CallContext { agent, id: id_of_call, folder, known: None };
        let sandbox = Arc::clone(sandbox);
        // The check runs in the sandbox and takes time: other questions must not wait for it.
        tokio::spawn(async move {
            let may_run = judge.holds(&reason, &sandbox, &call).await;
            if !may_run {
                judge.open().entry(id).and_modify(|open| open.ask = Some(ask));
                judge.pass_on_due();
            } else if judge.open().remove(&id).is_some() {
                judge.commands.answer(id, Answer::Allow);
            }
        });
    }

    /// Follows an event. A call is asked about once the calls before it have ended: so questions
    /// come in the order of the calls, and the preview of a call shows what it will really do.
    pub(super) fn heard(&self, event: &Event) {
        let EventKind::ToolCallEnd { call_id, .. } = &event.kind else { return };
        let mut open = self.open();
        for open in open.values_mut().filter(|open| open.agent == event.agent) {
            open.after.retain(|before| before != call_id);
        }
        drop(open);
        self.pass_on_due();
    }

    /// Passes on the questions whose calls were checked and wait for no other call.
    fn pass_on_due(&self) {
        let mut open = self.open();
        let is_due = |open: &UndecidedCall| open.ask.is_some() && open.after.is_empty();
        for (id, due) in open.extract_if(.., |_, open| is_due(open)) {
            due.ask.iter().for_each(|ask| self.pass_on(id, ask));
        }
    }

    /// Returns whether the reason holds in the sandbox.
    async fn holds(&self, reason: &AllowReason, sandbox: &Executor, call: &CallContext) -> bool {
        match reason {
            AllowReason::Reads(command) => sandbox.reads_only(call, command).await,
            // At this level commands that only read need a yes, too.
            AllowReason::Named(CommandConditions { readers, .. })
                if self.asks_about == AskAbout::Everything && !readers.is_empty() =>
            {
                false
            }
            AllowReason::Named(CommandConditions { programs, readers }) => {
                sandbox.runs_as_named(call, programs, readers).await
            }
        }
    }

    /// Withdraws a question that needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        if self.open().remove(&id).is_none() {
            self.person.iter().for_each(|person| person.withdraw(id));
        }
    }

    /// Returns the reason to allow a command line that only reads, if that is enough.
    fn reads(&self, action: Option<Action>) -> Option<AllowReason> {
        match action? {
            Action::Shell { command, .. } if self.asks_about != AskAbout::Everything => {
                Some(AllowReason::Reads(command))
            }
            _ => None,
        }
    }

    fn pass_on(&self, id: EffectId, ask: &Ask) {
        match &self.person {
            Some(person) => person.ask(id, ask),
            None => {
                self.commands.answer(id, Answer::nobody(NOBODY_APPROVES));
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<EffectId, UndecidedCall>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Who says whether a call may run: where a rule names it, or where a command line only reads, the
//! program says so itself; all else is asked of the person at the terminal, if there is one.

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

/// Answers questions, or passes them on.
#[derive(Clone)]
pub(super) struct ApprovalJudge {
    words: Arc<CallDescriber>,
    family: ProfileKind,
    rules: CallRules,
    workspace: Workspace,
    /// The domains whose pages are asked for when they are read.
    domains: SessionDomains,
    asks_about: AskAbout,
    /// The sandbox that carries out the command lines that can be judged; `None` if none can.
    sandbox: Option<Arc<Executor>>,
    commands: CommandSender,
    person: Option<PersonHandle>,
    /// The questions that nobody has been asked yet.
    open: Arc<Mutex<BTreeMap<EffectId, UndecidedCall>>>,
}

/// A question about a call that nobody has been asked yet.
struct UndecidedCall {
    agent: AgentId,
    /// The question, once the call was checked.
    ask: Option<Ask>,
    /// The calls before it that are not over.
    after: Vec<String>,
}

/// The reason why a call may run without a question.
enum AllowReason {
    /// Its command line only reads.
    Reads(String),
    /// A rule allows its command line, if that holds.
    Named(CommandConditions),
}

impl ApprovalJudge {
    /// For the calls of a session with that configuration, in those words.
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

    /// The session goes on with a model of that family. What one of another family calls, a person
    /// has to judge.
    pub(super) fn goes_on_with(&self, family: &str) {
        let other = to_string(&self.family);
        self.rules.suspend(other.trim_matches('"') != family);
    }

    /// Takes back what a person has allowed for the rest of the session.
    pub(super) fn forget(&self) {
        self.rules.forget();
        self.domains.forget();
    }

    /// Returns whether it can say anything without a person.
    pub(super) fn decides(config: &SessionConfig) -> bool {
        let shell = |name: &str| config.facts.programs.iter().any(|program| program.name == name);
        config.approval.ask != AskAbout::Everything && shell("bash")
    }

    /// An agent's call waits for a word, or the model for an answer.
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
            // One question is enough.
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
            // What a command of the machine reads or writes is not known from its name.
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

    /// A question about a call is put once the calls before it are over: so they come in the order
    /// of the calls, and what is shown of the call is what it does.
    pub(super) fn heard(&self, event: &Event) {
        let EventKind::ToolCallEnd { call_id, .. } = &event.kind else { return };
        let mut open = self.open();
        for open in open.values_mut().filter(|open| open.agent == event.agent) {
            open.after.retain(|before| before != call_id);
        }
        drop(open);
        self.pass_on_due();
    }

    /// Passes on what was looked at and waits for no other call.
    fn pass_on_due(&self) {
        let mut open = self.open();
        let is_due = |open: &UndecidedCall| open.ask.is_some() && open.after.is_empty();
        for (id, due) in open.extract_if(.., |_, open| is_due(open)) {
            due.ask.iter().for_each(|ask| self.pass_on(id, ask));
        }
    }

    /// Returns whether that is so where the call is carried out.
    async fn holds(&self, reason: &AllowReason, sandbox: &Executor, call: &CallContext) -> bool {
        match reason {
            AllowReason::Reads(command) => sandbox.reads_only(call, command).await,
            // What only reads is asked about, too.
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

    /// The question needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        if self.open().remove(&id).is_none() {
            self.person.iter().for_each(|person| person.withdraw(id));
        }
    }

    /// The command line, if it may run where it only reads.
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

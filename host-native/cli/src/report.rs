//! The report of a run: gathered from its events, and shown at the end as the final message, the
//! diff and the counts, or as the last line of `--json`. It also decides the exit code: each way
//! in which a run can end has its error here, with advice.

use super::{
    call_summary::CallDescriber,
    exit::{CliError, ExitReason},
    interrupts::ShutdownHandle,
    key_in_use::KeyInUse,
    keys, limits, notices,
    number_format::{counted, dollars, grouped},
    review::{ChangeDisposition, ChangeMode},
    run_record::{DeniedCall, FileRecord, RunRecord},
    style::{OutputStyle, TextColour, brief},
};
use innerloop_core::{
    action::{DeniedBy, Outcome},
    config::LimitAction,
    cost,
    event::{ErrorKind, Event, EventKind},
    id::AgentId,
    message::Usage,
    status::RunEnd,
};
use innerloop_driver::SessionFirewall;
use innerloop_json::{Json, to_string};
use innerloop_workspace::{
    FileChange, Workspace,
    diff::{RunChanges, UnifiedDiff},
};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::spawn_blocking;

/// The most characters of an endpoint's message.
const MESSAGE_CHARS: usize = 500;

/// The most characters of a call's name, and of its arguments.
const ARGUMENT_CHARS: usize = 80;

/// The most calls that are named because nobody could allow them.
const DENIED: usize = 3;

/// The facts that are known of the run so far.
#[derive(Clone, Debug)]
pub(super) struct RunReport {
    begun: Instant,
    text: String,
    turns: u32,
    has_replies: bool,
    tool_calls: u32,
    usage: Usage,
    /// In nano-dollars, as far as the model's price is known.
    cost: Option<u64>,
    /// The destination of changes.
    mode: ChangeMode,
    /// The files that were changed, or opened for that.
    files: Vec<FileChange>,
    /// True if these are all of them.
    is_all: bool,
    /// The differences at the end, as text.
    diff: UnifiedDiff,
    /// True if the changes are in the folder.
    is_applied: bool,
    /// True if the changes stay with the session.
    is_kept: bool,
    end: Option<RunEnd>,
    limit: Option<String>,
    /// The limit of the host's own that was hit.
    stopped: Option<String>,
    /// True if a run that hits a limit ends with a summary.
    sums_up: bool,
    /// True if the model has replied since its calls were last found to repeat themselves.
    replied_to_loop: bool,
    /// The answer by the schema that was asked for.
    answer: Option<Json>,
    /// The running calls: the beginnings of their arguments, and the calls in words.
    calls: BTreeMap<(AgentId, String), (String, String)>,
    /// The calls that nobody was there to allow.
    denied: Vec<DeniedCall>,
    error: Option<(ErrorKind, String)>,
    failure: Option<CliError>,
    /// The reason why the changes are not where they belong.
    unsettled: Option<CliError>,
    /// The describer of calls; `None` if calls are not described.
    words: Option<CallDescriber>,
    /// The provider's key.
    key: KeyInUse,
    /// The masks of the session, which the last line of `--json` has, too.
    firewall: SessionFirewall,
    /// The reason with which an interrupted run ends the program.
    signal: ExitReason,
}

impl RunReport {
    /// Begins the report of a run whose requests are sent with that key.
    pub(super) fn new(key: &KeyInUse, mode: ChangeMode) -> Self {
        Self {
            begun: Instant::now(),
            text: String::new(),
            turns: 0,
            has_replies: false,
            tool_calls: 0,
            usage: Usage::default(),
            cost: None,
            mode,
            files: Vec::new(),
            is_all: true,
            diff: UnifiedDiff::default(),
            is_applied: mode == ChangeMode::InPlace,
            is_kept: false,
            end: None,
            limit: None,
            stopped: None,
            sums_up: false,
            replied_to_loop: false,
            answer: None,
            calls: BTreeMap::new(),
            denied: Vec::new(),
            error: None,
            failure: None,
            unsettled: None,
            words: None,
            key: key.clone(),
            firewall: SessionFirewall::default(),
            signal: ExitReason::Interrupted,
        }
    }

    /// Masks what the session masks.
    pub(super) fn with_firewall(self, firewall: &SessionFirewall) -> Self {
        Self { firewall: firewall.clone(), ..self }
    }

    /// Describes calls in those words.
    pub(super) fn with_words(self, words: &CallDescriber) -> Self {
        Self { words: Some(words.clone()), ..self }
    }

    /// Returns the report of a run that failed before it began.
    pub(super) fn failed(failure: CliError) -> Self {
        Self { failure: Some(failure), ..Self::new(&KeyInUse::default(), ChangeMode::Show) }
    }

    /// Notes that the run failed for a reason of the host's own. The first reason counts.
    pub(super) fn fail(&mut self, failure: CliError) {
        self.failure.get_or_insert(failure);
    }

    /// Notes why the changes could not be applied or kept. The error ends with it.
    pub(super) fn unsettled(&mut self, failure: CliError) {
        self.unsettled = Some(failure);
    }

    /// Returns whether the changes could not be applied or kept.
    pub(super) const fn is_unsettled(&self) -> bool {
        self.unsettled.is_some()
    }

    /// Notes the signal that has interrupted the run.
    pub(super) const fn interrupted_by(&mut self, signal: ExitReason) {
        self.signal = signal;
    }

    /// Notes the limit of the host's own that has ended the run.
    pub(super) fn stopped_by(&mut self, limit: Option<&str>) {
        self.stopped = limit.map(str::to_owned);
    }

    pub(super) fn add(&mut self, event: &Event) {
        // Subagents count towards the cost and the calls of a run, not towards how it ends.
        let is_own = event.agent == AgentId::ROOT;
        match &event.kind {
            EventKind::UserInput { .. } => self.turns += 1,
            EventKind::AssistantTextEnd { text, usage, cost_nano_usd, .. } => {
                self.turns += 1;
                self.has_replies = true;
                if is_own {
                    self.text.clone_from(text);
                    self.replied_to_loop = true;
                }
                self.usage.add(&usage.unwrap_or_default());
                self.cost = cost::sum(self.cost, *cost_nano_usd);
            }
            EventKind::Compacted { usage, cost_nano_usd, .. }
            | EventKind::CompactionFailed { usage, cost_nano_usd, .. } => {
                self.usage.add(&usage.unwrap_or_default());
                self.cost = cost::sum(self.cost, *cost_nano_usd);
            }
            EventKind::ToolCallStart { call_id, name, arguments } => {
                let told = self.told_call(name, arguments);
                let arguments = brief(arguments, ARGUMENT_CHARS);
                self.calls.insert((event.agent, call_id.clone()), (arguments, told));
            }
            EventKind::ToolCallEnd { call_id, name, outcome } => {
                self.tool_calls += 1;
                let call = self.calls.remove(&(event.agent, call_id.clone()));
                if nobody_allowed(outcome) {
                    let (arguments, told) = call.unwrap_or_default();
                    self.denied.push(DeniedCall {
                        name: brief(name, ARGUMENT_CHARS),
                        arguments,
                        told,
                    });
                }
            }
            EventKind::LoopDetection { .. } if is_own => self.replied_to_loop = false,
            EventKind::SessionStart { limits, .. } => {
                let action = limits.action;
                self.sums_up = matches!(action, LimitAction::Summarize | LimitAction::Partial);
            }
            EventKind::FinalAnswer { value } if is_own => {
                self.text = value.text().to_owned();
                self.answer = Some(value.clone());
            }
            EventKind::TurnLimit { limit, value } if is_own => {
                self.limit = Some(limit_text(limit, *value));
            }
            EventKind::BudgetLimit { which, used, limit } if is_own => {
                self.limit = Some(limits::text(which, *used, *limit));
            }
            EventKind::Error { kind, message } if is_own => {
                if *kind == ErrorKind::Authentication {
                    self.key.refuse();
                }
                self.error = Some((*kind, message.clone()));
            }
            EventKind::ProcessingEnd { end, text, .. } if is_own => {
                self.end = Some(*end);
                // A text that was cut has continued in further replies: this one is complete.
                let is_limit = matches!(end, RunEnd::Limit | RunEnd::Budget);
                if self.answer.is_none() && (!is_limit || self.sums_up) {
                    self.text.clone_from(text);
                }
            }
            _ => {}
        }
    }

    /// Returns a call in words.
    fn told_call(&self, name: &str, arguments: &str) -> String {
        match &self.words {
            Some(words) => words.phrase(name, arguments).label(ARGUMENT_CHARS),
            None => brief(name, ARGUMENT_CHARS),
        }
    }

    /// Returns the result of the program: an error for the user if the run or its changes failed.
    pub(super) fn result(&self) -> Result<(), CliError> {
        match (self.run_result(), &self.unsettled) {
            (result, None) => result,
            (Ok(()), Some(unsettled)) => Err(unsettled.clone()),
            (Err(CliError { exit, message }), Some(unsettled)) => {
                Err(CliError::new(exit, format!("{message}; {}", unsettled.message)))
            }
        }
    }

    fn limited(&self, limit: &str) -> CliError {
        let told = format!("{limit}; raise it to let the agent go on{}", self.stays());
        CliError::new(ExitReason::Limit, told)
    }

    /// Returns what has become of the changes of a run that was stopped.
    fn stays(&self) -> &'static str {
        match self.mode {
            ChangeMode::InPlace => "; what was done so far stays",
            _ if self.is_applied && self.has_changes() => "; what was done so far is applied",
            ChangeMode::Apply | ChangeMode::Ask | ChangeMode::Show => "",
        }
    }

    /// Returns the result of the run, whatever has become of its changes.
    pub(super) fn run_result(&self) -> Result<(), CliError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        match (self.end, &self.error, &self.limit) {
            (Some(RunEnd::Completed), _, _) => match self.denied.as_slice() {
                [] => Ok(()),
                denied => Err(CliError::new(ExitReason::Denied, denied_text(denied))),
            },
            (Some(RunEnd::Interrupted), _, _) => Err(match &self.stopped {
                Some(limit) => self.limited(limit),
                None => CliError::new(self.signal, format!("interrupted{}", self.stays())),
            }),
            (Some(RunEnd::Limit | RunEnd::Budget), _, Some(limit)) => Err(self.limited(limit)),
            (Some(RunEnd::Denied), ..) => {
                Err(CliError::new(ExitReason::Denied, "a hook has ended the run"))
            }
            (Some(RunEnd::Unverified), ..) => Err(CliError::new(
                ExitReason::Failed,
                "a hook has not agreed that the task is done",
            )),
            (Some(RunEnd::Limit | RunEnd::Budget), _, None) => Err(self.limited("a limit was hit")),
            (end, Some((kind, message)), _) => {
                // The host's own messages have lines that matter; an endpoint's may be anything.
                let said = match kind {
                    ErrorKind::Host => message.clone(),
                    _ => brief(message, MESSAGE_CHARS),
                };
                let exit = exit_of(end, *kind);
                Err(CliError::new(exit, format!("{said}{}", advice(*kind, &self.key))))
            }
            (Some(RunEnd::Loop), ..) => Err(CliError::new(
                ExitReason::Failed,
                "the run was stopped: its calls repeat themselves",
            )),
            _ => {
                Err(CliError::new(ExitReason::Failed, "the session ended before the run was over"))
            }
        }
    }

    /// Returns the final message of a run that has one: the model's last text, which may be cut, or
    /// its answer by the schema.
    pub(super) fn message(&self) -> Option<&str> {
        let is_final = match self.end {
            Some(RunEnd::Completed | RunEnd::Incomplete | RunEnd::Refused) => true,
            Some(RunEnd::Limit | RunEnd::Budget) => self.sums_up,
            // A loop ends a run at once, or after a reply that sums it up; only that is a message.
            Some(RunEnd::Loop) => self.replied_to_loop,
            _ => false,
        };
        let text = self.text.trim_end();
        (is_final && !text.is_empty()).then_some(text)
    }

    /// Returns whether the final message is an answer by the schema, which was not shown as text.
    pub(super) const fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Compares the files with what they were before, which may take a while. If the program should
    /// end at once, files that were not compared get a line each instead of a diff.
    pub(super) async fn compare(&mut self, workspace: &Workspace, ending: &ShutdownHandle) {
        let (workspace, stop) = (workspace.clone(), ending.clone());
        let compared = spawn_blocking(move || {
            // From here on nothing changes any more, so that what is shown is what is applied.
            workspace.freeze();
            let (files, is_all) = workspace.changes_until(&|| stop.is_hurried());
            let mut changes = RunChanges::default();
            files.iter().for_each(|file| changes.add_file(file));
            (files, is_all, Arc::new(changes))
        });
        let (files, is_all, changes) = match compared.await {
            Ok(compared) => compared,
            Err(error) => {
                self.is_all = false;
                return self.fail(CliError::new(ExitReason::Failed, error));
            }
        };
        (self.files, self.is_all) = (files, is_all);
        let (all, stop) = (Arc::clone(&changes), ending.clone());
        let diff = spawn_blocking(move || all.unified_until(|| stop.is_hurried()));
        self.diff = tokio::select! {
            biased;
            // The comparison of one file can't be interrupted: it is not waited for.
            () = ending.hurry() => changes.unified_until(|| true),
            diff = diff => diff.unwrap_or_default(),
        };
    }

    /// Notes the disposition of the changes.
    pub(super) fn settled(&mut self, settled: ChangeDisposition) {
        self.is_applied = settled == ChangeDisposition::Applied;
        self.is_kept = settled == ChangeDisposition::Kept;
    }

    /// Returns whether there are changes that stay with the session.
    pub(super) fn has_kept(&self) -> bool {
        self.has_changes() && self.is_kept
    }

    /// Notes that there was no run, only changes of an earlier one.
    pub(super) const fn without_run(&mut self) {
        self.end = Some(RunEnd::Completed);
    }

    /// Notes a signal that came after everything was done.
    pub(super) fn ended_by(&mut self, signal: Option<ExitReason>) {
        if let Some(signal) = signal.filter(|_| self.result().is_ok()) {
            let is_applied = self.is_applied && self.has_changes();
            let told =
                if is_applied { "interrupted; all changes are applied" } else { "interrupted" };
            self.fail(CliError::new(signal, told));
        }
    }

    /// Returns whether anything was changed, as far as that is known.
    pub(super) fn has_changes(&self) -> bool {
        self.changed() > 0 || !self.is_all
    }

    fn changed(&self) -> u64 {
        self.files.iter().filter(|file| !file.is_same()).count() as u64
    }

    /// Returns the notices about changes that deserve a close look.
    pub(super) fn notices(&self, style: OutputStyle) -> String {
        notices::of(&self.files, self.is_all, self.diff.hidden, style)
    }

    /// Returns a line about what has become of the changes; none if there is nothing to tell.
    pub(super) fn fate(&self) -> Option<String> {
        let files = counted(self.changed(), "file");
        match (self.mode, self.is_applied) {
            _ if !self.has_changes() || self.unsettled.is_some() => None,
            (ChangeMode::InPlace, _) => None,
            (_, true) => Some(format!("applied: {files}")),
            (ChangeMode::Ask, false) if self.is_kept => {
                Some("not applied yet: the session keeps the changes".to_owned())
            }
            (ChangeMode::Show, false) if self.is_kept => {
                Some("not applied: --diff only shows, and the session keeps the changes".to_owned())
            }
            (ChangeMode::Show, false) => Some("not applied: --diff only shows".to_owned()),
            (_, false) => Some("not applied: the folder is as it was".to_owned()),
        }
    }

    /// Returns the diff that [`RunReport::compare`] has made.
    pub(super) fn diff(&self) -> &str {
        &self.diff.text
    }

    /// Returns whether the run has begun.
    pub(super) const fn has_begun(&self) -> bool {
        self.turns > 0 || self.error.is_some()
    }

    /// Returns whether the model has answered at all.
    pub(super) const fn has_replies(&self) -> bool {
        self.has_replies
    }

    /// Returns a line such as
    /// `7 turns · 8 tool calls · 17,152 tokens in, 749 out · 1 file changed · 0.4 s`.
    pub(super) fn counts(&self, style: OutputStyle) -> String {
        let changed = format!("{} changed", counted(self.changed(), "file"));
        style.paint(TextColour::Dim, &self.told(Some(changed))).into_owned()
    }

    /// Returns the same without the files.
    pub(super) fn spent(&self) -> String {
        self.told(None)
    }

    fn told(&self, changed: Option<String>) -> String {
        let took = self.begun.elapsed();
        let mut line = vec![
            counted(u64::from(self.turns), "turn"),
            counted(u64::from(self.tool_calls), "tool call"),
            format!(
                "{} tokens in, {} out",
                grouped(self.usage.input_total),
                grouped(self.usage.output_total)
            ),
        ];
        line.extend(self.cost.map(dollars));
        line.extend(changed);
        line.push(format!("{}.{} s", took.as_secs(), took.subsec_millis() / 100));
        line.join(" · ")
    }

    /// Returns the last line of `--json`, with keys and secrets masked.
    pub(super) fn record(&self) -> String {
        let failure = self.result().err();
        let keys = keys::of_environment();
        let exit = failure.as_ref().map_or(ExitReason::Done, |failure| failure.exit);
        let files = self.files.iter().map(FileRecord::of).collect();
        let record = RunRecord {
            kind: "result",
            status: exit.name(),
            exit_code: exit.code(),
            message: failure.map(|failure| keys.masked(&failure.message).into_owned()),
            text: &self.text,
            answer: self.answer.as_ref(),
            denied: &self.denied,
            turns: self.turns,
            tool_calls: self.tool_calls,
            usage: self.usage,
            cost_nano_usd: self.cost,
            files,
            files_truncated: !self.is_all,
            applied: self.is_applied,
            diff: &self.firewall.masked(&self.diff.text),
            duration_ms: millis(self.begun.elapsed()),
        };
        to_string(&record)
    }
}

/// Returns the exit reason of an error. What the user has to change in the configuration comes
/// first, however the run has ended.
const fn exit_of(end: Option<RunEnd>, kind: ErrorKind) -> ExitReason {
    match (kind, end) {
        (ErrorKind::Authentication | ErrorKind::Host, _) => ExitReason::Configuration,
        (_, Some(RunEnd::Incomplete)) => ExitReason::Incomplete,
        (_, Some(RunEnd::Refused)) => ExitReason::Refused,
        _ => ExitReason::Failed,
    }
}

/// Returns advice about an error, if its message has none.
fn advice(kind: ErrorKind, key: &KeyInUse) -> String {
    let advice = match kind {
        ErrorKind::Authentication => return format!("; {}", key.advice()),
        ErrorKind::Quota => {
            "; the account's credit or quota is used up: raise it or use another key"
        }
        ErrorKind::RateLimit | ErrorKind::Overloaded | ErrorKind::Server => {
            "; wait a while and run again"
        }
        ErrorKind::ContextOverflow => "; give the agent a smaller task",
        ErrorKind::ContentFilter | ErrorKind::Refusal => "; put the task in other words",
        ErrorKind::OutputLimit => "; raise the model's max_output_tokens, or tell it to go on",
        ErrorKind::Reply => "; run again, or use another model",
        ErrorKind::InvalidRequest => "; check --model and --base-url",
        ErrorKind::Network => "; check the network and run again",
        ErrorKind::Protocol => "; check that --base-url is the provider's API",
        ErrorKind::Answer => {
            "; the model has not called the tool final_answer with what the schema asks for: run \
             again, simplify the schema, or use another model"
        }
        ErrorKind::Internal => "; please report it",
        _ => "",
    };
    advice.to_owned()
}

fn limit_text(limit: &str, value: u32) -> String {
    let option = match limit {
        "max_turns" => "--max-turns",
        "max_tool_rounds_per_input" => "--max-tool-rounds",
        other => other,
    };
    format!("the limit of {option} {value} was hit")
}

/// Returns whether a call was denied because nobody was there to allow it.
fn nobody_allowed(outcome: &Outcome) -> bool {
    outcome.denied_by == Some(DeniedBy::Nobody)
}

/// Returns a message such as
/// `1 call needed a yes that nobody was there to give: write: note.txt (1 line)`, with advice.
fn denied_text(denied: &[DeniedCall]) -> String {
    let named = denied.iter().take(DENIED);
    let mut named: Vec<String> = named.map(|denied| denied.told.clone()).collect();
    if let more @ 1.. = denied.len().saturating_sub(DENIED) {
        named.push(format!("… and {more} more"));
    }
    format!(
        "{} needed a yes that nobody was there to give: {}; allow such calls with \
         --approve all, or changes of files alone with --approve edits",
        counted(denied.len() as u64, "call"),
        named.join(", ")
    )
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_work_is_kept_is_told_whatever_else_has_failed() {
        let mut report =
            RunReport::failed(CliError::new(ExitReason::Terminated, "stopped at once"));
        report.fail(CliError::new(ExitReason::Failed, "later"));
        report.unsettled(CliError::new(ExitReason::Failed, "kept in x"));
        let failure = CliError::new(ExitReason::Terminated, "stopped at once; kept in x");
        assert_eq!(report.result(), Err(failure));
    }
}

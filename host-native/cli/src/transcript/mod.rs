//! The transcript of a run for a person who watches it: the model's text as it arrives, each call
//! in words, a program's output while it runs, the beginning and end of each result, edits as a
//! diff, retries and warnings. On a terminal the text is Markdown and lines are wrapped; elsewhere
//! it is as the model wrote it. Runs and conversations share it. Every text of a model, a tool or a
//! file passes `harmless`, `brief` or a `TextSanitizer` before it is written.

mod edits;
mod folds;
mod live_output;
mod partial_call;
#[cfg(test)]
mod tests;

use super::{
    call_summary::{CallDescriber, CallDescription},
    limits,
    markdown::Markdown,
    number_format::{counted, dollars, seconds, tokens},
    spinner::ActivityLabel,
    style::{OutputStyle, TextSanitizer, TextStyle, brief, harmless},
    terminal,
    wrap::{LineWrapper, Margin},
};
use innerloop_core::{
    action::Outcome,
    config::ModelOrigin,
    event::{Event, EventKind, PlanItem, PlanStatus},
    id::AgentId,
    message::RewindReason,
    status::RunEnd,
    time::SessionInstant,
};
use live_output::{LiveOutput, OutputTail};
use partial_call::CallDraft;
use std::{borrow::Cow, collections::BTreeMap, io::Write};

/// The lines of a result that are shown from its beginning, and from its end.
const RESULT_LINES: usize = 3;

/// The most characters of a line of a call or a result.
const LINE_CHARS: usize = 110;

/// The most characters of a message.
const MESSAGE_CHARS: usize = 300;

/// The most characters of a call's label before a line of its output.
const WHOSE: usize = 24;

/// The most characters of the current activity.
const ACTIVITY: usize = 100;

/// Writes a run's events to a stream. A stream that is closed is no failure: the run goes on.
pub(super) struct Transcript<W> {
    out: W,
    words: CallDescriber,
    /// The function that returns the width of the terminal; `None` if there is no terminal.
    columns: fn() -> Option<u16>,
    flow: LineWrapper,
    /// The kind of text that the model writes at the moment.
    voice: Option<Voice>,
    markdown: Markdown,
    pieces: TextSanitizer,
    /// The id of the call that the last line belongs to; empty if it belongs to none.
    last: String,
    /// The running calls, by id.
    calls: BTreeMap<String, Call>,
    doing: Doing,
    /// The call that the model is writing.
    draft: Option<CallDraft>,
    /// The time at which the run began.
    begun: Option<SessionInstant>,
    /// The line about the cost of the last run.
    turn: Option<String>,
}

/// The kind of the model's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Text,
    Thought,
}

#[derive(Debug, Default)]
struct Call {
    phrase: CallDescription,
    live: LiveOutput,
}

/// The activity of the agent while no call is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Waiting,
    Thinking,
    Writing,
    Retrying,
    SummingUp,
}

impl<W: Write> Transcript<W> {
    /// Writes to `out`, in lines as wide as the terminal of standard error.
    pub(super) fn new(out: W, style: OutputStyle, words: CallDescriber) -> Self {
        Self::of_width(out, style, words, terminal::columns)
    }

    /// Does the same with the terminal's width from `columns`, which is called at each event.
    pub(super) fn of_width(
        out: W,
        style: OutputStyle,
        words: CallDescriber,
        columns: fn() -> Option<u16>,
    ) -> Self {
        Self {
            out,
            words,
            columns,
            flow: LineWrapper::new(style, None),
            voice: None,
            markdown: Markdown::default(),
            pieces: TextSanitizer::default(),
            last: String::new(),
            calls: BTreeMap::new(),
            doing: Doing::Nothing,
            draft: None,
            begun: None,
            turn: None,
        }
    }

    /// Returns the stream that it writes to.
    pub(super) const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    pub(super) fn show(&mut self, event: &Event) {
        self.flow.set_columns((self.columns)());
        if event.agent == AgentId::ROOT {
            self.note_doing(event);
            self.root(&event.kind);
        } else {
            self.other_agent(event);
        }
        self.write();
    }

    /// Writes a line of the program's own, wrapped like the others.
    pub(super) fn tell(&mut self, look: TextStyle, text: &str) {
        self.flow.set_columns((self.columns)());
        self.note(look, &harmless(text));
        self.write();
    }

    fn write(&mut self) {
        let text = self.flow.take();
        if !text.is_empty() {
            let written = self.out.write_all(text.as_bytes());
            drop(written.and_then(|()| self.out.flush()));
        }
    }

    /// Returns the current activity; none while the agent is idle.
    pub(super) fn activity(&self) -> Option<ActivityLabel> {
        let mut calls = self.calls.values();
        if let Some(call) = calls.next() {
            let label = call.phrase.label(ACTIVITY / 2);
            return Some(match calls.count() {
                0 => ActivityLabel {
                    what: label,
                    detail: call.live.newest().map(|line| line.trim().to_owned()),
                },
                others => ActivityLabel::of(format!(
                    "{label} and {}",
                    counted(others as u64, "other call")
                )),
            });
        }
        if let Some(draft) = &self.draft {
            let what = draft.label(ACTIVITY / 2);
            return Some(ActivityLabel { what, detail: draft.length() });
        }
        let text = match self.doing {
            Doing::Nothing => return None,
            Doing::Waiting => "waiting for the model",
            Doing::Thinking => "thinking",
            Doing::Writing => "writing",
            Doing::Retrying => "trying again",
            Doing::SummingUp => "summing the conversation up",
        };
        Some(ActivityLabel::of(text))
    }

    /// Takes the line about the cost of the last run, for example
    /// `2 calls · 17,152 tokens in (12,000 cached), 749 out · $0.0123 · 4.2 s`.
    pub(super) fn turn_line(&mut self) -> Option<String> {
        self.turn.take()
    }

    fn note_doing(&mut self, event: &Event) {
        if let EventKind::ToolCallDelta { index, name, text, .. } = &event.kind {
            let draft = self.draft.take().filter(|draft| draft.is(*index));
            let mut draft = draft.unwrap_or_else(|| CallDraft::new(*index, name));
            draft.add(&self.words, name, text);
            self.draft = Some(draft);
            return;
        }
        self.draft = None;
        self.doing = match &event.kind {
            EventKind::UserInput { .. } => {
                self.begun.get_or_insert(event.at);
                Doing::Waiting
            }
            EventKind::AssistantReasoningDelta { .. } => Doing::Thinking,
            EventKind::AssistantTextStart | EventKind::AssistantTextDelta { .. } => Doing::Writing,
            EventKind::AssistantTextEnd { .. }
            | EventKind::ToolCallStart { .. }
            | EventKind::ToolCallEnd { .. } => Doing::Waiting,
            EventKind::Retry { .. } => Doing::Retrying,
            EventKind::CompactionStarted { .. } => Doing::SummingUp,
            // A summary that the person has asked for belongs to no run.
            EventKind::Compacted { .. } | EventKind::CompactionFailed { .. } => {
                if self.begun.is_some() { Doing::Waiting } else { Doing::Nothing }
            }
            EventKind::ProcessingEnd { usage, cost_nano_usd, tool_calls, .. } => {
                let begun = self.begun.take().unwrap_or(event.at);
                let took = event.at.0.saturating_sub(begun.0);
                let calls = counted(u64::from(*tool_calls), "call");
                let mut line = vec![calls, tokens(usage), seconds(took)];
                if let Some(cost) = cost_nano_usd {
                    line.insert(2, dollars(*cost));
                }
                self.turn = Some(line.join(" · "));
                self.calls.clear();
                Doing::Nothing
            }
            EventKind::SessionEnd { .. } => Doing::Nothing,
            _ => return,
        };
    }

    fn root(&mut self, kind: &EventKind) {
        match kind {
            EventKind::AssistantTextDelta { text } => self.say(Voice::Text, text),
            EventKind::AssistantReasoningDelta { text } => self.say(Voice::Thought, text),
            EventKind::AssistantTextStart
            | EventKind::AssistantTextEnd { .. }
            | EventKind::ProcessingEnd { .. } => self.end_voice(),
            EventKind::TextReset => {
                self.markdown.discard();
                // A call that was cut off while the model wrote it has no line yet.
                if self.voice.is_some() {
                    self.end_voice();
                    self.note(TextStyle::YELLOW, "(that was cut off)");
                }
            }
            EventKind::ToolCallStart { call_id, name, arguments } => {
                let phrase = self.words.phrase(name, arguments);
                self.call_line("• ", &phrase);
                self.last.clone_from(call_id);
                self.calls.insert(call_id.clone(), Call { phrase, live: LiveOutput::default() });
            }
            EventKind::ToolCallOutputDelta { call_id, text } => self.live(call_id, text),
            EventKind::ToolCallEnd { call_id, name, outcome } => {
                // The call may have begun before the session was resumed.
                let told = || Call { phrase: self.words.told(call_id, name), ..Call::default() };
                let call = self.calls.remove(call_id).unwrap_or_else(told);
                self.end_call(call_id, call, outcome);
                self.tell_secrets(&outcome.secrets);
            }
            EventKind::SteeringInjected { parts } => {
                let said: Vec<&str> = parts.iter().filter_map(|part| part.as_text()).collect();
                let said = brief(&said.join(" "), MESSAGE_CHARS);
                self.note(TextStyle::DIM, format!("(steering) {said}").trim_end());
            }
            EventKind::Plan { items } => items.iter().for_each(|item| self.plan_item(item)),
            EventKind::Retry { attempt, delay_ms, message } => {
                let (delay, message) = (seconds(*delay_ms), brief(message, MESSAGE_CHARS));
                self.note(TextStyle::YELLOW, &format!("try {attempt} in {delay}: {message}"));
            }
            EventKind::Warning { message } => {
                let message = brief(message, MESSAGE_CHARS);
                self.note(TextStyle::YELLOW, &format!("warning: {message}"));
            }
            EventKind::Rewound { why, undo_left, redo_left, .. } => {
                let done = match why {
                    RewindReason::Undo => "undone",
                    RewindReason::Redo => "redone",
                    RewindReason::Restore => "gone back to an earlier turn",
                    RewindReason::Clear => "cleared: the agent sees nothing of what was said",
                };
                let left = counted(u64::from(*undo_left), "step");
                self.note(TextStyle::DIM, &format!("{done}; {left} to undo, {redo_left} to redo"));
            }
            EventKind::Compacted { kind, turns, before, after, .. } => {
                self.note(TextStyle::DIM, &folds::line(*kind, *turns, *before, *after));
            }
            EventKind::CompactionFailed { message, .. } => {
                let why = brief(message, MESSAGE_CHARS);
                let text = format!("(the conversation stays as it is: {why})");
                self.note(TextStyle::YELLOW, &text);
            }
            EventKind::BudgetLimit { which, used, limit } => {
                self.note(TextStyle::DIM, &format!("({})", limits::text(which, *used, *limit)));
            }
            EventKind::LoopDetection { .. } => {
                self.note(TextStyle::YELLOW, "(the calls repeat themselves; the model was told)");
            }
            other => aside(other).iter().for_each(|text| self.note(TextStyle::DIM, text)),
        }
    }

    /// Shows an event of a subagent in one line: several work at the same time, and streamed text
    /// would be interleaved.
    fn other_agent(&mut self, event: &Event) {
        let name = format!("agent-{}", event.agent.0);
        let text = match &event.kind {
            EventKind::AgentStarted { task, name, .. } => {
                let who = if name.is_empty() { String::new() } else { format!(" as {name}") };
                format!("starts{who}: {}", brief(task, LINE_CHARS))
            }
            EventKind::ToolCallStart { name, arguments, .. } => {
                let phrase = self.words.phrase(name, arguments);
                brief(&format!("{} {}", phrase.verb, phrase.rest), LINE_CHARS)
            }
            EventKind::ProcessingEnd { end: RunEnd::Completed, text, .. } => {
                format!("is done: {}", brief(text, LINE_CHARS))
            }
            EventKind::ProcessingEnd { .. } => "has stopped".to_owned(),
            EventKind::Error { message, .. } => {
                format!("failed: {}", brief(message, MESSAGE_CHARS))
            }
            _ => return,
        };
        self.note(TextStyle::DIM, &format!("[{name}] {text}"));
    }

    fn say(&mut self, voice: Voice, text: &str) {
        let look = match voice {
            Voice::Text => TextStyle::PLAIN,
            Voice::Thought => TextStyle::DIM,
        };
        if self.voice != Some(voice) {
            self.end_voice();
            self.voice = Some(voice);
            self.markdown = Markdown::new(look);
        }
        let text = self.pieces.harmless(text);
        if self.flow.is_terminal() {
            self.markdown.read(&text, &mut self.flow);
        } else {
            self.flow.text(&text, look);
        }
    }

    fn end_voice(&mut self) {
        if self.voice.take().is_some() {
            self.markdown.finish(&mut self.flow);
        }
        self.pieces = TextSanitizer::default();
        self.flow.end_line();
    }

    fn call_line(&mut self, mark: &str, phrase: &CallDescription) {
        let rest = brief(&phrase.rest, LINE_CHARS);
        self.aside(Margin::new(mark, "    "), |flow| {
            flow.text(&phrase.verb, TextStyle::CYAN);
            if !rest.is_empty() {
                flow.text(" ", TextStyle::PLAIN);
                flow.text(&rest, TextStyle::PLAIN);
            }
        });
    }

    /// Shows the first lines of a program's output while it runs, on a terminal only: elsewhere
    /// nobody watches, and the result tells it.
    fn live(&mut self, call_id: &str, text: &str) {
        if !self.flow.is_terminal() {
            return;
        }
        let is_alone = self.calls.len() == 1;
        let Some(call) = self.calls.get_mut(call_id) else { return };
        let lines = call.live.add(text);
        let phrase = call.phrase.clone();
        if lines.is_empty() {
            return;
        }
        if is_alone && self.last != call_id {
            self.call_line("↳ ", &phrase);
        }
        // After lines with labels the result needs a line of its own call again.
        self.last = if is_alone { call_id.to_owned() } else { String::new() };
        for line in lines {
            let whose = (!is_alone).then(|| phrase.label(WHOSE));
            self.output(whose.as_deref(), &line, TextStyle::DIM);
        }
    }

    fn end_call(&mut self, call_id: &str, call: Call, outcome: &Outcome) {
        // Parallel calls end in any order, so that a result names its call unless it follows it.
        if self.last != call_id {
            self.call_line("↳ ", &call.phrase);
        }
        self.last.clear();
        let is_edit = call.phrase.is_edit && !outcome.changes.is_empty();
        let look = if outcome.error.is_some() { TextStyle::RED } else { TextStyle::DIM };
        if !call.live.is_empty() {
            self.end_live(call.live, outcome, look);
        } else if !is_edit || outcome.error.is_some() {
            self.result(&outcome.joined_text(), look);
        }
        if let Some(exit) = outcome.exit.filter(|exit| *exit != 0) {
            self.output(None, &format!("exit code {exit}"), TextStyle::RED);
        }
        if outcome.timed_out {
            self.output(None, "its time was up", TextStyle::RED);
        }
        if is_edit {
            let margin = self.flow.interrupt();
            edits::diff(&outcome.changes, &mut self.flow);
            self.flow.set_margin(margin);
        } else if !outcome.changes.is_empty() {
            self.output(None, &edits::names(&outcome.changes), TextStyle::DIM);
        }
    }

    /// Shows the rest of an output whose first lines were shown while the program ran.
    fn end_live(&mut self, live: LiveOutput, outcome: &Outcome, look: TextStyle) {
        let text = outcome.joined_text();
        let is_all = outcome.streams || live.is(text.len());
        let OutputTail { left_out, lines } = live.rest();
        if left_out > 0 {
            self.left_out(left_out);
        }
        lines.iter().for_each(|line| self.output(None, line, look));
        // A result with other text than the live output was cut or made anew: it is what the model
        // reads, so that it is shown, too.
        if !is_all {
            return self.result(&text, look);
        }
        let streams = if outcome.streams { 2 } else { outcome.parts.len() };
        for text in outcome.parts.iter().skip(streams).filter_map(|part| part.as_text()) {
            self.result(text, look);
        }
    }

    /// Shows the beginning and the end of a result.
    fn result(&mut self, text: &str, look: TextStyle) {
        let text = text.trim_end();
        let lines = text.lines().count();
        // Hiding a single line would save none: the line that says so takes its place.
        let left_out = if lines > 2 * RESULT_LINES + 1 { lines - 2 * RESULT_LINES } else { 0 };
        for (index, line) in text.lines().enumerate() {
            if left_out > 0 && index == RESULT_LINES {
                self.left_out(left_out);
            }
            let hidden = left_out > 0 && (RESULT_LINES..RESULT_LINES + left_out).contains(&index);
            if !hidden {
                self.output(None, line, look);
            }
        }
    }

    fn left_out(&mut self, lines: usize) {
        self.output(None, &format!("… {lines} more lines"), TextStyle::DIM);
    }

    /// Shows a line of a tool's output, with the label of its call if there is one.
    fn output(&mut self, whose: Option<&str>, line: &str, look: TextStyle) {
        let line = uncoloured(line);
        let line = harmless(&line);
        let mut chars = line.trim_end().chars();
        let mut shown: String = chars.by_ref().take(LINE_CHARS).collect();
        if chars.next().is_some() {
            shown.push('…');
        }
        let is_terminal = self.flow.is_terminal();
        let inner = shown.trim_start_matches(' ');
        let indent = if is_terminal { shown.len() - inner.len() } else { 0 };
        let text = if is_terminal { inner } else { &shown };
        self.aside(Margin::spaces(2 + indent).full(), |flow| {
            if let Some(whose) = whose {
                flow.text(&format!("[{whose}] "), TextStyle::DIM);
            }
            flow.text(text, look);
        });
    }

    /// Tells the kinds of secrets that were found in a result.
    fn tell_secrets(&mut self, kinds: &[String]) {
        if !kinds.is_empty() {
            self.note(TextStyle::DIM, &format!("(secrets found: {})", kinds.join(", ")));
        }
    }

    fn plan_item(&mut self, item: &PlanItem) {
        let (mark, look) = match item.status {
            PlanStatus::Pending => ("[ ] ", TextStyle::PLAIN),
            PlanStatus::InProgress => ("[>] ", TextStyle::BOLD),
            PlanStatus::Completed => ("[x] ", TextStyle::DIM),
            PlanStatus::Cancelled => ("[-] ", TextStyle::DIM),
            PlanStatus::Blocked => ("[!] ", TextStyle::YELLOW),
        };
        let text = brief(&item.text, MESSAGE_CHARS);
        self.aside(Margin::new(format!("  {mark}"), "      "), |flow| flow.text(&text, look));
    }

    fn note(&mut self, look: TextStyle, text: &str) {
        self.aside(Margin::new("", "  "), |flow| flow.text(text, look));
    }

    /// Writes a line of its own, also while the model is in the middle of one, whose margin is
    /// restored.
    fn aside(&mut self, margin: Margin, write: impl FnOnce(&mut LineWrapper)) {
        let outer = self.flow.interrupt();
        self.flow.set_margin(margin);
        write(&mut self.flow);
        self.flow.newline();
        self.flow.set_margin(outer);
    }
}

/// Removes the colours that a program gave its output. The transcript has its own, and `harmless`
/// would show these as text.
fn uncoloured(line: &str) -> Cow<'_, str> {
    let mut pieces = line.split("\x1b[");
    let first = pieces.next().unwrap_or_default();
    if first.len() == line.len() {
        return Cow::Borrowed(line);
    }
    let mut out = first.to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        // `m` is a colour, and `K` clears what is left of the line.
        match rest.strip_prefix(['m', 'K']) {
            Some(rest) => out.push_str(rest),
            // Other escapes stay, and `harmless` shows them as text.
            None => out.extend(["\x1b[", piece]),
        }
    }
    Cow::Owned(out)
}

/// Returns the line about something that the session has done by itself, if it is such an event.
fn aside(event: &EventKind) -> Option<String> {
    match event {
        EventKind::Corrected { text, .. } => Some(correction(text)),
        EventKind::Rerouted { failed, to, message } => Some(takeover(failed, to, message)),
        _ => None,
    }
}

/// Returns the line about a model that takes over.
fn takeover(failed: &ModelOrigin, to: &ModelOrigin, why: &str) -> String {
    let name = |model: &ModelOrigin| format!("{}/{}", model.endpoint.0, model.model);
    let why = if why.is_empty() { "it is left alone for a while" } else { why };
    format!("({} takes over from {}: {})", name(to), name(failed), brief(why, MESSAGE_CHARS))
}

/// Returns the line about a reply whose fault the model was told.
fn correction(text: &str) -> String {
    format!("(the model was told: {})", brief(text, MESSAGE_CHARS))
}

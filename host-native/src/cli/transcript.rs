//! The run as it goes, for a person to watch: the model's text as it comes, each call with its
//! arguments, the start of each result, retries and warnings.

use super::style::{Colour, Style, brief, harmless};
use innerloop_core::{
    action::Outcome,
    event::{Event, EventKind},
    id::AgentId,
    status::RunEnd,
};
use std::{collections::BTreeMap, io::Write};

/// Lines of a result that are shown from its start and from its end.
const RESULT_LINES: usize = 3;

/// Characters of a line of a call or of a result that are shown.
const LINE_CHARS: usize = 110;

/// Writes a run's events to a stream. A stream that is closed is no failure: the run goes on.
pub(super) struct Transcript<W> {
    out: W,
    style: Style,
    /// Whether the last thing written ended its line.
    fresh: bool,
    /// The call whose line stands last.
    last: String,
    /// The lines of the calls that are under way, by id.
    calls: BTreeMap<String, String>,
}

impl<W: Write> Transcript<W> {
    pub(super) const fn new(out: W, style: Style) -> Self {
        Self { out, style, fresh: true, last: String::new(), calls: BTreeMap::new() }
    }

    pub(super) fn show(&mut self, event: &Event) {
        if event.agent != AgentId::ROOT {
            return self.other_agent(event);
        }
        match &event.kind {
            EventKind::AssistantTextDelta { text } => self.stream(&harmless(text), None),
            EventKind::AssistantReasoningDelta { text } => {
                self.stream(&harmless(text), Some(Colour::Dim));
            }
            EventKind::AssistantTextStart | EventKind::AssistantTextEnd { .. } => self.end_line(),
            EventKind::TextReset => self.note(Colour::Yellow, "(that was cut off)"),
            EventKind::ToolCallStart { call_id, name, arguments } => {
                let (name, arguments) = (brief(name, 40), brief(arguments, LINE_CHARS));
                let line = format!("{} {arguments}", self.style.paint(Colour::Cyan, &name));
                self.line(&format!("• {line}"));
                self.last.clone_from(call_id);
                self.calls.insert(call_id.clone(), line);
            }
            EventKind::ToolCallEnd { call_id, outcome, .. } => {
                let line = self.calls.remove(call_id).unwrap_or_default();
                // Calls that run side by side end when they like: the result says whose it is.
                if self.last != *call_id {
                    self.line(&format!("↳ {line}"));
                }
                self.last.clear();
                self.outcome(outcome);
            }
            EventKind::SteeringInjected { .. } => self.note(Colour::Dim, "(steering)"),
            EventKind::Retry { attempt, delay_ms, message } => {
                let delay = format!("{}.{:01}", delay_ms / 1000, delay_ms % 1000 / 100);
                let text = format!("try {attempt} in {delay} s: {}", brief(message, 300));
                self.note(Colour::Yellow, &text);
            }
            EventKind::Warning { message } => {
                self.note(Colour::Yellow, &format!("warning: {}", brief(message, 300)));
            }
            EventKind::LoopDetection { .. } => {
                self.note(Colour::Yellow, "(the calls repeat themselves; the model was told)");
            }
            _ => {}
        }
    }

    /// What agents do that this one started: a line each, since they work side by side.
    fn other_agent(&mut self, event: &Event) {
        let name = format!("agent-{}", event.agent.0);
        let text = match &event.kind {
            EventKind::AgentStarted { task, .. } => format!("starts: {}", brief(task, LINE_CHARS)),
            EventKind::ToolCallStart { name, arguments, .. } => {
                format!("{} {}", brief(name, 40), brief(arguments, LINE_CHARS))
            }
            EventKind::ProcessingEnd { end: RunEnd::Completed, text, .. } => {
                format!("is done: {}", brief(text, LINE_CHARS))
            }
            EventKind::ProcessingEnd { .. } => "has stopped".to_owned(),
            EventKind::Error { message, .. } => format!("failed: {}", brief(message, 300)),
            _ => return,
        };
        self.note(Colour::Dim, &format!("[{name}] {text}"));
    }

    fn stream(&mut self, text: &str, colour: Option<Colour>) {
        let painted = colour.map(|colour| self.style.paint(colour, text));
        self.write(painted.as_deref().unwrap_or(text));
        self.fresh = text.ends_with('\n') || (self.fresh && text.is_empty());
    }

    /// The start and the end of what a tool said; a failure in red.
    fn outcome(&mut self, outcome: &Outcome) {
        let text = outcome.joined_text();
        let text = text.trim_end();
        let colour = if outcome.error.is_some() { Colour::Red } else { Colour::Dim };
        let lines = text.lines().count();
        // One line is not worth a line that says so.
        let left_out = if lines > 2 * RESULT_LINES + 1 { lines - 2 * RESULT_LINES } else { 0 };
        for (index, line) in text.lines().enumerate() {
            if left_out > 0 && index == RESULT_LINES {
                self.note(Colour::Dim, &format!("  … {left_out} more lines"));
            }
            let hidden = left_out > 0 && (RESULT_LINES..RESULT_LINES + left_out).contains(&index);
            if !hidden {
                let line: String = harmless(line).chars().take(LINE_CHARS).collect();
                let line = format!("  {}", self.style.paint(colour, &line));
                self.line(line.trim_end());
            }
        }
    }

    fn note(&mut self, colour: Colour, text: &str) {
        let text = self.style.paint(colour, text).into_owned();
        self.line(&text);
    }

    fn line(&mut self, text: &str) {
        self.end_line();
        self.write(text);
        self.write("\n");
    }

    fn end_line(&mut self) {
        if !self.fresh {
            self.write("\n");
            self.fresh = true;
        }
    }

    fn write(&mut self, text: &str) {
        let written = self.out.write_all(text.as_bytes());
        drop(written.and_then(|()| self.out.flush()));
    }
}

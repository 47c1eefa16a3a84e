//! The answers of the session to commands that ask it: what fills the context window, how it
//! stands, and which tools it has. Asking and showing them is `ui/asking`.

use crate::{
    number_format::{dollars, grouped},
    style::{OutputStyle, TextColour, brief, harmless},
};
use innerloop_core::{AgentTool, Session, id::AgentId, json::to_string, status::ContextUsage};
use std::collections::VecDeque;
use tokio::sync::oneshot::{Receiver, error::TryRecvError};

/// The most columns of a tool's name.
const NAME: usize = 24;

/// The least columns of a tool's description.
const LEAST: usize = 20;

/// The answers that are to come, in the order of the questions.
#[derive(Debug, Default)]
pub(super) struct SessionAnswers(VecDeque<Receiver<Option<SessionAnswer>>>);

/// An answer of the session.
#[derive(Debug)]
pub(super) enum SessionAnswer {
    Context(ContextUsage),
    /// Lines of two columns.
    Status(Vec<(&'static str, String)>),
    Tools(Vec<AgentTool>),
}

impl SessionAnswers {
    /// Adds an answer that is to come.
    pub(super) fn expect(&mut self, answer: Receiver<Option<SessionAnswer>>) {
        self.0.push_back(answer);
    }

    /// Returns the next answer that has come.
    pub(super) fn next(&mut self) -> Option<SessionAnswer> {
        loop {
            let answer = self.0.front_mut()?.try_recv();
            if matches!(answer, Err(TryRecvError::Empty)) {
                return None;
            }
            self.0.pop_front();
            // A session that is over has no answer.
            if let Some(answer) = answer.ok().flatten() {
                return Some(answer);
            }
        }
    }
}

/// Returns how a session stands, in lines of two columns.
pub(super) fn status(
    session: &Session,
    provider: &str,
    preset: Option<String>,
) -> Option<Vec<(&'static str, String)>> {
    let (status, config) = (session.status(AgentId::ROOT)?, session.config());
    let tokens = &status.usage;
    let (input, output) = (grouped(tokens.input_total), grouped(tokens.output_total));
    let state = to_string(&status.state);
    let lines = [
        ("session", Some(session.id().0.clone())),
        ("model", Some(format!("{} ({provider})", harmless(&config.model.name)))),
        ("preset", preset),
        ("state", Some(state.trim_matches('"').replace('_', " "))),
        ("tokens", Some(format!("{input} in, {output} out"))),
        ("cost", status.cost_nano_usd.map(dollars)),
    ];
    Some(lines.into_iter().filter_map(|(name, told)| Some((name, told?))).collect())
}

/// Returns a line for each tool: its name, who may run it, and the beginning of its description.
pub(super) fn tool_table(tools: &[AgentTool], columns: usize, style: OutputStyle) -> String {
    let mut lines = String::new();
    for AgentTool { spec, needs_approval } in tools {
        let who = if *needs_approval { "needs a yes" } else { "runs" };
        let head = format!("{:NAME$} {who:11} ", brief(&spec.name, NAME));
        let first =
            spec.description.split_once(". ").map_or(&*spec.description, |(first, _)| first);
        let room = columns.saturating_sub(NAME + 14).max(LEAST);
        let about = brief(first.trim_end_matches('.'), room);
        lines.push_str(&format!("{head}{}\n", style.paint(TextColour::Dim, &about)));
    }
    lines
}

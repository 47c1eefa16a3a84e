//! Canaries: made secrets that tools and people say where the firewall masks or withholds what they
//! say. Nothing that follows may have one of them, however it was cut.

use super::rng::Rng;
use crate::made_secrets::MadeSecret;
use innerloop_core::{
    action::{ChangeKind, Outcome, Part, ReportedChange},
    config::SessionConfig,
    event::{Event, EventKind},
    firewall::SecretHandling,
    input::{Answer, Command, HookReply, Input, ToolInput},
    json::Json,
    secret::SecretScanner,
};
use std::collections::BTreeMap;

/// How many of the newest parts of secrets are looked for after each step; all are looked for in
/// what is kept.
const NEWEST: usize = 8;

/// The secrets of one run.
#[derive(Debug)]
pub(super) struct Canaries {
    rng: Rng,
    /// Whether those of tools and of people are masked or withheld.
    tools: bool,
    people: bool,
    /// What must stand nowhere.
    parts: Vec<String>,
    /// The pieces of output that calls told, joined.
    told: BTreeMap<String, String>,
}

impl Canaries {
    /// None at all, so that a seed is the same run without them.
    pub(super) fn none() -> Self {
        let (rng, parts, told) = (Rng::new(0), Vec::new(), BTreeMap::new());
        Self { rng, tools: false, people: false, parts, told }
    }

    /// Draws what the firewall does, and says a secret in the instructions.
    pub(super) fn new(config: &mut SessionConfig, mut rng: Rng) -> Self {
        let all = [SecretHandling::Off, SecretHandling::Mask, SecretHandling::Block];
        let mut drawn = || all[rng.weighted(&[1, 3, 1])];
        (config.firewall.secrets, config.firewall.user) = (drawn(), drawn());
        let [tools, people] = [config.firewall.secrets, config.firewall.user]
            .map(|handling| handling != SecretHandling::Off);
        let mut canaries = Self { rng, tools, people, ..Self::none() };
        config.instructions = canaries.of_tools();
        canaries
    }

    /// Says secrets in an input, and in what comes after it.
    pub(super) fn plant(&mut self, mut input: Input) -> Vec<Input> {
        match &mut input {
            Input::Command { command, .. } => self.plant_in_command(command),
            Input::Answer { answer, .. } => match answer {
                Answer::Deny { reason: text, .. } | Answer::Text(text) => {
                    text.extend(self.of_people());
                }
                Answer::AllowEdited(arguments) => {
                    let said = self.of_people().map(|said| Json::of(&format!("key: {said}")));
                    *arguments = said.unwrap_or_else(|| arguments.clone());
                }
                _ => {}
            },
            Input::Hook {
                reply: HookReply::Deny { reason: text } | HookReply::Failed { message: text },
                ..
            } => text.extend(self.of_tools()),
            Input::Tool { input: ToolInput::Done(outcome), .. } => self.plant_in_outcome(outcome),
            Input::Tool { id, input: ToolInput::Delta(_) } => {
                let id = *id;
                let pieces = self.of_tools().map(|said| self.cut(&said)).unwrap_or_default();
                let piece = |text| Input::Tool { id, input: ToolInput::Delta(text) };
                return [input].into_iter().chain(pieces.into_iter().map(piece)).collect();
            }
            _ => {}
        }
        vec![input]
    }

    fn plant_in_command(&mut self, command: &mut Command) {
        match command {
            Command::Submit { parts, .. }
            | Command::Steer { parts }
            | Command::FollowUp { parts, .. } => {
                parts.extend(self.of_people().map(Part::text));
            }
            Command::Compact { instructions: Some(text) } => text.extend(self.of_people()),
            _ => {}
        }
    }

    fn plant_in_outcome(&mut self, outcome: &mut Outcome) {
        outcome.parts.extend(self.of_tools().map(Part::text));
        if let Some(said) = self.of_tools() {
            outcome.details = Some(Box::new(Json::of(&said)));
        }
        if let Some(before) = self.of_tools() {
            let after = before.clone() + "more\n";
            let (path, kind) = ("a".to_owned(), ChangeKind::Modified);
            let (before, after) = (Some(before), Some(after));
            outcome.changes.push(ReportedChange { path, kind, before, after });
        }
    }

    fn of_tools(&mut self) -> Option<String> {
        self.said(self.tools)
    }

    fn of_people(&mut self) -> Option<String> {
        self.said(self.people)
    }

    /// A text with a secret, now and then.
    fn said(&mut self, is_masked: bool) -> Option<String> {
        if !is_masked || !self.rng.chance(30) {
            return None;
        }
        let made = MadeSecret::any(&mut self.rng);
        // Between other lines, so that nothing goes on a secret's word.
        let text = format!("\n{}\n", made.placed(&mut self.rng));
        // A made secret may be none in its place: other tests say how seldom that is.
        let masked = SecretScanner::default().masked(&text, &mut Vec::new()).into_owned();
        let parts = made.masked_parts();
        if parts.iter().any(|part| masked.contains(part)) {
            return None;
        }
        self.parts.extend(parts.into_iter().map(str::to_owned));
        Some(text)
    }

    /// The text in pieces.
    fn cut(&mut self, text: &str) -> Vec<String> {
        let most = [1, 3, 20, 200][self.rng.index(4)];
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.ceil_char_boundary(1 + self.rng.index(most)));
            pieces.push(piece.to_owned());
            rest = behind;
        }
        pieces
    }

    /// No new secret stands in what is told of calls, piece by piece.
    pub(super) fn hear(&mut self, event: &Event) -> Result<(), String> {
        let EventKind::ToolCallOutputDelta { call_id, text } = &event.kind else { return Ok(()) };
        let told = self.told.entry(call_id.clone()).or_default();
        told.push_str(text);
        self.check_new("a call's output", &self.told[call_id])
    }

    /// No new secret stands in a text.
    pub(super) fn check_new(&self, what: &str, text: &str) -> Result<(), String> {
        check(&self.parts[self.parts.len().saturating_sub(NEWEST)..], what, text)
    }

    /// No secret stands in a text.
    pub(super) fn check(&self, what: &str, text: &str) -> Result<(), String> {
        check(&self.parts, what, text)
    }
}

fn check(parts: &[String], what: &str, text: &str) -> Result<(), String> {
    match parts.iter().find_map(|part| Some((part, text.find(part.as_str())?))) {
        None => Ok(()),
        Some((part, at)) => {
            let around = text.floor_char_boundary(at.saturating_sub(160));
            Err(format!("the secret {part} stands in {what}: {}", &text[around..at]))
        }
    }
}

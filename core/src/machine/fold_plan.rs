//! A plan to fold turns: which ones go, the request or the hook's payload that asks for a summary
//! of them, and the text that then stands in their place. Nothing is appended to the history while
//! a plan is pending, so that the same plan makes the same request again after a restart.

use super::{
    history::History,
    route::{Route, ToolAccess},
};
use crate::rules::transcript::{TranscriptLimit, transcript};
use alloc::{borrow::Cow, format, string::String, vec, vec::Vec};
use innerloop_json::{FromJson, ToJson, joined};
use innerloop_types::{
    compaction::FoldReason,
    json::Json,
    message::{FoldKind, HistoryFold, Part, TurnKind, VisibleTurn, joined_text},
    output::HttpRequest,
    text::{counted, nth_char},
};
use innerloop_wire::RequestPrefix;

/// A plan to fold turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoldPlan {
    pub(crate) why: FoldReason,
    /// The fold, without the text that will stand in the place of its turns.
    pub(crate) fold: HistoryFold,
    /// The files that the calls in question were about.
    pub(crate) files: TouchedFiles,
    /// The host's instructions on what the summary should focus on.
    pub(crate) instructions: String,
    /// The provider's message about a conversation that did not fit.
    pub(crate) overflow: String,
    /// The length limit of the transcript that a model reads.
    pub(crate) room: TranscriptLimit,
    /// The number of characters of the user's own words that stay.
    pub(crate) words: usize,
}

/// The files that calls have named last.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub(crate) struct TouchedFiles {
    /// Those that were only read.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub(crate) read: Vec<String>,
    /// Those that were changed.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<String>,
}

/// The system prompt of a model that sums up.
pub(super) const SYSTEM: &str = "\
You write the summary with which a coding agent goes on in place of the conversation that you are \
shown. Keep what it needs to go on without asking or looking again: the task, what the user wants \
and does not want, decisions and their reasons, what was done and found, the files and commands \
that matter, errors and how they were solved, what is open and what comes next. Keep names, paths, \
numbers and messages exact. Write under short headings, in the language of the conversation, \
without a greeting. Say nothing that the conversation does not say.";

/// The texts before and behind a summary, and the beginning of the line that says how many turns
/// are left out.
const SUMMARY: &str = "[The conversation up to here was summed up. The summary:]\n\n";
const END: &str = "\n\n[The end of the summary.]";
const LEFT_OUT: &str = "[Left out";

/// The data that a hook receives about turns that are to be folded.
#[derive(ToJson)]
struct FoldHookPayload<'a> {
    kind: FoldKind,
    transcript: String,
    files: &'a TouchedFiles,
    tokens: u64,
}

impl FoldPlan {
    /// Returns the request for the summary.
    pub(super) fn request(&self, history: &History, route: &Route, key: &str) -> HttpRequest {
        let mut text = String::new();
        if let Some(before) = summary(history) {
            text.push_str(&format!("# The summary so far, to be updated\n\n{before}\n\n"));
        }
        text.push_str("# The conversation\n\n");
        text.push_str(&transcript(self.turns(history), self.room));
        text.push_str("# What to do\n\nWrite the summary.");
        if !self.instructions.is_empty() {
            text.push_str(&format!(" Look above all at this: {}", self.instructions));
        }
        // Not the history's cached prefix: this request has another head, and one turn of its own.
        let mut prefix = RequestPrefix::new(&route.model);
        prefix.push(VisibleTurn::User(Cow::Owned(vec![Part::text(text)])));
        prefix.request(route.head(ToolAccess::Off), &route.model, key)
    }

    /// Returns the payload for the host's hook.
    pub(super) fn payload(&self, history: &History) -> Json {
        // Without a limit: a hook that archives stores what it is shown.
        let room = TranscriptLimit { chars: usize::MAX, result_chars: usize::MAX };
        let transcript = transcript(self.turns(history), room);
        let HistoryFold { kind, before: tokens, .. } = self.fold;
        Json::of(&FoldHookPayload { kind, transcript, files: &self.files, tokens })
    }

    /// Returns the turns that are seen before the cut, those that stay included.
    fn turns<'a>(&self, history: &'a History) -> impl Iterator<Item = VisibleTurn<'a>> + Clone {
        let upto = self.fold.upto;
        history.seen_at().filter(move |(at, _)| *at < upto).map(|(_, said)| said)
    }

    /// Returns the text that stands in the place of the turns. It has the summary with the user's
    /// own words; or, behind an earlier summary, the number of turns left out since. The files come
    /// last.
    pub(super) fn text(&self, summary: Option<&str>, history: &History) -> String {
        let mut text = String::new();
        if let Some(summary) = summary {
            text.push_str(&format!("{SUMMARY}{}{END}", summary.trim()));
            let words = self.words(history);
            if !words.is_empty() {
                text.push_str("\n\nThe user's own words in it, in order:");
                // Collected from the newest on, so that the limit drops the oldest, and told in
                // order.
                words.iter().rev().for_each(|said| text.push_str(&format!("\n\n> {said}")));
            }
        } else {
            if let Some(before) = history.folded().filter(|text| text.starts_with(SUMMARY)) {
                // Only the summary is taken over. The turns are counted anew, those of earlier
                // folds included, and the files are listed anew.
                let before = before.split(LEFT_OUT).next().unwrap_or_default();
                text.push_str(&format!("{}\n\n", before.trim_end()));
            }
            let stored = if self.fold.kind == FoldKind::Archive { " and stored" } else { "" };
            let turns = counted(self.turns_gone(history) as u64, "earlier turn");
            text.push_str(&format!("{LEFT_OUT}{stored}: {turns}.]"));
        }
        let TouchedFiles { read, changed } = &self.files;
        for (what, files) in [("Files read", read), ("Files changed", changed)] {
            if !files.is_empty() {
                text.push_str(&format!("\n\n{what}: {}", joined(files, ", ")));
            }
        }
        text
    }

    /// Returns the number of turns that go, those that are folded already included.
    pub(super) fn turns_gone(&self, history: &History) -> usize {
        let before = history.standing().iter().filter(|(at, _)| *at < self.fold.upto).count();
        before.saturating_sub(self.fold.pin.len())
    }

    /// Returns what the user said in the turns that go, the newest first, up to the limit.
    fn words(&self, history: &History) -> Vec<String> {
        let mut left = self.words;
        let mut words = Vec::new();
        // From the log and not from the view: the user's words must outlive the second fold, too,
        // where an earlier summary stands for their turns.
        for (at, turn) in history.standing() {
            let TurnKind::User(parts) = turn else { continue };
            if at >= self.fold.upto || self.fold.pin.contains(&at) {
                continue;
            }
            let said = joined_text(parts);
            let end = nth_char(&said, left);
            let Some(shown) = said.get(..end).filter(|shown| !shown.is_empty()) else { break };
            left -= shown.chars().count();
            let rest = if end < said.len() { " […]" } else { "" };
            words.push(format!("{}{rest}", shown.replace('\n', "\n> ")));
        }
        words
    }
}

/// Returns the summary of the turns that are folded already, or the text that stands for them.
fn summary(history: &History) -> Option<&str> {
    let text = history.folded()?;
    let text = text.strip_prefix(SUMMARY).unwrap_or(text);
    Some(text.split_once(END).map_or(text, |(summary, _)| summary))
}

//! Outputs of tools of which the model has read only a part, kept whole for `read_result`: in
//! memory, and within a bound, so that the oldest go. A restored session begins without any.

use alloc::{format, string::String, vec::Vec};
use innerloop_core::{
    action::{Outcome, ToolError},
    text::{counted, nth_char},
    tool::ResultQuery,
};
use innerloop_json::{IntoList, joined};

/// The number of bytes that are kept at most.
const MOST_BYTES: usize = 64 << 20;

/// The number of characters that are read where the model names no number, and the most that are.
const SOME: u64 = 10_000;
const MOST: u64 = 45_000;

/// The outputs that are kept, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct KeptResults {
    list: Vec<KeptResult>,
    bytes: usize,
}

#[derive(Debug)]
struct KeptResult {
    id: String,
    tool: String,
    text: String,
    chars: u64,
}

impl KeptResults {
    /// Keeps an output of a tool.
    pub(crate) fn keep(&mut self, id: &str, tool: &str, chars: u64, text: String) {
        if !cfg!(feature = "kept-results") {
            return;
        }
        self.bytes += text.len();
        self.list.push(KeptResult { id: id.into(), tool: tool.into(), text, chars });
        while self.bytes > MOST_BYTES && !self.list.is_empty() {
            self.bytes -= self.list.remove(0).text.len();
        }
    }

    /// Returns the answer to a question of the model.
    pub(crate) fn answer(&self, query: &ResultQuery) -> Outcome {
        if !cfg!(feature = "kept-results") {
            return Outcome::error(ToolError::NotFound, "This build keeps none.");
        }
        let Some(id) = &query.id else { return self.list(query.tool.as_deref()) };
        let Some(kept) = self.list.iter().find(|kept| kept.id == *id) else {
            let message = format!(
                "{id} is not kept: the oldest are dropped when there are many, and all of them \
                 when the session is restored. Run the tool again."
            );
            return Outcome::error(ToolError::NotFound, message);
        };
        let limit = if query.limit == 0 { SOME } else { query.limit.min(MOST) };
        let rest = skipped(&kept.text, query.offset);
        let left = skipped(rest, limit).len();
        let part = rest.get(..rest.len() - left).unwrap_or_default();
        let (from, to) = (query.offset.min(kept.chars), query.offset.saturating_add(limit));
        let (to, all) = (to.min(kept.chars), counted(kept.chars, "character"));
        Outcome::text(format!("[{id}: {from} to {to} of {all}]\n{part}"))
    }

    fn list(&self, tool: Option<&str>) -> Outcome {
        let wanted = self.list.iter().filter(|kept| tool.is_none_or(|tool| kept.tool == tool));
        let lines = wanted.map(|KeptResult { id, tool, chars, .. }| {
            format!("{id}: {tool}, {}", counted(*chars, "character"))
        });
        let lines: Vec<String> = lines.into_list();
        Outcome::text(if lines.is_empty() { "None is kept.".into() } else { joined(&lines, "\n") })
    }
}

/// Returns the text behind that many characters.
fn skipped(text: &str, chars: u64) -> &str {
    let chars = usize::try_from(chars).unwrap_or(usize::MAX);
    text.get(nth_char(text, chars)..).unwrap_or_default()
}

//! The items of a response's output as blocks of a reply: which are said, which are thought,
//! which the client must carry out, and which only the provider understands.

use super::{
    fields::{Field, fields, list, text, word},
    streamed::{Strand, Streamed},
};
use crate::{
    base::json::{Json, Object},
    types::message::{Block, CallDetail, MarkedText, Reasoning, ToolCall},
};
use alloc::{borrow::Cow, boxed::Box, collections::BTreeSet, string::String, vec::Vec};

/// An item, with what was streamed of it.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// Its JSON.
    pub(super) raw: &'a str,
    /// Whether that is the whole item.
    pub(super) is_done: bool,
    /// What came in pieces: it stands in where the item itself is empty.
    pub(super) streamed: &'a Streamed,
}

/// What the items of an output come to.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) blocks: Vec<Block>,
    pub(super) refusal: String,
    /// A call is not whole.
    pub(super) is_cut: bool,
}

impl Output {
    /// Reads the items, in order.
    pub(super) fn of(items: &[Item<'_>]) -> Self {
        let heads: Vec<Head<'_>> = items.iter().map(|item| Head::of(item.raw)).collect();
        let answers = heads.iter().filter(|head| head.is_output() && !head.call_id.is_empty());
        let answered: BTreeSet<&str> = answers.map(|head| &*head.call_id).collect();
        let mut output = Self::default();
        for (item, head) in items.iter().zip(&heads) {
            let is_answered = answered.contains(&*head.call_id);
            output.push(item, head, is_answered);
        }
        output
    }

    /// Whether there is a call that the client must carry out.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
    }

    fn push(&mut self, item: &Item<'_>, head: &Head<'_>, is_answered: bool) {
        match &*head.kind {
            "message" => self.message(item),
            "reasoning" => self.blocks.push(Block::Reasoning(reasoning(item))),
            _ if head.is_ours() && !is_answered => {
                self.is_cut |= head.status == "incomplete" || !item.is_done;
                self.blocks.push(Block::ToolCall(call(item, head)));
            }
            // What is not whole would be refused when it is sent back.
            _ if !item.is_done => {}
            _ => self.blocks.extend(Json::parse(item.raw).ok().map(Block::Opaque)),
        }
    }

    fn message(&mut self, item: &Item<'_>) {
        let (mut said, mut refused) = said(item.raw);
        if said.is_empty() && refused.is_empty() {
            said = item.streamed.joined(Strand::Text);
            refused = item.streamed.joined(Strand::Refusal);
        }
        self.refusal.push_str(&refused);
        if said.is_empty() {
            return;
        }
        let phase = fields(item.raw, ["phase"]).map_or(None, |[phase]| text(phase));
        self.blocks.push(match phase.filter(|phase| !phase.is_empty()) {
            Some(phase) => Block::MarkedText(MarkedText { text: said, mark: phase.into_owned() }),
            None => Block::Text(said),
        });
    }
}

/// What tells one item from another.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) call_id: Cow<'a, str>,
    status: Cow<'a, str>,
    execution: Cow<'a, str>,
    environment: Field<'a>,
}

impl<'a> Head<'a> {
    /// Reads an item's JSON.
    pub(super) fn of(raw: &'a str) -> Self {
        const NAMES: [&str; 5] = ["type", "call_id", "status", "execution", "environment"];
        let Ok([kind, call_id, status, execution, environment]) = fields(raw, NAMES) else {
            return Self::default();
        };
        Self {
            kind: word(kind),
            call_id: word(call_id),
            status: word(status),
            execution: word(execution),
            environment,
        }
    }

    /// Whether the item answers a call: the provider carried that out itself.
    fn is_output(&self) -> bool {
        self.kind.ends_with("_output")
    }

    /// Whether the item is a call that the client must carry out, unless an output follows.
    fn is_ours(&self) -> bool {
        match &*self.kind {
            "function_call" | "local_shell_call" | "apply_patch_call" | "computer_call" => true,
            // xAI shows the searches that it makes itself as custom calls with such ids.
            "custom_tool_call" => !self.call_id.starts_with("xs_"),
            "shell_call" => {
                let kind = self.environment.map(|environment| environment.get());
                let kind = kind.and_then(|raw| fields(raw, ["type"]).ok());
                !kind.is_some_and(|[kind]| word(kind).starts_with("container"))
            }
            "tool_search_call" => self.execution == "client",
            _ => false,
        }
    }
}

/// A message's text and its refusal, its parts joined.
fn said(raw: &str) -> (String, String) {
    let (mut said, mut refused) = (String::new(), String::new());
    let Ok([content]) = fields(raw, ["content"]) else { return (said, refused) };
    let Some(parts) = list(content) else {
        return (word(content).into_owned(), refused);
    };
    for part in parts {
        let Ok([kind, body, refusal]) = fields(part.get(), ["type", "text", "refusal"]) else {
            continue;
        };
        match &*word(kind) {
            "output_text" | "text" => said.push_str(&word(body)),
            "refusal" => refused.push_str(&word(refusal)),
            _ => {}
        }
    }
    (said, refused)
}

/// The texts of an item's summary, or of its content where there is no summary. They are joined
/// without a separator, as the stream's pieces are.
fn thought(raw: &str) -> String {
    let Ok([summary, content]) = fields(raw, ["summary", "content"]) else {
        return String::new();
    };
    let summary = word(summary);
    if summary.is_empty() { word(content).into_owned() } else { summary.into_owned() }
}

/// What an item shows to people.
pub(super) fn shown(raw: &str) -> (Strand, String) {
    match &*Head::of(raw).kind {
        "message" => (Strand::Text, said(raw).0),
        "reasoning" => (Strand::Thought, thought(raw)),
        _ => (Strand::Arguments, String::new()),
    }
}

/// Thinking. The item itself goes back, with its encrypted content, so that no signature is kept
/// beside it. An item's id means nothing to a provider that was told not to store it.
fn reasoning(item: &Item<'_>) -> Reasoning {
    let mut thought = thought(item.raw);
    for strand in [Strand::Summary, Strand::Thought] {
        if thought.is_empty() {
            thought = item.streamed.joined(strand);
        }
    }
    // The encrypted content of an item that is only announced is not whole.
    let item = item.is_done.then(|| without(item.raw, &["id", "status"])).flatten();
    Reasoning { text: thought, signature: None, item }
}

/// An item without those fields and without the fields that are null.
fn without(raw: &str, names: &[&str]) -> Option<Json> {
    let mut object = serde_json::from_str::<Object>(raw).ok()?;
    object.0.retain(|(name, value)| !names.contains(&name.as_str()) && value.text() != "null");
    Some(object.to_json())
}

fn call(item: &Item<'_>, head: &Head<'_>) -> ToolCall {
    let read = fields(item.raw, ["id", "name", "arguments", "input", "namespace", "caller"]);
    let [id, name, arguments, input, namespace, caller] = read.unwrap_or_default();
    let id = if head.call_id.is_empty() { word(id) } else { Cow::Borrowed(&*head.call_id) };
    let streamed = || item.streamed.joined(Strand::Arguments);
    let or_streamed = |given: Option<Cow<'_, str>>| match given {
        Some(given) if !given.is_empty() => given.into_owned(),
        _ => streamed(),
    };
    let is_scoped = namespace.is_some() || caller.is_some();
    let scoped = || is_scoped.then(|| without(item.raw, &["id", "status"])).flatten();
    let (name, arguments, freeform, item) = match &*head.kind {
        "function_call" => {
            let given = text(arguments).or_else(|| Some(arguments?.get().into()));
            (word(name).into_owned(), or_streamed(given), false, scoped())
        }
        "custom_tool_call" => (word(name).into_owned(), or_streamed(text(input)), true, scoped()),
        kind => {
            let name = String::from(kind.strip_suffix("_call").unwrap_or(kind));
            let arguments = or_streamed(Some(order(item.raw)));
            (name, arguments, false, Json::parse(item.raw).ok())
        }
    };
    let is_blank = !freeform && arguments.trim().is_empty();
    let arguments = if is_blank { String::from("{}") } else { arguments };
    let detail = CallDetail { freeform, signature: None, item };
    let detail = (detail != CallDetail::default()).then(|| Box::new(detail));
    ToolCall { id: id.into_owned(), name, arguments, detail }
}

/// What a call of a tool that the provider knows by itself asks for.
fn order(raw: &str) -> Cow<'_, str> {
    let read = fields(raw, ["action", "operation", "arguments", "actions"]);
    let found = read.unwrap_or_default().into_iter().flatten().next();
    text(found).unwrap_or_else(|| found.map_or("", |found| found.get()).into())
}

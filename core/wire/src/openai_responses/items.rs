//! The items of a response's output as blocks of a reply: text, thinking, calls that the client
//! must carry out, and items that only the provider understands, which are kept whole.

use super::{
    super::{lenient::ValueRef, writer::rewritten},
    partial_items::{DeltaKind, StreamedItem},
};
use alloc::{
    borrow::Cow,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{IntoList, Map};
use innerloop_types::{
    json::Json,
    message::{Block, CallDetail, MarkedText, ReasoningBlock, ToolCall},
};

/// An item, with what was streamed of it.
#[derive(Debug)]
pub(super) struct OutputItem<'a> {
    /// Its JSON.
    pub(super) raw: ValueRef<'a>,
    /// True if that is the whole item, and not only its announcement.
    pub(super) is_done: bool,
    /// The pieces that have come of it: they stand in where the item itself is empty.
    pub(super) streamed: &'a StreamedItem,
}

/// The result of decoding the items of an output.
#[derive(Debug, Default)]
pub(super) struct DecodedOutput {
    pub(super) blocks: Vec<Block>,
    pub(super) refusal: String,
    /// True if a call is not whole.
    pub(super) is_cut: bool,
}

impl DecodedOutput {
    /// Reads the items, in order.
    pub(super) fn of(items: &[OutputItem<'_>]) -> Self {
        let heads: Vec<ItemHead<'_>> = items.iter().map(|item| ItemHead::of(item.raw)).into_list();
        // The provider lists its own tools' calls under the same types as ours. An output beside a
        // call shows that there is nothing left to do.
        let answers = heads.iter().filter(|head| head.is_output() && !head.call_id.is_empty());
        let answered: Map<()> = answers.map(|head| (head.call_id.to_string(), ())).collect();
        let mut output = Self::default();
        for (item, head) in items.iter().zip(&heads) {
            let is_answered = answered.contains_key(&head.call_id);
            output.push(item, head, is_answered);
        }
        output
    }

    /// Returns whether there is a call that the client must carry out.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
    }

    fn push(&mut self, item: &OutputItem<'_>, head: &ItemHead<'_>, is_answered: bool) {
        match &*head.kind {
            "message" => self.message(item),
            "reasoning" => self.blocks.push(Block::Reasoning(reasoning(item))),
            _ if head.is_ours() && !is_answered => {
                let is_whole = item.is_done || item.streamed.is_whole_call;
                self.is_cut |= head.status == "incomplete" || !is_whole;
                self.blocks.push(Block::ToolCall(call(item, head)));
            }
            // An item that is not whole would be refused when it is sent back.
            _ if !item.is_done => {}
            _ => self.blocks.extend(item.raw.to_json().map(Block::Opaque)),
        }
    }

    fn message(&mut self, item: &OutputItem<'_>) {
        let (mut said, mut refused) = said(item.raw);
        // The pieces stand in for an item that never came whole, or came empty.
        if said.is_empty() && refused.is_empty() {
            said = item.streamed.joined(DeltaKind::Text);
            refused = item.streamed.joined(DeltaKind::Refusal);
        }
        self.refusal.push_str(&refused);
        if said.is_empty() {
            return;
        }
        let phase = item.raw.field("phase").text();
        self.blocks.push(match phase.filter(|phase| !phase.is_empty()) {
            Some(phase) => Block::MarkedText(MarkedText { text: said, mark: phase.into_owned() }),
            None => Block::Text(said),
        });
    }
}

/// The fields that tell one item from another.
#[derive(Debug, Default)]
pub(super) struct ItemHead<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) call_id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    status: Cow<'a, str>,
    execution: Cow<'a, str>,
    environment: ValueRef<'a>,
}

impl<'a> ItemHead<'a> {
    /// Reads an item.
    pub(super) fn of(item: ValueRef<'a>) -> Self {
        const NAMES: [&str; 6] = ["type", "call_id", "name", "status", "execution", "environment"];
        let [kind, call_id, name, status, execution, environment] = item.fields(&NAMES);
        let word = |value: ValueRef<'a>| value.text().unwrap_or_default();
        Self {
            kind: word(kind),
            call_id: word(call_id),
            name: word(name),
            status: word(status),
            execution: word(execution),
            environment,
        }
    }

    /// Returns whether the item answers a call: the provider carried that out itself.
    fn is_output(&self) -> bool {
        self.kind.ends_with("_output")
    }

    /// Returns whether the item is a call that the client must carry out, unless an output follows.
    pub(super) fn is_ours(&self) -> bool {
        match &*self.kind {
            "function_call" | "local_shell_call" | "apply_patch_call" | "computer_call" => true,
            // xAI shows the searches that it makes itself as custom calls with such ids.
            "custom_tool_call" => !self.call_id.starts_with("xs_"),
            "shell_call" => {
                // A container is the provider's: it runs the commands there.
                let kind = self.environment.field("type").text();
                !kind.is_some_and(|kind| kind.starts_with("container"))
            }
            "tool_search_call" => self.execution == "client",
            _ => false,
        }
    }
}

/// Returns a message's text and its refusal, the parts joined.
fn said(item: ValueRef<'_>) -> (String, String) {
    let (mut said, mut refused) = (String::new(), String::new());
    let content = item.field("content");
    if !content.is_array() {
        return (content.text().unwrap_or_default().into_owned(), refused);
    }
    for part in content.elements() {
        let [kind, body, refusal] = part.fields(&["type", "text", "refusal"]);
        match kind.text().as_deref() {
            Some("output_text" | "text") => said.push_str(&body.text().unwrap_or_default()),
            Some("refusal") => refused.push_str(&refusal.text().unwrap_or_default()),
            _ => {}
        }
    }
    (said, refused)
}

/// Returns the texts of an item's summary, or of its content where there is no summary. They are
/// joined without a separator, as the stream's pieces are.
fn thought(item: ValueRef<'_>) -> String {
    let [summary, content] = item.fields(&["summary", "content"]);
    let summary = summary.text().filter(|summary| !summary.is_empty());
    summary.or_else(|| content.text()).unwrap_or_default().into_owned()
}

/// Returns the text of an item that people see, and its kind.
pub(super) fn shown(item: ValueRef<'_>) -> (DeltaKind, String) {
    match &*ItemHead::of(item).kind {
        "message" => (DeltaKind::Text, said(item).0),
        "reasoning" => (DeltaKind::Thought, thought(item)),
        _ => (DeltaKind::Arguments, String::new()),
    }
}

/// Returns thinking. The item itself goes back with its encrypted content, so that no signature is
/// kept beside it.
fn reasoning(item: &OutputItem<'_>) -> ReasoningBlock {
    let mut thought = thought(item.raw);
    for strand in [DeltaKind::Summary, DeltaKind::Thought] {
        if thought.is_empty() {
            thought = item.streamed.joined(strand);
        }
    }
    // The encrypted content of an item that was only announced may not be whole.
    let item = item.is_done.then(|| unstored(item.raw)).flatten();
    ReasoningBlock { text: thought, signature: None, item }
}

/// Returns an item without its id and status, which mean nothing to a provider that did not store
/// it, and without fields that are null.
fn unstored(item: ValueRef<'_>) -> Option<Json> {
    let keeps =
        |name: &str, value: ValueRef<'_>| !matches!(name, "id" | "status") && !value.is_null();
    rewritten(item, &keeps, Map::new())
}

fn call(item: &OutputItem<'_>, head: &ItemHead<'_>) -> ToolCall {
    const NAMES: [&str; 5] = ["id", "arguments", "input", "namespace", "caller"];
    let [id, arguments, input, namespace, caller] = item.raw.fields(&NAMES);
    let id = match &*head.call_id {
        "" => id.text().unwrap_or_default(),
        id => Cow::Borrowed(id),
    };
    let or_streamed = |given: Option<Cow<'_, str>>| match given {
        Some(given) if !given.is_empty() => given.into_owned(),
        _ => item.streamed.joined(DeltaKind::Arguments),
    };
    let name = || head.name.to_string();
    // A call within a namespace, or by a program of the model's, must say so when it goes back.
    let is_scoped = !namespace.or(caller).is_null();
    let scoped = || is_scoped.then(|| unstored(item.raw)).flatten();
    let (name, arguments, freeform, item) = match &*head.kind {
        "function_call" => {
            (name(), or_streamed(arguments.some().map(text_or_json)), false, scoped())
        }
        "custom_tool_call" => (name(), or_streamed(input.text()), true, scoped()),
        kind => {
            let name = String::from(kind.strip_suffix("_call").unwrap_or(kind));
            (name, or_streamed(order(item.raw)), false, item.raw.to_json())
        }
    };
    let is_blank = !freeform && arguments.trim().is_empty();
    let arguments = if is_blank { String::from("{}") } else { arguments };
    let detail = CallDetail { freeform, signature: None, item };
    let detail = (detail != CallDetail::default()).then(|| Box::new(detail));
    ToolCall { id: id.into_owned(), name, arguments, detail }
}

/// Returns the arguments that a call's item itself has.
pub(super) fn asked(item: ValueRef<'_>) -> Cow<'_, str> {
    let given = item.first_of("arguments|input").some().map(text_or_json);
    given.or_else(|| order(item)).unwrap_or_default()
}

/// Returns the arguments of a call of a tool that the provider defines.
fn order(item: ValueRef<'_>) -> Option<Cow<'_, str>> {
    let order = item.first_of("action|operation|arguments|actions");
    order.some().map(text_or_json)
}

/// Returns a value's text, or its JSON where it has none.
fn text_or_json(value: ValueRef<'_>) -> Cow<'_, str> {
    value.text().unwrap_or(Cow::Borrowed(value.json()))
}

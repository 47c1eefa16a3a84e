//! The encoder of a request's input items. A turn is written once. Reasoning items, phases and
//! unknown items go back as they came, and only to the provider that made them; the ids of items
//! that it did not store are left out. The thinking of other providers' models becomes text of the
//! assistant.

use super::super::{
    failed_result,
    head::RequestHead,
    ids::{sendable_id, sendable_name},
    lenient::JsonDocument,
    protocol::WirePrefix,
    writer::{JsonWriter, arguments_object, rewritten},
};
use alloc::string::String;
use innerloop_json::{Map, quoted};
use innerloop_types::{
    config::{EndpointCompat, ModelConfig, SystemRole, WireKind},
    json::Json,
    message::{
        Block, MarkedText, Part, ReasoningBlock, Reply, ToolCall, ToolResult, VisibleTurn,
        joined_text,
    },
    text::prefix,
};

/// The text before a picture's URL.
const IMAGE: &str = "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":";

/// The length of the longest id of a call, and of the longest cache key, that the provider takes.
const MAX_ID_BYTES: usize = 64;

/// The items written so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResponsesPrefix {
    out: JsonWriter,
    compat: EndpointCompat,
    /// True if the provider stores what it says, so that it knows its items by their ids.
    keeps_ids: bool,
    /// The last reply's calls that were sent under another id or not as a function's, by their own
    /// ids.
    open: Map<SentCall>,
}

/// A call as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SentCall {
    id: String,
    form: CallItemKind,
}

/// The kind of item that a call was sent as, so that its result is of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallItemKind {
    Function,
    Custom,
    LocalShell,
    Shell,
    ApplyPatch,
}

impl CallItemKind {
    /// Returns the kind of an item that goes back as it came; `None` where no text can be its
    /// result.
    fn of(item: &Json) -> Option<Self> {
        match &*JsonDocument::of(item.text()).root().field("type").text()? {
            "function_call" => Some(Self::Function),
            "custom_tool_call" => Some(Self::Custom),
            "local_shell_call" => Some(Self::LocalShell),
            "shell_call" => Some(Self::Shell),
            "apply_patch_call" => Some(Self::ApplyPatch),
            _ => None,
        }
    }
}

impl WirePrefix for ResponsesPrefix {
    fn new(model: &ModelConfig) -> Self {
        let mut compat = model.compat.clone();
        // A key that the host chose itself stands in the head.
        compat.prompt_cache_key &= !model.options.contains_key("prompt_cache_key");
        let stored = model.options.get("store").map(|store| store.text() != "false");
        let keeps_ids = stored.unwrap_or(!compat.store);
        Self { out: JsonWriter::new(), compat, keeps_ids, open: Map::new() }
    }

    fn push(&mut self, said: &VisibleTurn<'_>) {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => self.message("user", parts),
            VisibleTurn::System(text) => {
                let role = match self.compat.system_role {
                    SystemRole::System => "system",
                    SystemRole::Developer => "developer",
                };
                self.message(role, &[Part::text(*text)]);
            }
            VisibleTurn::ToolResults(results) => {
                for result in results.iter() {
                    self.result(result);
                }
            }
            VisibleTurn::Assistant(reply) => self.reply(reply),
        }
    }

    fn body(&self, head: &RequestHead, cache_key: &str) -> String {
        let size = head.before.len() + self.out.len() + head.after.len() + 128;
        let mut body = JsonWriter::with_capacity(size);
        body.raw(&head.before).raw(&self.out.0).raw("]");
        if self.compat.prompt_cache_key && !cache_key.is_empty() {
            body.raw(",\"prompt_cache_key\":").string(prefix(cache_key, MAX_ID_BYTES));
        }
        body.raw(&head.after);
        body.0
    }
}

impl ResponsesPrefix {
    fn message(&mut self, role: &str, parts: &[Part]) {
        if parts.iter().all(is_blank) {
            return;
        }
        let out = self.item("message");
        out.raw(",\"role\":").string(role).raw(",\"content\":[");
        out.parts(parts).raw("]}");
    }

    fn reply(&mut self, reply: &Reply) {
        let is_own = reply.wire == Some(WireKind::OpenaiResponses);
        self.open.clear();
        let mut blocks = reply.blocks.iter();
        while let Some(block) = blocks.next() {
            match block {
                Block::Text(text) => self.said("output_text", text, None),
                Block::MarkedText(MarkedText { text, mark }) => {
                    self.said("output_text", text, is_own.then_some(mark));
                }
                Block::Reasoning(reasoning) if is_own => {
                    // The provider refuses thinking without the item that it led to.
                    let leads_on = blocks.as_slice().iter().any(is_sent);
                    if let Some(item) = replayable(reasoning).filter(|_| leads_on) {
                        self.raw(item.text());
                    }
                }
                Block::Reasoning(reasoning) => self.said("output_text", &reasoning.text, None),
                Block::ToolCall(call) => self.call(call, is_own),
                Block::Opaque(item) if is_own => {
                    self.raw(sent_back(item, None, self.keeps_ids).text());
                }
                Block::Opaque(_) => {}
            }
        }
        if let Some(refusal) = &reply.refusal
            && reply.text().trim().is_empty()
        {
            self.said("refusal", refusal, None);
        }
    }

    /// Writes a message of the assistant with one part.
    fn said(&mut self, kind: &str, text: &str, phase: Option<&String>) {
        if text.trim().is_empty() {
            return;
        }
        let name = if kind == "refusal" { "refusal" } else { "text" };
        let out = self.item("message");
        out.raw(",\"role\":\"assistant\",\"content\":[{\"type\":").string(kind).raw(",");
        out.string(name).raw(":").string(text).raw("}]");
        if let Some(phase) = phase {
            out.raw(",\"phase\":").string(phase);
        }
        out.raw("}");
    }

    fn call(&mut self, call: &ToolCall, is_own: bool) {
        // The provider's own ids go back as they came.
        let id = match is_own {
            true => call.id.clone(),
            false => sendable_id(&call.id, MAX_ID_BYTES).into_owned(),
        };
        let item = call.detail.as_ref().and_then(|detail| detail.item.as_ref());
        let item = item.filter(|_| is_own && (!call.is_freeform() || self.compat.custom_tools));
        let form = if let Some((item, form)) =
            item.and_then(|item| Some((item, CallItemKind::of(item)?)))
        {
            self.raw(sent_back(item, Some(&id), self.keeps_ids).text());
            form
        } else if call.is_freeform() && self.compat.custom_tools {
            let out = self.item("custom_tool_call");
            out.raw(",\"call_id\":").string(&id).raw(",\"name\":");
            out.string(&sendable_name(&call.name)).raw(",\"input\":").string(&call.arguments);
            out.raw("}");
            CallItemKind::Custom
        } else {
            let arguments = arguments(call);
            let out = self.item("function_call");
            out.raw(",\"call_id\":").string(&id).raw(",\"name\":");
            out.string(&sendable_name(&call.name)).raw(",\"arguments\":").string(&arguments);
            out.raw("}");
            CallItemKind::Function
        };
        if id != call.id || form != CallItemKind::Function {
            self.open.insert(call.id.clone(), SentCall { id, form });
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let plain = || SentCall { id: result.call_id.clone(), form: CallItemKind::Function };
        let SentCall { id, form } = self.open.get(&result.call_id).cloned().unwrap_or_else(plain);
        // Of a failed result these two say so in a field, the others in their text.
        let is_marked = matches!(form, CallItemKind::Shell | CallItemKind::ApplyPatch);
        let parts = failed_result::parts(result, is_marked);
        let said = joined_text(&parts);
        let out = self.item(match form {
            CallItemKind::Function => "function_call_output",
            CallItemKind::Custom => "custom_tool_call_output",
            CallItemKind::LocalShell => "local_shell_call_output",
            CallItemKind::Shell => "shell_call_output",
            CallItemKind::ApplyPatch => "apply_patch_call_output",
        });
        out.raw(",\"call_id\":").string(&id);
        match form {
            CallItemKind::Function | CallItemKind::Custom => {
                out.raw(",\"output\":");
                if parts.iter().all(|part| part.as_text().is_some()) {
                    out.string(&said);
                } else {
                    out.raw("[").parts(&parts).raw("]");
                }
            }
            CallItemKind::LocalShell => {
                out.raw(",\"output\":").string(&said);
            }
            CallItemKind::Shell => {
                out.raw(",\"output\":[{\"stdout\":").string(&said).raw(",\"stderr\":\"\"");
                out.raw(",\"outcome\":{\"type\":\"exit\",\"exit_code\":");
                out.raw(if result.is_error { "1}}]" } else { "0}}]" });
            }
            CallItemKind::ApplyPatch => {
                let status = if result.is_error { "failed" } else { "completed" };
                out.raw(",\"status\":").string(status).raw(",\"output\":").string(&said);
            }
        }
        out.raw("}");
    }

    /// Writes an item as it is.
    fn raw(&mut self, item: &str) {
        self.separate().raw(item);
    }

    /// Begins an item of that type.
    fn item(&mut self, kind: &str) -> &mut JsonWriter {
        self.separate().raw("{\"type\":").string(kind)
    }

    fn separate(&mut self) -> &mut JsonWriter {
        let separator = if self.out.len() == 0 { "" } else { "," };
        self.out.raw(separator)
    }
}

fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}

/// Returns whether the block is sent back as an item that thinking may lead to.
fn is_sent(block: &Block) -> bool {
    match block {
        Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => !text.trim().is_empty(),
        Block::Reasoning(_) => false,
        Block::ToolCall(_) | Block::Opaque(_) => true,
    }
}

/// Returns the item of thinking, if the provider can use it: sealed, or in full. A summary alone is
/// for people.
fn replayable(reasoning: &ReasoningBlock) -> Option<&Json> {
    let item = reasoning.item.as_ref()?;
    let document = JsonDocument::of(item.text());
    let [sealed, content] = document.root().fields(&["encrypted_content", "content"]);
    let is_sealed = sealed.text().is_some_and(|sealed| !sealed.is_empty());
    (is_sealed || content.elements().next().is_some()).then_some(item)
}

/// Returns an item as it goes back: with that id of its call, since the loop gives calls with equal
/// ids new ones, and without its own id where the provider did not store it and would refuse the id
/// as unknown.
fn sent_back(item: &Json, call_id: Option<&str>, keeps_id: bool) -> Json {
    let document = JsonDocument::of(item.text());
    let with = call_id.map(|id| ("call_id".into(), quoted(id))).into_iter().collect();
    rewritten(document.root(), &|name, _| keeps_id || name != "id", with)
        .unwrap_or_else(|| item.clone())
}

/// Returns a call's arguments. Free text is the only argument where the endpoint has no custom
/// tools.
fn arguments(call: &ToolCall) -> String {
    if !call.is_freeform() {
        return String::from(arguments_object(call));
    }
    let mut out = JsonWriter::new();
    out.raw("{\"input\":").string(&call.arguments).raw("}");
    out.0
}

impl JsonWriter {
    /// Writes the parts of a message or of a result, without blank texts.
    fn parts(&mut self, parts: &[Part]) -> &mut Self {
        for (index, part) in parts.iter().filter(|part| !is_blank(part)).enumerate() {
            self.raw(if index == 0 { "" } else { "," });
            match part {
                Part::Text { text } => self.input_text(text),
                Part::Image { media_type, data } => {
                    self.raw(IMAGE).data_url(media_type, data).raw("}")
                }
                Part::ImageUrl { url } => self.raw(IMAGE).string(url).raw("}"),
                Part::File { media_type, name, data } => {
                    self.raw("{\"type\":\"input_file\",").file(media_type, name, data).raw("}")
                }
            };
        }
        self
    }

    fn input_text(&mut self, text: &str) -> &mut Self {
        self.raw("{\"type\":\"input_text\",\"text\":").string(text).raw("}")
    }
}

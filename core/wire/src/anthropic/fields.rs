//! The fields of a request and the blocks of its messages, each as JSON in the form that the
//! provider does not refuse.

use super::{
    super::{
        ids::{sendable_id, sendable_name},
        lenient::JsonDocument,
        writer::{JsonWriter, arguments_object},
    },
    thinking::{AnthropicThinking, thinking, tool_choice},
};
use innerloop_types::{
    json::Json,
    message::{Part, ToolCall, ToolResult},
    model::{ModelConfig, ToolChoice},
};

/// The length of the longest id that the provider takes for a call.
const MAX_ID_BYTES: usize = 64;

impl JsonWriter {
    /// Writes a text block without its closing brace.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.raw("{\"type\":\"text\",\"text\":").string(text)
    }

    /// Writes the fields about thinking, unless an option sets them.
    pub(super) fn thinking(&mut self, model: &ModelConfig) {
        let is_free = |name: &str| !model.options.contains_key(name);
        let said = thinking(model);
        if let AnthropicThinking::Effort(effort) | AnthropicThinking::Adaptive(effort) = said
            && is_free("output_config")
        {
            self.raw(",\"output_config\":{\"effort\":").string(effort).raw("}");
        }
        if !is_free("thinking") {
            return;
        }
        match said {
            AnthropicThinking::Unsaid | AnthropicThinking::Effort(_) => {}
            // Newer models leave the text of their thinking out unless it is asked for.
            AnthropicThinking::Adaptive(_) => {
                self.raw(",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}");
            }
            AnthropicThinking::Budget(tokens) => {
                self.raw(",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
                self.number(u64::from(tokens)).raw("}");
            }
            AnthropicThinking::Disabled => {
                self.raw(",\"thinking\":{\"type\":\"disabled\"}");
            }
        }
    }

    /// Writes whether the model must, may or must not call tools, where that is not the default.
    pub(super) fn tool_choice(&mut self, model: &ModelConfig) {
        let choice = tool_choice(model);
        let one_call = model.parallel_tool_calls == Some(false);
        if model.options.contains_key("tool_choice") || (*choice == ToolChoice::Auto && !one_call) {
            return;
        }
        self.raw(",\"tool_choice\":{\"type\":");
        match choice {
            ToolChoice::Auto => self.raw("\"auto\""),
            ToolChoice::None => self.raw("\"none\""),
            ToolChoice::Required => self.raw("\"any\""),
            ToolChoice::Tool(name) => self.raw("\"tool\",\"name\":").string(&sendable_name(name)),
        };
        if one_call && *choice != ToolChoice::None {
            self.raw(",\"disable_parallel_tool_use\":true");
        }
        self.raw("}");
    }

    /// Writes a part without its closing brace.
    pub(super) fn part(&mut self, part: &Part) {
        match part {
            Part::Text { text } => {
                self.text(text);
            }
            Part::Image { media_type, data } => {
                self.raw("{\"type\":\"image\",\"source\":").base64(media_type, data);
            }
            Part::ImageUrl { url } => {
                self.raw("{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":");
                self.string(url).raw("}");
            }
            Part::File { media_type, name, data } => {
                self.raw("{\"type\":\"document\",\"title\":").string(name);
                self.raw(",\"source\":").base64(media_type, data);
            }
        }
    }

    fn base64(&mut self, media_type: &str, data: &str) {
        self.raw("{\"type\":\"base64\",\"media_type\":").string(media_type);
        self.raw(",\"data\":").string(data).raw("}");
    }

    /// Writes a tool's result without its closing brace.
    pub(super) fn tool_result(&mut self, result: &ToolResult) {
        self.raw("{\"type\":\"tool_result\",\"tool_use_id\":");
        self.string(&sendable_id(&result.call_id, MAX_ID_BYTES));
        let is_text = result.parts.iter().all(|part| part.as_text().is_some());
        // The provider refuses an error with an image in it; there the text says `Error`, see
        // `failed_result`.
        if result.is_error && is_text {
            self.raw(",\"is_error\":true");
        }
        self.raw(",\"content\":");
        if let [Part::Text { text }] = result.parts.as_slice() {
            self.string(text);
            return;
        }
        self.raw("[");
        for (index, part) in result.parts.iter().filter(|part| !is_blank(part)).enumerate() {
            self.raw(if index == 0 { "" } else { "," });
            self.part(part);
            self.raw("}");
        }
        self.raw("]");
    }

    /// Writes a call.
    pub(super) fn tool_use(&mut self, call: &ToolCall) -> &mut Self {
        self.raw("{\"type\":\"tool_use\",\"id\":").string(&sendable_id(&call.id, MAX_ID_BYTES));
        self.raw(",\"name\":").string(&sendable_name(&call.name)).raw(",\"input\":");
        // A call's input must be an object; free text becomes its only field.
        if call.is_freeform() {
            return self.raw("{\"input\":").string(&call.arguments).raw("}}");
        }
        self.raw(arguments_object(call)).raw("}")
    }
}

/// Returns whether a part is a blank text, which the provider refuses.
pub(super) fn is_blank(part: &Part) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}

/// Returns whether the provider's own form of a call can go back in its place: it has the id under
/// which the call is sent, and an input that is an object.
pub(super) fn is_form_of(item: &Json, call: &ToolCall) -> bool {
    let item = JsonDocument::of(item.text());
    let [id, input] = item.root().fields(&["id", "input"]);
    input.is_object() && id.string() == Some(sendable_id(&call.id, MAX_ID_BYTES))
}

//! Messages in Anthropic's form, so that scripted conversations are short to write: content
//! blocks in, the events of a stream or a whole body out; the module `wires` gives the same
//! messages in the other providers' forms. The JSON is written by hand, since its bytes are
//! compared and another crate decides the order of keys in a JSON map.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

/// Characters of text, or of a call's arguments, in one delta.
const DELTA_CHARS: usize = 12;

/// The signature where a message names none.
pub(crate) const SIGNATURE: &str = "c2ln";

/// One reply of the model, as the provider would send it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub(crate) content: Vec<Block>,
    pub(crate) stop_reason: String,
    pub(crate) usage: Tokens,
    /// Characters in one delta.
    #[serde(skip, default = "delta_chars")]
    pub(crate) delta_chars: usize,
}

/// A part of a message.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// Text or thinking; of a free-form call, its input.
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    /// A call's arguments as they stream; they need not be JSON.
    #[serde(default = "no_arguments", deserialize_with = "json_text")]
    pub(crate) input: String,
    /// Thinking is signed.
    #[serde(skip, default = "is_signed")]
    pub(crate) signed: bool,
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Text,
    Thinking,
    ToolUse,
    /// A call whose arguments are free text, where the provider has such; its only argument
    /// elsewhere.
    Freeform,
    /// Something that only the provider understands.
    Note,
}

/// What a message cost.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tokens {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

const fn delta_chars() -> usize {
    DELTA_CHARS
}

const fn is_signed() -> bool {
    true
}

fn no_arguments() -> String {
    "{}".to_owned()
}

fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Box::<RawValue>::deserialize(deserializer)?.get().to_owned())
}

impl Message {
    /// A message that says `text` and ends the run.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let usage = Tokens { input_tokens: 100, output_tokens: 10 };
        let content = vec![Block { text: text.to_owned(), ..Block::new(Kind::Text) }];
        let stop_reason = "end_turn".to_owned();
        Self { content, stop_reason, usage, delta_chars: DELTA_CHARS }
    }

    /// The message with another count of tokens.
    #[must_use]
    pub const fn costing(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Tokens { input_tokens, output_tokens };
        self
    }

    /// A message that says nothing and calls one tool.
    #[must_use]
    pub fn call(id: &str, name: &str, input: &Value) -> Self {
        Self { content: Vec::new(), ..Self::text("") }.and_call(id, name, input)
    }

    /// With one more call.
    #[must_use]
    pub fn and_call(self, id: &str, name: &str, input: &Value) -> Self {
        self.and_raw_call(id, name, &input.to_string())
    }

    /// With one more call whose arguments are that JSON text.
    ///
    /// # Panics
    /// The arguments are not JSON.
    #[must_use]
    pub fn and_raw_call(mut self, id: &str, name: &str, input: &str) -> Self {
        let input = RawValue::from_string(input.to_owned()).expect("arguments in JSON");
        let (id, name, input) = (id.to_owned(), name.to_owned(), input.get().to_owned());
        self.content.push(Block { id, name, input, ..Block::new(Kind::ToolUse) });
        self.stop_reason("tool_use")
    }

    /// With one more call whose argument is free text.
    #[must_use]
    pub fn and_freeform_call(mut self, id: &str, name: &str, text: &str) -> Self {
        let (id, name, text) = (id.to_owned(), name.to_owned(), text.to_owned());
        let input = serde_json::json!({"input": text}).to_string();
        self.content.push(Block { id, name, text, input, ..Block::new(Kind::Freeform) });
        self.stop_reason("tool_use")
    }

    /// With that thinking before all else.
    #[must_use]
    pub fn thinking(mut self, thinking: &str) -> Self {
        self.content.insert(0, Block { text: thinking.to_owned(), ..Block::new(Kind::Thinking) });
        self
    }

    /// With that reason to end.
    #[must_use]
    pub fn stop_reason(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.stop_reason);
        self
    }

    /// The messages of a script: a JSON array of objects with `content`, `stop_reason` and
    /// `usage`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn script(text: &str) -> Result<Vec<Self>, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The whole body of an answer without streaming.
    #[must_use]
    pub fn body(&self) -> String {
        let content: Vec<String> = self.content.iter().map(Block::whole).collect();
        let usage = (self.usage.input_tokens, self.usage.output_tokens);
        envelope(&content.join(","), &quoted(&self.stop_reason), usage)
    }

    /// The stream, one server-sent event per item.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        let start = envelope("", "null", (self.usage.input_tokens, 1));
        let mut events = vec![event("message_start", &format!(r#""message":{start}"#))];
        for (index, block) in self.content.iter().enumerate() {
            events.extend(block.events(index, self.delta_chars));
        }
        let reason = quoted(&self.stop_reason);
        let delta = format!(r#""delta":{{"stop_reason":{reason},"stop_sequence":null}}"#);
        let usage = format!(r#""usage":{{"output_tokens":{}}}"#, self.usage.output_tokens);
        events.push(event("message_delta", &format!("{delta},{usage}")));
        events.push("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned());
        events
    }
}

impl Block {
    /// An empty one.
    pub(crate) fn new(kind: Kind) -> Self {
        let (id, name, text) = (String::new(), String::new(), String::new());
        Self { kind, text, id, name, input: no_arguments(), signed: true }
    }

    /// Whether this is a call.
    pub(crate) const fn is_call(&self) -> bool {
        matches!(self.kind, Kind::ToolUse | Kind::Freeform)
    }

    /// A call's arguments as JSON; as a string if they are not JSON.
    pub(crate) fn input_json(&self) -> String {
        match serde_json::from_str::<Value>(&self.input) {
            Ok(_) => self.input.clone(),
            Err(_) => quoted(&self.input),
        }
    }

    /// The provider's mark on thinking.
    pub(crate) const fn signature(&self) -> Option<&'static str> {
        if self.signed { Some(SIGNATURE) } else { None }
    }

    /// The block with `text` as its text or thinking, `input` as its call's arguments.
    fn json(&self, text: &str, signature: Option<&str>, input: &str) -> String {
        let (id, name, text) = (quoted(&self.id), quoted(&self.name), quoted(text));
        let signature = signature.map(|mark| format!(r#","signature":"{mark}""#));
        let signature = signature.unwrap_or_default();
        match self.kind {
            Kind::Text => format!(r#"{{"type":"text","text":{text}}}"#),
            Kind::Thinking => format!(r#"{{"type":"thinking","thinking":{text}{signature}}}"#),
            Kind::ToolUse | Kind::Freeform => {
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
            }
            Kind::Note => r#"{"type":"note","x":1}"#.to_owned(),
        }
    }

    fn whole(&self) -> String {
        self.json(&self.text, self.signature(), &self.input_json())
    }

    fn events(&self, index: usize, size: usize) -> Vec<String> {
        let (kind, field, text) = match self.kind {
            Kind::Text => ("text_delta", "text", self.text.as_str()),
            Kind::Thinking => ("thinking_delta", "thinking", self.text.as_str()),
            Kind::ToolUse | Kind::Freeform => ("input_json_delta", "partial_json", &*self.input),
            Kind::Note => ("", "", ""),
        };
        let mut deltas: Vec<String> = pieces(text, size)
            .map(|piece| format!(r#"{{"type":"{kind}","{field}":{}}}"#, quoted(&piece)))
            .collect();
        if let Some(mark) = self.signature().filter(|_| self.kind == Kind::Thinking) {
            deltas.push(format!(r#"{{"type":"signature_delta","signature":"{mark}"}}"#));
        }
        let at = format!(r#""index":{index}"#);
        let signature = self.signed.then_some("");
        let start = format!(r#"{at},"content_block":{}"#, self.json("", signature, "{}"));
        let mut events = vec![event("content_block_start", &start)];
        events.extend(
            deltas
                .into_iter()
                .map(|delta| event("content_block_delta", &format!(r#"{at},"delta":{delta}"#))),
        );
        events.push(event("content_block_stop", &at));
        events
    }
}

fn event(kind: &str, fields: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{fields}}}\n\n")
}

fn envelope(content: &str, stop_reason: &str, (input, output): (u64, u64)) -> String {
    let head = r#""id":"msg_01","type":"message","role":"assistant","model":"mock""#;
    let usage = format!(r#"{{"input_tokens":{input},"output_tokens":{output}}}"#);
    let stop = format!(r#""stop_reason":{stop_reason},"stop_sequence":null"#);
    format!(r#"{{{head},"content":[{content}],{stop},"usage":{usage}}}"#)
}

/// A text in pieces of so many characters.
pub(crate) fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> =
        chars.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An object as JSON: names with values that are JSON already.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", fields.join(","))
}

//! Messages in Anthropic's form, so that scripted conversations are short to write: content
//! blocks in, the events of a stream or a whole body out. The JSON is put together by hand: its
//! bytes are compared, and the order of a JSON map's keys is another crate's to choose.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Characters of text, or of a call's arguments, in one delta.
const DELTA_CHARS: usize = 12;

/// One reply of the model, as the provider would send it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    content: Vec<Block>,
    stop_reason: String,
    usage: Tokens,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    text: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Thinking,
    ToolUse,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
}

impl Message {
    /// A message that says `text` and ends the run.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let usage = Tokens { input_tokens: 100, output_tokens: 10 };
        let content = vec![Block { text: text.to_owned(), ..Block::new(Kind::Text) }];
        Self { content, stop_reason: "end_turn".to_owned(), usage }
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
    /// The arguments are no JSON.
    #[must_use]
    pub fn and_raw_call(mut self, id: &str, name: &str, input: &str) -> Self {
        let input = Some(RawValue::from_string(input.to_owned()).expect("arguments in JSON"));
        let (id, name) = (id.to_owned(), name.to_owned());
        self.content.push(Block { id, name, input, ..Block::new(Kind::ToolUse) });
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
            events.extend(block.events(index));
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
    const fn new(kind: Kind) -> Self {
        Self { kind, text: String::new(), id: String::new(), name: String::new(), input: None }
    }

    fn input(&self) -> &str {
        self.input.as_ref().map_or("{}", |input| input.get())
    }

    /// The block with `text` as its text or thinking, `input` as its call's arguments.
    fn json(&self, text: &str, signature: &str, input: &str) -> String {
        let (id, name, text) = (quoted(&self.id), quoted(&self.name), quoted(text));
        match self.kind {
            Kind::Text => format!(r#"{{"type":"text","text":{text}}}"#),
            Kind::Thinking => {
                format!(r#"{{"type":"thinking","thinking":{text},"signature":"{signature}"}}"#)
            }
            Kind::ToolUse => {
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
            }
        }
    }

    fn whole(&self) -> String {
        self.json(&self.text, "c2ln", self.input())
    }

    fn events(&self, index: usize) -> Vec<String> {
        let (kind, field, text) = match self.kind {
            Kind::Text => ("text_delta", "text", self.text.as_str()),
            Kind::Thinking => ("thinking_delta", "thinking", self.text.as_str()),
            Kind::ToolUse => ("input_json_delta", "partial_json", self.input()),
        };
        let mut deltas: Vec<String> = pieces(text)
            .map(|piece| format!(r#"{{"type":"{kind}","{field}":{}}}"#, quoted(&piece)))
            .collect();
        if self.kind == Kind::Thinking {
            deltas.push(r#"{"type":"signature_delta","signature":"c2ln"}"#.to_owned());
        }
        let at = format!(r#""index":{index}"#);
        let start = format!(r#"{at},"content_block":{}"#, self.json("", "", "{}"));
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

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> =
        chars.chunks(DELTA_CHARS).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

//! The shape of a stream's chunk, and of a whole body, which differs only in `message` for
//! `delta`. Fields that no dialect here uses are not read.

use super::{
    lenient::{Content, Count, List, Map, Text},
    usage::Tokens,
};
use alloc::{borrow::Cow, boxed::Box};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Value, value::RawValue};

/// One chunk, or a whole body.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) object: Text<'a>,
    /// `None` where the field is missing or null.
    #[serde(borrow)]
    pub(super) choices: Option<List<Choice<'a>>>,
    pub(super) usage: Map<Tokens>,
    #[serde(borrow)]
    pub(super) x_groq: Map<Groq<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Text<'a>,
    #[serde(borrow)]
    pub(super) detail: Option<&'a RawValue>,
}

impl Chunk<'_> {
    /// Whether the chunk tells of an error. An empty `error` tells of none.
    pub(super) fn is_error(&self) -> bool {
        let says =
            |raw: &RawValue| !matches!(raw.get(), "null" | "false" | "0" | "\"\"" | "{}" | "[]");
        let bare = self.object.some() == Some("error")
            || (self.choices.is_none() && (self.message.some().is_some() || self.detail.is_some()));
        let stopped = self.x_groq.0.as_ref().is_some_and(|groq| groq.error.some().is_some());
        self.error.is_some_and(says) || bare || stopped
    }

    /// Whether the chunk holds pieces of calls.
    pub(super) fn has_calls(&self) -> bool {
        let has =
            |delta: &Delta<'_>| !delta.tool_calls.0.is_empty() || delta.function_call.0.is_some();
        let choices = self.choices.iter().flat_map(|choices| &choices.0);
        choices.filter_map(|choice| choice.delta.0.as_deref()).any(has)
    }
}

/// What Groq adds to a chunk.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Groq<'a> {
    pub(super) usage: Map<Tokens>,
    /// Why the stream stopped early.
    #[serde(borrow)]
    error: Text<'a>,
}

/// One of the answers asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) delta: Map<Box<Delta<'a>>>,
    #[serde(borrow)]
    pub(super) message: Map<Box<Delta<'a>>>,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
    /// Moonshot's place for it.
    pub(super) usage: Map<Tokens>,
    /// The answer of the completions protocol before this one.
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}

/// What is new, or the whole message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_text: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
    /// Groq's name for what the content is: `analysis` is thinking.
    #[serde(borrow)]
    pub(super) channel: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: List<Call<'a>>,
    #[serde(borrow)]
    pub(super) function_call: Map<Function<'a>>,
}

/// A part of a message's content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    /// Mistral: itself text or parts.
    #[serde(borrow)]
    pub(super) thinking: Content<'a, Thought<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
}

/// A part of a thinking part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Thought<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}

/// A call, or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    pub(super) index: Count,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Map<Function<'a>>,
    #[serde(borrow)]
    pub(super) custom: Map<Custom<'a>>,
    pub(super) extra_content: Map<Extra>,
}

impl Call<'_> {
    /// Whether it begins a call or adds to one.
    pub(super) fn says_something(&self) -> bool {
        let function = self.function.0.as_ref();
        function.is_some_and(|function| {
            function.name.some().is_some() || !function.arguments.is_empty()
        }) || self.custom.0.as_ref().is_some_and(|custom| !custom.is_empty())
    }
}

/// A function's name and arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    /// The arguments' JSON text: what the string holds, or the value itself where it is none.
    #[serde(borrow, deserialize_with = "json_text")]
    pub(super) arguments: Cow<'a, str>,
}

fn json_text<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'a, str>, D::Error> {
    let Some(raw) = Option::<&'de RawValue>::deserialize(deserializer)? else {
        return Ok(Cow::Borrowed(""));
    };
    if !raw.get().starts_with('"') {
        return Ok(Cow::Borrowed(raw.get()));
    }
    // A raw value may hold what no string can, such as half a surrogate pair.
    let text = serde_json::from_str::<Text<'de>>(raw.get()).map_err(D::Error::custom)?;
    Ok(text.0.unwrap_or_default())
}

/// A free-form call's name and input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Custom<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) input: Text<'a>,
}

impl Custom<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.name.some().is_none() && self.input.some().is_none()
    }
}

/// What Gemini adds to a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Extra {
    google: Map<Google>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Google {
    thought_signature: Option<Value>,
}

impl Extra {
    /// The signature that goes back on the same call.
    pub(super) fn signature(self) -> Option<alloc::string::String> {
        match self.google.0?.thought_signature? {
            Value::String(signature) if !signature.is_empty() => Some(signature),
            _ => None,
        }
    }
}

//! What is said: parts, blocks and turns, and how much it cost.

use crate::{
    base::{json::Json, time::UnixMillis},
    model::{ModelOrigin, WireKind},
};
use alloc::{borrow::Cow, boxed::Box, string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, ToJson, joined};

/// A piece of what a user or a tool says.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// The file's bytes in base64.
        data: String,
    },
    /// A picture that the provider fetches itself.
    ImageUrl {
        /// The URL of the picture.
        url: String,
    },
    /// A document, such as a PDF.
    File {
        /// For example `application/pdf`.
        media_type: String,
        /// Its name, which the model reads.
        name: String,
        /// The file's bytes in base64.
        data: String,
    },
}

impl Part {
    /// A text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text of a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// The texts of `parts`, joined by line feeds; all else is left out.
#[must_use]
pub fn joined_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    joined(&texts, "\n")
}

/// A call of a tool, as the model made it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolCall {
    /// The provider's id, echoed verbatim.
    pub id: String,
    /// The tool's name, whether or not such a tool exists.
    pub name: String,
    /// The arguments' JSON text as it came; `{}` where the model sent nothing. It may be invalid.
    /// Of a free-form call, its raw input.
    pub arguments: String,
    /// Further details that the provider gives of the call; most give none.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<CallDetail>>,
}

impl ToolCall {
    /// Returns whether the arguments are free text instead of JSON.
    #[must_use]
    pub fn is_freeform(&self) -> bool {
        self.detail.as_ref().is_some_and(|detail| detail.freeform)
    }
}

/// The id of a call that came without one: the `index`th block of the history's `turn`.
#[must_use]
pub fn made_up_call_id(turn: usize, index: usize) -> String {
    alloc::format!("call_{turn}_{index}")
}

/// Returns whether an id is one of [`made_up_call_id`]: the provider does not know it.
#[must_use]
pub fn is_made_up_call_id(id: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = id.strip_prefix("call_").and_then(|rest| rest.split_once('_'));
    numbers.is_some_and(|(turn, index)| is_number(turn) && is_number(index))
}

/// The details that a provider gives of a call besides its name and arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct CallDetail {
    /// True if the arguments are free text instead of JSON (OpenAI's custom tools).
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub freeform: bool,
    /// The provider's signature, sent back on the same call (Gemini).
    #[json(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider's own form of the call, sent back untouched in place of ours.
    #[json(skip_serializing_if = "Option::is_none")]
    pub item: Option<Json>,
}

/// The answer to one call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The content that the model reads, already truncated.
    pub parts: Vec<Part>,
    /// True if the call failed.
    pub is_error: bool,
}

/// Thinking, with what the provider needs to get back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct ReasoningBlock {
    /// The thinking itself, which may be empty.
    pub text: String,
    /// The provider's signature over it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider's own form of it, sent back untouched in place of text and signature.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Json>,
}

/// Text with what the provider needs back on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct MarkedText {
    /// The text, which may be empty.
    pub text: String,
    /// The provider's mark: a signature (Gemini), a phase (OpenAI Responses).
    pub mark: String,
}

/// A block of a reply, in the order in which the model sent it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// Text for the user that goes back with the provider's mark on it.
    MarkedText(MarkedText),
    /// Thinking.
    Reasoning(ReasoningBlock),
    /// A call that the host must carry out.
    ToolCall(ToolCall),
    /// A block that only the provider understands, sent back to it untouched.
    Opaque(Json),
}

/// The reason why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model wants tools to run.
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// A filter stopped the reply.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The provider paused and wants the reply sent back to go on.
    Pause,
    /// The context window was full.
    ContextWindow,
    /// The provider could not read the model's own call.
    MalformedToolCall,
    /// The provider reported a failure.
    Error,
    /// It repeated one passage over and over, and was ended for that.
    Repetition,
    /// None of these.
    #[default]
    Unknown,
}

/// Tokens of one reply or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct Usage {
    /// All input tokens, cached ones included.
    pub input_total: u64,
    /// All output tokens, reasoning included.
    pub output_total: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Output tokens spent on reasoning, where the provider says so.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another reply's tokens, saturating.
    pub fn add(&mut self, other: &Self) {
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n);
        add(&mut self.input_total, other.input_total);
        add(&mut self.output_total, other.output_total);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.reasoning, other.reasoning);
    }

    /// All tokens, in and out.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_total.saturating_add(self.output_total)
    }
}

/// A whole reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct Reply {
    /// The blocks that the model sent, in order.
    pub blocks: Vec<Block>,
    /// The reason why it ended.
    pub finish: FinishReason,
    /// The provider's own words on why the model refused.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The provider's explanation of an end that is neither a stop nor calls: its name for the
    /// reason, and its words.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tokens that it used; `None` if the provider did not say.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The protocol in which it came: what only its provider understands goes back to no other.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireKind>,
    /// The model and the endpoint that were asked for it: signatures and sealed thinking go back to
    /// no others. If they are not known, the protocol decides.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Arc<ModelOrigin>>,
    /// The provider's id of the response.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The model that answered, where the provider said so.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Reply {
    /// The reply's text, its blocks joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().fold(String::new(), |mut all, block| {
            match block {
                Block::Text(text) | Block::MarkedText(MarkedText { text, .. }) => {
                    all.push_str(text);
                }
                Block::Reasoning(_) | Block::ToolCall(_) | Block::Opaque(_) => {}
            }
            all
        })
    }

    /// The reply's thinking, its blocks joined.
    #[must_use]
    pub fn reasoning(&self) -> String {
        self.blocks.iter().fold(String::new(), |mut all, block| {
            if let Block::Reasoning(reasoning) = block {
                all.push_str(&reasoning.text);
            }
            all
        })
    }

    /// The calls that the host must carry out, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// One entry of the history (`docs/decisions.md#turns`).
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct Turn {
    /// The time at which it was appended.
    pub at: UnixMillis,
    /// The kind of turn, with its content.
    pub kind: TurnKind,
}

/// The kind of a turn, with its content: who said what.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum TurnKind {
    /// The user's input.
    User(Vec<Part>),
    /// The model's reply.
    Assistant(Box<Reply>),
    /// The answers to the calls of the reply before, in call order.
    ToolResults(Vec<ToolResult>),
    /// A word of the host to the model, given as the system.
    System(String),
    /// A message put in between tool rounds; the model reads it as the user's
    /// (`docs/decisions.md#steering-and-follow-ups`).
    Steering(Vec<Part>),
    /// Earlier turns are shown shorter from here on (`docs/decisions.md#the-view`).
    Folded(Box<HistoryFold>),
    /// Parts of earlier turns are told in words from here on, or are seen again
    /// (`docs/decisions.md#what-a-provider-refuses`).
    LeftOut(Box<LeftOut>),
    /// The model sees again what it saw when the log had `at` turns.
    Rewound {
        /// The number of turns that the log had.
        at: u32,
        /// The kind of rewind that the host asked for.
        why: RewindReason,
    },
}

impl TurnKind {
    /// Returns what the turn says; nothing if it only changes what is seen of others.
    #[must_use]
    pub fn said(&self) -> Option<VisibleTurn<'_>> {
        Some(match self {
            Self::User(parts) => VisibleTurn::User(Cow::Borrowed(parts)),
            Self::Assistant(reply) => VisibleTurn::Assistant(Cow::Borrowed(reply)),
            Self::ToolResults(results) => VisibleTurn::ToolResults(Cow::Borrowed(results)),
            Self::System(text) => VisibleTurn::System(text),
            Self::Steering(parts) => VisibleTurn::Steering(Cow::Borrowed(parts)),
            Self::Folded(_) | Self::LeftOut(_) | Self::Rewound { .. } => return None,
        })
    }

    /// The fold, if it is one.
    pub fn fold(&self) -> Option<&HistoryFold> {
        match self {
            Self::Folded(fold) => Some(fold),
            _ => None,
        }
    }
}

/// Parts that a provider refuses, or that are seen again since the fault was not theirs.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct LeftOut {
    /// Which parts, in order. With none, what is left out is the signatures and the sealed thinking
    /// of all replies before.
    pub parts: Vec<PartPlace>,
    /// The decision about these parts.
    pub how: LeftOutKind,
    /// The provider's own words.
    pub why: String,
}

/// The decision about parts that may be at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LeftOutKind {
    /// They are left out: the provider named them.
    Named,
    /// They are left out: they may be what was meant.
    Tried,
    /// They are seen again: without them the request was refused as well.
    PutBack,
}

/// The place of a part in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ToJson, FromJson)]
pub struct PartPlace {
    /// The turn.
    pub turn: u32,
    /// Which of its results, if it has such.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
    /// The part of it.
    pub part: u32,
}

/// The replacement for earlier turns. Turns are named by their place in the log, which keeps them
/// all.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct HistoryFold {
    /// Turns before this one go; 0 if none does.
    #[json(default)]
    pub upto: u32,
    /// Those of them that stay, in order.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<u32>,
    /// The results before this turn are shown in one line each.
    #[json(default)]
    pub stub_before: u32,
    /// The text that the model reads in place of the turns that went, after those of them that
    /// stay.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The way in which the turns are made shorter.
    pub kind: FoldKind,
    /// The approximate number of tokens that the model would have read without it.
    pub before: u64,
    /// The approximate number of tokens that the model reads with it.
    pub after: u64,
}

/// The way in which earlier turns are made shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum FoldKind {
    /// Results are left out; the calls stay.
    Stub,
    /// The host keeps them.
    Archive,
    /// A model has summed them up.
    Summary,
    /// They are left out.
    Truncate,
}

/// The reason why the model sees again what it saw before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum RewindReason {
    /// The newest steps are taken back.
    Undo,
    /// Steps that were taken back are put back.
    Redo,
    /// The host named a turn of the log.
    Restore,
    /// All is to be forgotten.
    Clear,
}

/// The part of a turn that the model sees, in the JSON form of [`TurnKind`].
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum VisibleTurn<'a> {
    /// The user's input.
    User(Cow<'a, [Part]>),
    /// The model's reply.
    Assistant(Cow<'a, Reply>),
    /// The answers to the calls of the reply before, in call order.
    ToolResults(Cow<'a, [ToolResult]>),
    /// A word of the host to the model, given as the system.
    System(&'a str),
    /// Another message that the model reads as the user's.
    Steering(Cow<'a, [Part]>),
}

impl VisibleTurn<'_> {
    /// The same without what only the maker of a reply understands: signatures and sealed thinking.
    pub fn unsigned(self) -> Self {
        match self {
            Self::Assistant(reply) => {
                Self::Assistant(Cow::Owned(Reply { wire: None, ..reply.into_owned() }))
            }
            said => said,
        }
    }
}

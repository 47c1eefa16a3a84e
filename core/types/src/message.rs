//! Messages: the parts, blocks and turns of a conversation, and the tokens that they used. The
//! history keeps turns; the wire encodes them, and the machine's view selects those that the model
//! sees.

use crate::{
    base::{json::Json, time::UnixMillis},
    model::{ModelOrigin, WireKind},
};
use alloc::{borrow::Cow, boxed::Box, string::String, sync::Arc, vec::Vec};
use innerloop_json::{FromJson, IntoList, ToJson, joined};

/// A part of a message from a user or a tool.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// A piece of plain text.
    Text {
        /// The text of the part.
        text: String,
    },
    /// A picture with its data.
    Image {
        /// The type, for example `image/png`.
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
        /// The type, for example `application/pdf`.
        media_type: String,
        /// The name of the file, which the model reads.
        name: String,
        /// The file's bytes in base64.
        data: String,
    },
}

impl Part {
    /// Creates a text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Returns the text of a text part; `None` for other parts.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// Returns the texts of `parts`, joined by line feeds; other parts are left out.
#[must_use]
pub fn joined_text(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).into_list();
    joined(&texts, "\n")
}

/// A call of a tool, as the model made it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolCall {
    /// The provider's id, echoed verbatim.
    pub id: String,
    /// The tool's name, whether or not such a tool exists.
    pub name: String,
    /// The unchanged JSON text of the arguments, which may be invalid; `{}` if the model sent
    /// nothing. For a free-form call, its raw input.
    // The text, not a value: it goes back to the provider in every later request, and must stay as
    // it was for the cached prefix, even if it does not parse.
    pub arguments: String,
    /// Further details of the call from the provider; most calls have none.
    #[json(default, skip_serializing_if = "Option::is_none")]
    // Boxed, since most calls have none and a history holds many of them.
    pub detail: Option<Box<CallDetail>>,
}

impl ToolCall {
    /// Returns whether the arguments are free text instead of JSON.
    #[must_use]
    pub fn is_freeform(&self) -> bool {
        self.detail.as_ref().is_some_and(|detail| detail.freeform)
    }
}

/// Returns an id for a call that came without one: the `index`th block of turn `turn` of the
/// history.
#[must_use]
pub fn made_up_call_id(turn: usize, index: usize) -> String {
    // Made of the place alone, with no counter and no chance: a replay and a fork must make the
    // same id.
    alloc::format!("call_{turn}_{index}")
}

/// Returns whether an id was made by [`made_up_call_id`], so that the provider does not know it.
#[must_use]
pub fn is_made_up_call_id(id: &str) -> bool {
    // Recognised by its form, since the id is all that a history keeps. Gemini gets an id back only
    // if it gave one, so that a made-up one must not be sent to it.
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = id.strip_prefix("call_").and_then(|rest| rest.split_once('_'));
    numbers.is_some_and(|(turn, index)| is_number(turn) && is_number(index))
}

/// The details of a call besides its name and arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default)]
pub struct CallDetail {
    /// True if the arguments are free text instead of JSON (OpenAI's custom tools).
    #[json(skip_serializing_if = "core::ops::Not::not")]
    pub freeform: bool,
    /// The provider's signature, sent back on the same call (Gemini).
    #[json(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider's own form of the call, sent back unchanged in place of ours.
    #[json(skip_serializing_if = "Option::is_none")]
    pub item: Option<Json>,
}

/// The result of one call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The content that the model reads, already truncated.
    pub parts: Vec<Part>,
    /// True if the call failed.
    pub is_error: bool,
}

/// Thinking, with the data that the provider needs back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct ReasoningBlock {
    /// The text of the thinking, which may be empty.
    pub text: String,
    /// The provider's signature over it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider's own form of it, sent back unchanged in place of text and signature.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Json>,
}

/// Text with a mark that the provider needs back.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct MarkedText {
    /// The text, which may be empty.
    // A mark on empty text is kept as well: Gemini's signature must go back on exactly the part
    // that it came with.
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
    /// Text for the user that is sent back to the provider with its mark.
    MarkedText(MarkedText),
    /// Thinking before the answer.
    Reasoning(ReasoningBlock),
    /// A call that the host must carry out.
    ToolCall(ToolCall),
    /// A block that only the provider understands, sent back to it unchanged.
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
    /// The model refused to answer.
    Refusal,
    /// The provider paused and needs the reply sent back to go on.
    Pause,
    /// The context window was full.
    ContextWindow,
    /// The provider could not read the model's own call.
    MalformedToolCall,
    /// The provider reported a failure.
    Error,
    /// The reply repeated one passage over and over, and was ended for that.
    Repetition,
    /// The provider gave no reason, or an unknown one.
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
    /// Output tokens spent on reasoning, if the provider reports them.
    pub reasoning: u64,
}

impl Usage {
    /// Adds another reply's tokens, saturating.
    pub fn add(&mut self, other: &Self) {
        // The counts are the provider's word: a server that sends nonsense must not cause an
        // overflow.
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n);
        add(&mut self.input_total, other.input_total);
        add(&mut self.output_total, other.output_total);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.reasoning, other.reasoning);
    }

    /// Returns the number of all tokens, in and out.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        // Cached and reasoning tokens are parts of these two.
        self.input_total.saturating_add(self.output_total)
    }
}

/// A complete reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct Reply {
    /// The blocks that the model sent, in order.
    pub blocks: Vec<Block>,
    /// The reason why it ended.
    pub finish: FinishReason,
    /// The provider's own explanation of the model's refusal.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The provider's explanation of an end that is neither a stop nor calls: its name for the
    /// reason, and its message.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tokens that it used; `None` if the provider did not report them.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The protocol in which it came: items that only its provider understands are not sent back in
    /// another one.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireKind>,
    /// The model and the endpoint that produced it: signatures and encrypted thinking are sent back
    /// to no others. If they are not known, the protocol decides.
    #[json(default, skip_serializing_if = "Option::is_none")]
    // Another model refuses foreign signatures in this request and in every later one, so that one
    // wrong block would end the conversation.
    pub origin: Option<Arc<ModelOrigin>>,
    /// The provider's id of the response.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The model that answered, if the provider reported it.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Reply {
    /// Returns the reply's text: its text blocks joined.
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

    /// Returns the reply's thinking: its reasoning blocks joined.
    #[must_use]
    pub fn reasoning(&self) -> String {
        self.blocks.iter().fold(String::new(), |mut all, block| {
            if let Block::Reasoning(reasoning) = block {
                all.push_str(&reasoning.text);
            }
            all
        })
    }

    /// Iterates over the calls, in order.
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

/// The kind of a turn, which says whose it is, with its content.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum TurnKind {
    /// An input of the user.
    User(Vec<Part>),
    /// A reply of the model.
    Assistant(Box<Reply>),
    /// The results of the calls of the reply before, in call order.
    ToolResults(Vec<ToolResult>),
    /// A message of the host to the model, in the system's name.
    System(String),
    /// A message inserted between tool rounds; the model reads it as the user's
    /// (`docs/decisions.md#steering-and-follow-ups`).
    Steering(Vec<Part>),
    /// Earlier turns are shown in a shorter form from here on (`docs/decisions.md#the-view`).
    // An entry of its own instead of a change of earlier ones: the history only grows, so that a
    // fold can be undone and a fork at any turn finds what was seen there.
    Folded(Box<HistoryFold>),
    /// Parts of earlier turns are replaced by a text from here on, or are shown again
    /// (`docs/decisions.md#what-a-provider-refuses`).
    LeftOut(Box<LeftOut>),
    /// The model's view of the time when the log had `at` turns is restored.
    Rewound {
        /// The number of turns in the log at that time.
        at: u32,
        /// The kind of rewind that the host asked for.
        why: RewindReason,
    },
}

impl TurnKind {
    /// Returns the part of the turn that the model sees; `None` if the turn only changes the view
    /// of others.
    #[must_use]
    pub fn said(&self) -> Option<VisibleTurn<'_>> {
        Some(match self {
            Self::User(parts) => VisibleTurn::User(Cow::Borrowed(parts)),
            Self::Assistant(reply) => VisibleTurn::Assistant(Cow::Borrowed(reply)),
            Self::ToolResults(results) => VisibleTurn::ToolResults(Cow::Borrowed(results)),
            Self::System(text) => VisibleTurn::System(text),
            Self::Steering(parts) => VisibleTurn::Steering(Cow::Borrowed(parts)),
            // No wildcard: a new kind of turn must say whether the model sees it.
            Self::Folded(_) | Self::LeftOut(_) | Self::Rewound { .. } => return None,
        })
    }

    /// Returns the fold, if the turn is one.
    pub fn fold(&self) -> Option<&HistoryFold> {
        match self {
            Self::Folded(fold) => Some(fold),
            _ => None,
        }
    }
}

/// Parts that a provider refuses, or that are shown again because they were not the cause.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct LeftOut {
    /// The parts, in order. An empty list means the signatures and the encrypted thinking of all
    /// earlier replies.
    pub parts: Vec<PartPlace>,
    /// The decision about these parts.
    pub how: LeftOutKind,
    /// The provider's own message.
    pub why: String,
}

/// The decision about parts that may have caused a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum LeftOutKind {
    /// They are left out, because the provider named them.
    Named,
    /// They are left out as a guess.
    Tried,
    /// They are shown again: without them the request was refused as well.
    PutBack,
}

/// The position of a part in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ToJson, FromJson)]
pub struct PartPlace {
    /// The position of the turn.
    pub turn: u32,
    /// The result within the turn, if the turn consists of results.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
    /// The part within the turn or result.
    pub part: u32,
}

/// The replacement for earlier turns. Turns are named by their position in the log, which keeps all
/// of them.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
pub struct HistoryFold {
    /// The position of the first turn that is kept; 0 if no turn is left out.
    #[json(default)]
    pub upto: u32,
    /// The positions of earlier turns that are kept nevertheless and whole, in order.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<u32>,
    /// The position of the turn before which each result is shown as one line.
    #[json(default)]
    pub stub_before: u32,
    /// The text that replaces the turns that are left out, after the earlier inputs that are kept.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The way in which the turns are shortened.
    pub kind: FoldKind,
    /// The approximate number of tokens that the model would have read without it.
    pub before: u64,
    /// The approximate number of tokens that the model reads with it.
    pub after: u64,
}

/// The way in which earlier turns are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum FoldKind {
    /// Results are left out; the calls stay.
    Stub,
    /// The host stores the turns.
    Archive,
    /// A model has summarised them.
    Summary,
    /// They are left out.
    Truncate,
}

/// The reason why an earlier view is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum RewindReason {
    /// The newest steps are undone.
    Undo,
    /// Steps that were undone are redone.
    Redo,
    /// The host named a turn of the log.
    Restore,
    /// The host cleared the conversation.
    Clear,
}

/// The part of a turn that the model sees, in the JSON form of [`TurnKind`].
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(rename_all = "snake_case")]
pub enum VisibleTurn<'a> {
    /// An input of the user.
    User(Cow<'a, [Part]>),
    /// A reply of the model.
    Assistant(Cow<'a, Reply>),
    /// The results of the calls of the reply before, in call order.
    ToolResults(Cow<'a, [ToolResult]>),
    /// A message of the host to the model, in the system's name.
    System(&'a str),
    /// Another message that the model reads as the user's.
    Steering(Cow<'a, [Part]>),
}

impl VisibleTurn<'_> {
    /// Returns the same turn without the data that only the reply's provider understands:
    /// signatures and encrypted thinking.
    pub fn unsigned(self) -> Self {
        match self {
            Self::Assistant(reply) => {
                // Without its protocol a reply is encoded like that of another provider, in every
                // protocol: one rule for what goes back, instead of one for each kind of block.
                Self::Assistant(Cow::Owned(Reply { wire: None, ..reply.into_owned() }))
            }
            said => said,
        }
    }
}

//! The shape of a stream's chunk, and of a whole body, which only has `message` in place of
//! `delta`. Fields that no known dialect uses are not read.

use super::super::lenient::ValueRef;

/// One chunk, or a whole body.
#[derive(Debug)]
pub(super) struct ChatChunk<'a> {
    pub(super) id: ValueRef<'a>,
    pub(super) model: ValueRef<'a>,
    object: ValueRef<'a>,
    pub(super) choices: ValueRef<'a>,
    pub(super) usage: ValueRef<'a>,
    /// The field that Groq adds.
    pub(super) groq: ValueRef<'a>,
    pub(super) error: ValueRef<'a>,
    message: ValueRef<'a>,
    detail: ValueRef<'a>,
    /// The field that MiniMax adds.
    status: ValueRef<'a>,
}

/// One of the answers asked for.
#[derive(Debug)]
pub(super) struct ChatChoice<'a> {
    pub(super) index: ValueRef<'a>,
    pub(super) delta: ValueRef<'a>,
    pub(super) message: ValueRef<'a>,
    pub(super) finish_reason: ValueRef<'a>,
    /// The finish reason in the words of the provider behind OpenRouter.
    pub(super) native_reason: ValueRef<'a>,
    /// The token counts, which Moonshot puts here.
    pub(super) usage: ValueRef<'a>,
    /// The text, in the completions protocol that came before this one.
    pub(super) text: ValueRef<'a>,
    /// The error of a provider behind OpenRouter.
    error: ValueRef<'a>,
    all: ValueRef<'a>,
}

/// The new part of a message, or the whole message.
#[derive(Debug)]
pub(super) struct ChatDelta<'a> {
    pub(super) content: ValueRef<'a>,
    /// The fields for thinking. The same thinking may stand in several of them.
    pub(super) reasoning: [ValueRef<'a>; 3],
    pub(super) reasoning_details: ValueRef<'a>,
    pub(super) refusal: ValueRef<'a>,
    /// Groq's name for what the content is: `analysis` is thinking.
    pub(super) channel: ValueRef<'a>,
    pub(super) tool_calls: ValueRef<'a>,
    pub(super) function_call: ValueRef<'a>,
}

/// A call, or a piece of one.
#[derive(Debug)]
pub(super) struct ChatCall<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: ValueRef<'a>,
    pub(super) name: ValueRef<'a>,
    pub(super) arguments: ValueRef<'a>,
    pub(super) is_freeform: bool,
    /// Gemini's signature, which goes back on the same call.
    pub(super) signature: ValueRef<'a>,
}

impl<'a> ChatChunk<'a> {
    /// Reads a chunk.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 10] = [
            "id",
            "model",
            "object",
            "choices",
            "usage",
            "x_groq",
            "error",
            "message",
            "detail",
            "base_resp",
        ];
        let [id, model, object, choices, usage, groq, error, message, detail, status] =
            raw.fields(&NAMES);
        Self { id, model, object, choices, usage, groq, error, message, detail, status }
    }

    /// Returns whether the chunk reports an error beside its answers. An empty `error`, as some
    /// servers send with each chunk, reports none.
    pub(super) fn is_error(&self) -> bool {
        let is_bare = self.object.string().as_deref() == Some("error")
            || (self.choices.is_null()
                && (self.message.word().is_some() || !self.detail.is_null()));
        // MiniMax sends its status with each answer; 0 means that all is well.
        let has_failed = self.status.count_of("status_code").is_some_and(|code| code != 0);
        says(self.error) || is_bare || has_failed || self.groq.field("error").word().is_some()
    }

    /// Returns the first answer that has an error in it.
    pub(super) fn broken_choice(&self) -> Option<ValueRef<'a>> {
        self.choices().find(|choice| says(choice.error)).map(|choice| choice.all)
    }

    /// Returns the answers.
    pub(super) fn choices(&self) -> impl Iterator<Item = ChatChoice<'a>> {
        self.choices.objects().map(ChatChoice::of)
    }
}

/// Returns whether an `error` says that there is one.
fn says(error: ValueRef<'_>) -> bool {
    !matches!(error.json(), "null" | "false" | "0" | "\"\"" | "{}" | "[]")
}

impl<'a> ChatChoice<'a> {
    fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 8] = [
            "index",
            "delta",
            "message",
            "finish_reason",
            "native_finish_reason",
            "usage",
            "text",
            "error",
        ];
        let [index, delta, message, finish_reason, native_reason, usage, text, error] =
            raw.fields(&NAMES);
        let all = raw;
        Self { index, delta, message, finish_reason, native_reason, usage, text, error, all }
    }

    /// Returns whether the choice adds to the answer.
    pub(super) fn says_something(&self) -> bool {
        let [content, calls, thought, other] =
            self.delta.fields(&["content", "tool_calls", "reasoning_content", "reasoning"]);
        let says = |value: ValueRef<'_>| !matches!(value.json(), "null" | "\"\"" | "[]" | "{}");
        [content, calls, thought, other].into_iter().any(says)
    }
}

impl<'a> ChatDelta<'a> {
    /// Reads a delta or a message.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 9] = [
            "content",
            "reasoning_content",
            "reasoning",
            "reasoning_text",
            "reasoning_details",
            "refusal",
            "channel",
            "tool_calls",
            "function_call",
        ];
        let [content, reasoning @ .., details, refusal, channel, tool_calls, function_call] =
            raw.fields(&NAMES);
        Self {
            content,
            reasoning,
            reasoning_details: details,
            refusal,
            channel,
            tool_calls,
            function_call,
        }
    }
}

impl<'a> ChatCall<'a> {
    /// Reads a call of the field `tool_calls`.
    pub(super) fn of(raw: ValueRef<'a>) -> Self {
        const NAMES: [&str; 6] = ["index", "id", "type", "function", "custom", "extra_content"];
        let [index, id, kind, function, custom, extra] = raw.fields(&NAMES);
        let [custom_name, input] = custom.fields(&["name", "input"]);
        // Snowflake puts an empty `custom` beside each function.
        let is_custom = custom_name.word().is_some() || input.word().is_some();
        let [name, arguments] = match is_custom {
            true => [custom_name, input],
            false => function.fields(&["name", "arguments"]),
        };
        Self {
            index: index.count(),
            id,
            name,
            arguments,
            is_freeform: is_custom || kind.string().as_deref() == Some("custom"),
            signature: extra.field("google").field("thought_signature"),
        }
    }

    /// Reads the older field `function_call`.
    pub(super) fn of_function(raw: ValueRef<'a>) -> Self {
        let [name, arguments] = raw.fields(&["name", "arguments"]);
        let (id, signature) = (ValueRef::default(), ValueRef::default());
        Self { index: None, id, name, arguments, is_freeform: false, signature }
    }

    /// Returns whether the piece begins a call or adds to one.
    pub(super) fn says_something(&self) -> bool {
        self.name.word().is_some() || !matches!(self.arguments.json(), "null" | "\"\"")
    }
}

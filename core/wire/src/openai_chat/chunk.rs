//! The shape of a stream's chunk, and of a whole body, which differs only in `message` for
//! `delta`. Fields that no dialect here uses are not read.

use super::super::lenient::Raw;

/// One chunk, or a whole body.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) id: Raw<'a>,
    pub(super) model: Raw<'a>,
    object: Raw<'a>,
    pub(super) choices: Raw<'a>,
    pub(super) usage: Raw<'a>,
    /// What Groq adds.
    pub(super) groq: Raw<'a>,
    pub(super) error: Raw<'a>,
    message: Raw<'a>,
    detail: Raw<'a>,
    /// What MiniMax adds.
    status: Raw<'a>,
}

/// One of the answers asked for.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) index: Raw<'a>,
    pub(super) delta: Raw<'a>,
    pub(super) message: Raw<'a>,
    pub(super) finish_reason: Raw<'a>,
    /// What the provider behind OpenRouter calls it.
    pub(super) native_reason: Raw<'a>,
    /// Moonshot's place for it.
    pub(super) usage: Raw<'a>,
    /// The answer of the completions protocol before this one.
    pub(super) text: Raw<'a>,
    /// What has gone wrong at a provider behind OpenRouter.
    error: Raw<'a>,
    all: Raw<'a>,
}

/// What is new, or the whole message.
#[derive(Debug)]
pub(super) struct Delta<'a> {
    pub(super) content: Raw<'a>,
    /// The same thinking may stand in several fields.
    pub(super) reasoning: [Raw<'a>; 3],
    pub(super) reasoning_details: Raw<'a>,
    pub(super) refusal: Raw<'a>,
    /// Groq's name for what the content is: `analysis` is thinking.
    pub(super) channel: Raw<'a>,
    pub(super) tool_calls: Raw<'a>,
    pub(super) function_call: Raw<'a>,
}

/// A call, or a piece of one.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Raw<'a>,
    pub(super) name: Raw<'a>,
    pub(super) arguments: Raw<'a>,
    pub(super) is_freeform: bool,
    /// Gemini's signature, which goes back on the same call.
    pub(super) signature: Raw<'a>,
}

impl<'a> Chunk<'a> {
    /// Reads a chunk.
    pub(super) fn of(raw: Raw<'a>) -> Self {
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

    /// Whether the chunk reports an error beside its answers. An empty `error` reports none.
    pub(super) fn is_error(&self) -> bool {
        let is_bare = self.object.string().as_deref() == Some("error")
            || (self.choices.is_null()
                && (self.message.word().is_some() || !self.detail.is_null()));
        // MiniMax says with each answer that all is well.
        let has_failed = self.status.count_of("status_code").is_some_and(|code| code != 0);
        says(self.error) || is_bare || has_failed || self.groq.field("error").word().is_some()
    }

    /// The first answer that has an error in it.
    pub(super) fn broken_choice(&self) -> Option<Raw<'a>> {
        self.choices().find(|choice| says(choice.error)).map(|choice| choice.all)
    }

    /// The answers.
    pub(super) fn choices(&self) -> impl Iterator<Item = Choice<'a>> {
        self.choices.objects().map(Choice::of)
    }
}

/// Whether an `error` says that there is one.
fn says(error: Raw<'_>) -> bool {
    !matches!(error.json(), "null" | "false" | "0" | "\"\"" | "{}" | "[]")
}

impl<'a> Choice<'a> {
    fn of(raw: Raw<'a>) -> Self {
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

    /// Whether it adds to the answer.
    pub(super) fn says_something(&self) -> bool {
        let [content, calls, thought, other] =
            self.delta.fields(&["content", "tool_calls", "reasoning_content", "reasoning"]);
        let says = |value: Raw<'_>| !matches!(value.json(), "null" | "\"\"" | "[]" | "{}");
        [content, calls, thought, other].into_iter().any(says)
    }
}

impl<'a> Delta<'a> {
    /// Reads a delta or a message.
    pub(super) fn of(raw: Raw<'a>) -> Self {
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

impl<'a> Call<'a> {
    /// Reads a call of the field `tool_calls`.
    pub(super) fn of(raw: Raw<'a>) -> Self {
        const NAMES: [&str; 6] = ["index", "id", "type", "function", "custom", "extra_content"];
        let [index, id, kind, function, custom, extra] = raw.fields(&NAMES);
        let [custom_name, input] = custom.fields(&["name", "input"]);
        // Snowflake puts an empty one beside each function.
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
    pub(super) fn of_function(raw: Raw<'a>) -> Self {
        let [name, arguments] = raw.fields(&["name", "arguments"]);
        let (id, signature) = (Raw::default(), Raw::default());
        Self { index: None, id, name, arguments, is_freeform: false, signature }
    }

    /// Whether it begins a call or adds to one.
    pub(super) fn says_something(&self) -> bool {
        self.name.word().is_some() || !matches!(self.arguments.json(), "null" | "\"\"")
    }
}

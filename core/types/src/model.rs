//! Settings of the model that a session talks to: its protocol, its family, its price, and its
//! endpoint's deviations from the protocol. They are data only; the wire reads them.

use crate::base::{
    id::EndpointId,
    json::{Json, JsonObject, from_str},
};
use alloc::{string::String, vec::Vec};
use innerloop_json::{FromJson, Map, ToJson, quoted};

/// A model and its endpoint.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The host's name for the endpoint.
    pub endpoint: EndpointId,
    /// The protocol that the endpoint speaks.
    pub wire: WireKind,
    /// The model family whose tools and prompt are used.
    pub profile: ProfileKind,
    /// The names under which the family's tools are shown.
    pub vocabulary: VocabularyKind,
    /// The model's name, as the endpoint knows it.
    pub name: String,
    /// The maximum number of tokens in one reply.
    pub max_output_tokens: u32,
    /// The number of tokens that the model can read and write in one call.
    pub context_window: u32,
    /// The reasoning effort: `low`, `medium`, `high` or another word that the provider knows; the
    /// provider's default if absent.
    // A text, not an enum: each provider has levels of its own, and adds to them.
    pub reasoning_effort: Option<String>,
    /// The rule for tool calls: the model must, may or must not make them.
    pub tool_choice: ToolChoice,
    /// True if one reply may hold several calls; the provider's default if absent.
    pub parallel_tool_calls: Option<bool>,
    /// True if replies are streamed. Both forms are read, whatever was requested.
    pub stream: bool,
    /// The cases in which tool calls are also looked for in the model's text.
    pub text_calls: TextCalls,
    /// The format in which the model writes calls in its text.
    pub text_family: TextFamily,
    /// True if the model's text begins inside thinking, because its template has opened it; derived
    /// from the model's name if absent. It matters only if calls are looked for in the text.
    pub begins_in_thinking: Option<bool>,
    /// The endpoint's deviations from the protocol.
    pub compat: EndpointCompat,
    /// Beta features to ask for (Anthropic: the header `anthropic-beta`).
    pub betas: Vec<String>,
    /// Further fields of the request's body, by name, sent unchanged: safety settings, grounding,
    /// sampling.
    // What the user sets here is never left out, not even when an endpoint refuses it: other fields
    // are dropped and the request is made again.
    pub options: Map<Json>,
    /// The price of the model's tokens, if it is known.
    pub price: Option<Price>,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            endpoint: EndpointId::default(),
            wire: WireKind::Anthropic,
            profile: ProfileKind::Anthropic,
            vocabulary: VocabularyKind::Seed,
            name: String::new(),
            max_output_tokens: 16_384,
            context_window: 200_000,
            reasoning_effort: None,
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            stream: true,
            text_calls: TextCalls::Never,
            text_family: TextFamily::Auto,
            begins_in_thinking: None,
            compat: EndpointCompat::default(),
            betas: Vec::new(),
            options: Map::new(),
            price: None,
        }
    }
}

impl ModelConfig {
    /// Sets the model's temperature, in the request field that its protocol uses.
    pub fn set_temperature(&mut self, temperature: &Json) {
        let name = "temperature";
        // Gemini and Ollama have sampling settings in an object of their own; at the top level they
        // would be an unknown field.
        let within = match self.wire {
            WireKind::Gemini => "generationConfig",
            WireKind::Ollama => "options",
            WireKind::OpenaiResponses | WireKind::OpenaiChat | WireKind::Anthropic => {
                self.options.insert(name.into(), temperature.clone());
                return;
            }
        };
        // The user may have set other fields of that object, which stay.
        let given = self.options.get(within).and_then(|given| from_str(given.text()).ok());
        let mut given: JsonObject = given.unwrap_or_default();
        given.set(name, temperature.clone());
        self.options.insert(within.into(), given.to_json());
    }

    /// Returns the endpoint and the model's name, which replies record as their origin.
    #[must_use]
    pub fn origin(&self) -> ModelOrigin {
        ModelOrigin { endpoint: self.endpoint.clone(), model: self.name.clone() }
    }

    /// Switches to another model of the same endpoint, whose price is the one in `prices`, or
    /// unknown.
    pub fn rename(&mut self, name: &str, prices: &Map<Price>) {
        if self.name != name {
            self.name = name.into();
            // A wrong price would be worse than none: a limit of the cost refuses a model whose
            // price is not known, and would be held by the other model's.
            self.price = prices.get(name).cloned();
        }
    }
}

/// The model and the endpoint that produced a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
pub struct ModelOrigin {
    /// The host's name for the endpoint.
    pub endpoint: EndpointId,
    /// The model's name, as it was requested.
    pub model: String,
}

/// A protocol in which models are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum WireKind {
    /// The Responses API of OpenAI.
    OpenaiResponses,
    /// OpenAI Chat Completions and its dialects.
    OpenaiChat,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The method `generateContent` of Gemini.
    Gemini,
    /// Ollama's own protocol, `/api/chat`.
    Ollama,
}

impl WireKind {
    /// The list of all protocols.
    pub const ALL: [Self; 5] =
        [Self::OpenaiResponses, Self::OpenaiChat, Self::Anthropic, Self::Gemini, Self::Ollama];
}

/// A model family: its tools, its base prompt, its capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ProfileKind {
    /// GPT models, which edit with patches.
    Openai,
    /// Claude models: search and replace.
    Anthropic,
    /// Gemini models, which search and replace.
    Gemini,
    /// Small and local models: few tools, examples, and calls in text if necessary.
    Small,
}

/// The names under which a family's tools are shown to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum VocabularyKind {
    /// The names of the specification.
    #[default]
    Seed,
    /// The names that the family was trained on.
    Native,
}

/// The rule for tool calls: the model must, may or must not make them.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model may call tools or not.
    #[default]
    Auto,
    /// No calls, although the tools are shown.
    None,
    /// At least one call.
    Required,
    /// A call of this tool.
    Tool(String),
}

/// The cases in which tool calls are also looked for in the model's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum TextCalls {
    /// Never: text is only text.
    #[default]
    Never,
    /// Only if a reply has no calls of the protocol's own. If an endpoint says that it has no tool
    /// support, the prompt describes the tools from then on.
    Fallback,
    /// Always: the prompt describes the tools; they are never offered as the protocol's own.
    Always,
}

/// The format in which a model writes calls in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextFamily {
    /// Recognised by the text's marks.
    #[default]
    Auto,
    /// Hermes and Qwen: `<tool_call>{…}</tool_call>`.
    Hermes,
    /// Qwen3-Coder, in XML: `<function=name><parameter=key>value</parameter></function>`.
    Qwen3CoderXml,
    /// Llama 3: `{"name": …, "parameters": …}`.
    LlamaJson,
    /// Mistral: the token `[TOOL_CALLS]`, then JSON.
    Mistral,
    /// DeepSeek: `<｜tool▁calls▁begin｜>`, and DSML.
    Deepseek,
    /// Llama 4 and others: `[f(a=1)]`.
    Pythonic,
    /// gpt-oss: messages in channels.
    Harmony,
    /// GLM: `<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`.
    Glm,
    /// Kimi: `<|tool_calls_section_begin|>`.
    Kimi,
    /// Gemma 4 and FunctionGemma: `<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>`.
    Gemma,
    /// Step 3: `<steptml:invoke name="…">` between tokens; Step 3.5: as Qwen3-Coder.
    Step3,
    /// MiniMax: `<invoke name="…">`, or elements after a token of its own.
    Minimax,
    /// Cohere: `<|START_ACTION|>`.
    Cohere,
    /// Hunyuan: `<tool_calls>`, with JSON or with calls like GLM's.
    Hunyuan,
    /// ReAct: `Action:`, and below it `Action Input:`.
    React,
    /// Functionary 3.2: `>>>name`, and below it the arguments.
    Functionary,
    /// Inkling: `<|content_invoke_tool_json|>`.
    Inkling,
    /// JSON in a fence of Markdown.
    FencedJson,
    /// Bare JSON in the text.
    Json,
}

impl TextFamily {
    /// Every format with its name.
    pub const ALL: [(&'static str, Self); 20] = [
        ("auto", Self::Auto),
        ("hermes", Self::Hermes),
        ("qwen3_coder_xml", Self::Qwen3CoderXml),
        ("llama_json", Self::LlamaJson),
        ("mistral", Self::Mistral),
        ("deepseek", Self::Deepseek),
        ("pythonic", Self::Pythonic),
        ("harmony", Self::Harmony),
        ("glm", Self::Glm),
        ("kimi", Self::Kimi),
        ("gemma", Self::Gemma),
        ("step3", Self::Step3),
        ("minimax", Self::Minimax),
        ("cohere", Self::Cohere),
        ("hunyuan", Self::Hunyuan),
        ("react", Self::React),
        ("functionary", Self::Functionary),
        ("inkling", Self::Inkling),
        ("fenced_json", Self::FencedJson),
        ("json", Self::Json),
    ];

    /// Returns the format's name, as used in configurations and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, family)| *family == self).map_or("auto", |(name, _)| name)
    }
}

impl core::str::FromStr for TextFamily {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, family)| *family).ok_or_else(|| UnknownFamily(name.into()))
    }
}

/// The error for a name that is not a format of calls in text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is no format of text tool calls; write auto, hermes, qwen3_coder_xml, llama_json, \
    mistral, deepseek, pythonic, harmony, glm, kimi, gemma, step3, minimax, cohere, hunyuan, \
    react, functionary, inkling, fenced_json or json",
    quoted(_0)
)]
pub struct UnknownFamily(pub String);

/// The endpoint's deviations from the protocol. The default is OpenAI's own Chat Completions; other
/// protocols read few of these.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct EndpointCompat {
    /// The role of the system prompt.
    pub system_role: SystemRole,
    /// The name of the output limit's field.
    pub max_tokens_field: MaxTokensField,
    /// True if `stream_options.include_usage` is understood.
    pub usage_in_stream: bool,
    /// The form in which a request asks for reasoning effort.
    pub thinking: ThinkingFormat,
    /// The form in which the thinking of earlier replies is sent back.
    pub replay_reasoning: ReplayReasoning,
    /// True if `tool_choice` is understood.
    pub tool_choice: bool,
    /// True if `parallel_tool_calls` is understood.
    pub parallel_tool_calls: bool,
    /// True if free-form (`custom`) tools are understood.
    pub custom_tools: bool,
    /// True if a tool's definition may contain `strict`.
    pub strict_tools: bool,
    /// True if a tool's result must carry the tool's name.
    pub tool_result_name: bool,
    /// True if a user's message may not directly follow a tool's result.
    pub assistant_after_tool_result: bool,
    /// The form that ids of calls must have.
    pub call_ids: CallIds,
    /// True if `prompt_cache_key` is understood.
    pub prompt_cache_key: bool,
    /// True if `store` is understood; it is then sent as false.
    pub store: bool,
    /// True if the model takes images.
    pub images: bool,
    /// True if a tool's parameters may be any JSON Schema (Gemini's `parametersJsonSchema`);
    /// otherwise they are written in the subset of OpenAPI 3.0.
    pub json_schema: bool,
}

impl Default for EndpointCompat {
    fn default() -> Self {
        Self {
            // OpenAI's own endpoint is the default, and other providers have presets with their
            // differences. An endpoint that nobody knows may refuse a field by name; it is then
            // left out for the rest of the session (`docs/wires.md#chat-completions`).
            system_role: SystemRole::Developer,
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            usage_in_stream: true,
            thinking: ThinkingFormat::ReasoningEffort,
            replay_reasoning: ReplayReasoning::Never,
            tool_choice: true,
            parallel_tool_calls: true,
            custom_tools: true,
            strict_tools: true,
            tool_result_name: false,
            assistant_after_tool_result: false,
            call_ids: CallIds::Any,
            prompt_cache_key: true,
            store: true,
            images: true,
            json_schema: true,
        }
    }
}

/// The role of the system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`: accepted by most servers.
    System,
    /// `developer`: OpenAI's newer models.
    Developer,
}

/// The name of the output limit's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`: accepted by most servers.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's newer models.
    MaxCompletionTokens,
}

/// The form in which a request asks for reasoning effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ThinkingFormat {
    /// The request does not mention effort.
    None,
    /// The field `reasoning_effort` of OpenAI.
    ReasoningEffort,
    /// OpenRouter: the field `reasoning: {effort}`.
    Openrouter,
    /// z.ai: the field `thinking: {type}`.
    Zai,
    /// Qwen: the field `enable_thinking`.
    Qwen,
    /// vLLM and llama.cpp with Qwen: `chat_template_kwargs: {enable_thinking}`.
    QwenChatTemplate,
}

/// The form in which the thinking of earlier replies is sent back to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum ReplayReasoning {
    /// It is left out.
    Never,
    /// DeepSeek: `reasoning_content`, even if it is empty.
    ReasoningContent,
    /// OpenRouter: `reasoning_details`, sent back unchanged.
    ReasoningDetails,
    /// As text in front of the message's own.
    Text,
}

/// The form that ids of calls must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum CallIds {
    /// Any id, unchanged.
    Any,
    /// Mistral: nine letters and digits.
    Nine,
}

/// The price of a model's tokens, in micro-dollars (10⁻⁶ US dollars) per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
// Whole numbers: costs are added up and compared with limits, and must be the same on every
// machine. Per million tokens, since that is how providers write them.
pub struct Price {
    /// Uncached input.
    pub input: u64,
    /// All output, reasoning included.
    pub output: u64,
    /// Input read from the cache; the price of input if absent.
    #[json(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input written to the cache; the price of input if absent.
    #[json(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Other prices for calls with much input, by rising threshold. The highest one that is
    /// exceeded applies to all tokens of the call.
    #[json(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
}

/// Prices for calls whose whole input has more tokens than a threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
pub struct PriceTier {
    /// The threshold, in tokens.
    pub above: u64,
    /// The price of input, as in [`Price`].
    pub input: u64,
    /// The price of output, as in [`Price`].
    pub output: u64,
    /// The price of input from the cache, as in [`Price`].
    #[json(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// The price of input to the cache, as in [`Price`].
    #[json(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
}

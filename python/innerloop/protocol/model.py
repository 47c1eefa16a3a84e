"""Which model a session has, and how to talk to it. Made of the core's types, whose words these
are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .history import WireKind

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class ModelConfig(TypedDict):
    """A model and its endpoint."""

    endpoint: str
    """The host's name for the endpoint."""
    wire: WireKind
    """The protocol that the endpoint speaks."""
    profile: ProfileKind
    """The model family whose tools and prompt are used."""
    vocabulary: VocabularyKind
    """The names under which the family's tools are shown."""
    name: str
    """The model's name, as the endpoint knows it."""
    max_output_tokens: int
    """The maximum number of tokens in one reply."""
    context_window: int
    """The number of tokens that the model can read and write in one call."""
    reasoning_effort: str | None
    """The reasoning effort: ``low``, ``medium``, ``high`` or another word that the provider
    knows; the provider's default if absent."""
    tool_choice: ToolChoice
    """The rule for tool calls: the model must, may or must not make them."""
    parallel_tool_calls: bool | None
    """True if one reply may hold several calls; the provider's default if absent."""
    stream: bool
    """True if replies are streamed. Both forms are read, whatever was requested."""
    text_calls: TextCalls
    """The cases in which tool calls are also looked for in the model's text."""
    text_family: TextFamily
    """The format in which the model writes calls in its text."""
    begins_in_thinking: bool | None
    """True if the model's text begins inside thinking, because its template has opened it;
    derived from the model's name if absent. It matters only if calls are looked for in the
    text."""
    compat: EndpointCompat
    """The endpoint's deviations from the protocol."""
    betas: list[str]
    """Beta features to ask for (Anthropic: the header ``anthropic-beta``)."""
    options: dict[str, Any]
    """Further fields of the request's body, by name, sent unchanged: safety settings, grounding,
    sampling."""
    price: Price | None
    """The price of the model's tokens, if it is known."""


ProfileKind = Literal["openai", "anthropic", "gemini", "small"]
"""A model family: its tools, its base prompt, its capabilities.

- ``openai``: GPT models, which edit with patches.
- ``anthropic``: Claude models: search and replace.
- ``gemini``: Gemini models, which search and replace.
- ``small``: Small and local models: few tools, examples, and calls in text if necessary.
"""


VocabularyKind = Literal["seed", "native"]
"""The names under which a family's tools are shown to the model.

- ``seed``: The names of the specification.
- ``native``: The names that the family was trained on.
"""


class ToolChoiceObject(TypedDict, total=False):
    """Exactly one of these keys is there."""

    tool: str
    """A call of this tool."""


ToolChoice = Literal["auto", "none", "required"] | ToolChoiceObject
"""The rule for tool calls: the model must, may or must not make them.

- ``auto``: The model may call tools or not.
- ``none``: No calls, although the tools are shown.
- ``required``: At least one call.
"""


TextCalls = Literal["never", "fallback", "always"]
"""The cases in which tool calls are also looked for in the model's text.

- ``never``: Never: text is only text.
- ``fallback``: Only if a reply has no calls of the protocol's own. If an endpoint says that
  it has no tool support, the prompt describes the tools from then on.
- ``always``: Always: the prompt describes the tools; they are never offered as the
  protocol's own.
"""


TextFamily = Literal[
    "auto",
    "hermes",
    "qwen3_coder_xml",
    "llama_json",
    "mistral",
    "deepseek",
    "pythonic",
    "harmony",
    "glm",
    "kimi",
    "gemma",
    "step3",
    "minimax",
    "cohere",
    "hunyuan",
    "react",
    "functionary",
    "inkling",
    "fenced_json",
    "json",
]
"""The format in which a model writes calls in its text.

- ``auto``: Recognised by the text's marks.
- ``hermes``: Hermes and Qwen: ``<tool_call>{…}</tool_call>``.
- ``qwen3_coder_xml``: Qwen3-Coder, in XML:
  ``<function=name><parameter=key>value</parameter></function>``.
- ``llama_json``: Llama 3: ``{"name": …, "parameters": …}``.
- ``mistral``: Mistral: the token ``[TOOL_CALLS]``, then JSON.
- ``deepseek``: DeepSeek: ``<｜tool▁calls▁begin｜>``, and DSML.
- ``pythonic``: Llama 4 and others: ``[f(a=1)]``.
- ``harmony``: gpt-oss: messages in channels.
- ``glm``: GLM: ``<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>``.
- ``kimi``: Kimi: ``<|tool_calls_section_begin|>``.
- ``gemma``: Gemma 4 and FunctionGemma:
  ``<|tool_call>call:name{key:<|"|>value<|"|>}<tool_call|>``.
- ``step3``: Step 3: ``<steptml:invoke name="…">`` between tokens; Step 3.5: as Qwen3-Coder.
- ``minimax``: MiniMax: ``<invoke name="…">``, or elements after a token of its own.
- ``cohere``: Cohere: ``<|START_ACTION|>``.
- ``hunyuan``: Hunyuan: ``<tool_calls>``, with JSON or with calls like GLM's.
- ``react``: ReAct: ``Action:``, and below it ``Action Input:``.
- ``functionary``: Functionary 3.2: ``>>>name``, and below it the arguments.
- ``inkling``: Inkling: ``<|content_invoke_tool_json|>``.
- ``fenced_json``: JSON in a fence of Markdown.
- ``json``: Bare JSON in the text.
"""


class EndpointCompat(TypedDict):
    """The endpoint's deviations from the protocol. The default is OpenAI's own Chat Completions;
    other protocols read few of these."""

    system_role: SystemRole
    """The role of the system prompt."""
    max_tokens_field: MaxTokensField
    """The name of the output limit's field."""
    usage_in_stream: bool
    """True if ``stream_options.include_usage`` is understood."""
    thinking: ThinkingFormat
    """The form in which a request asks for reasoning effort."""
    replay_reasoning: ReplayReasoning
    """The form in which the thinking of earlier replies is sent back."""
    tool_choice: bool
    """True if ``tool_choice`` is understood."""
    parallel_tool_calls: bool
    """True if ``parallel_tool_calls`` is understood."""
    custom_tools: bool
    """True if free-form (``custom``) tools are understood."""
    strict_tools: bool
    """True if a tool's definition may contain ``strict``."""
    tool_result_name: bool
    """True if a tool's result must carry the tool's name."""
    assistant_after_tool_result: bool
    """True if a user's message may not directly follow a tool's result."""
    call_ids: CallIds
    """The form that ids of calls must have."""
    prompt_cache_key: bool
    """True if ``prompt_cache_key`` is understood."""
    store: bool
    """True if ``store`` is understood; it is then sent as false."""
    images: bool
    """True if the model takes images."""
    json_schema: bool
    """True if a tool's parameters may be any JSON Schema (Gemini's ``parametersJsonSchema``);
    otherwise they are written in the subset of OpenAPI 3.0."""


SystemRole = Literal["system", "developer"]
"""The role of the system prompt.

- ``system``: ``system``: accepted by most servers.
- ``developer``: ``developer``: OpenAI's newer models.
"""


MaxTokensField = Literal["max_tokens", "max_completion_tokens"]
"""The name of the output limit's field.

- ``max_tokens``: ``max_tokens``: accepted by most servers.
- ``max_completion_tokens``: ``max_completion_tokens``: OpenAI's newer models.
"""


ThinkingFormat = Literal[
    "none",
    "reasoning_effort",
    "openrouter",
    "zai",
    "qwen",
    "qwen_chat_template",
]
"""The form in which a request asks for reasoning effort.

- ``none``: The request does not mention effort.
- ``reasoning_effort``: The field ``reasoning_effort`` of OpenAI.
- ``openrouter``: OpenRouter: the field ``reasoning: {effort}``.
- ``zai``: z.ai: the field ``thinking: {type}``.
- ``qwen``: Qwen: the field ``enable_thinking``.
- ``qwen_chat_template``: vLLM and llama.cpp with Qwen: ``chat_template_kwargs:
  {enable_thinking}``.
"""


ReplayReasoning = Literal["never", "reasoning_content", "reasoning_details", "text"]
"""The form in which the thinking of earlier replies is sent back to the model.

- ``never``: It is left out.
- ``reasoning_content``: DeepSeek: ``reasoning_content``, even if it is empty.
- ``reasoning_details``: OpenRouter: ``reasoning_details``, sent back unchanged.
- ``text``: As text in front of the message's own.
"""


CallIds = Literal["any", "nine"]
"""The form that ids of calls must have.

- ``any``: Any id, unchanged.
- ``nine``: Mistral: nine letters and digits.
"""


class Price(TypedDict):
    """The price of a model's tokens, in micro-dollars (10⁻⁶ US dollars) per million tokens."""

    input: int
    """Uncached input."""
    output: int
    """All output, reasoning included."""
    cache_read: NotRequired[int]
    """Input read from the cache; the price of input if absent."""
    cache_write: NotRequired[int]
    """Input written to the cache; the price of input if absent."""
    tiers: NotRequired[list[PriceTier]]
    """Other prices for calls with much input, by rising threshold. The highest one that is
    exceeded applies to all tokens of the call."""


class PriceTier(TypedDict):
    """Prices for calls whose whole input has more tokens than a threshold."""

    above: int
    """The threshold, in tokens."""
    input: int
    """The price of input, as in ``Price``."""
    output: int
    """The price of output, as in ``Price``."""
    cache_read: NotRequired[int]
    """The price of input from the cache, as in ``Price``."""
    cache_write: NotRequired[int]
    """The price of input to the cache, as in ``Price``."""

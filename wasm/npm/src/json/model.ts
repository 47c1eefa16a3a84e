// Which model a session has, and how to talk to it, as its log has it (snake_case). Made of the
// core's types, whose words these are: see CONTRIBUTING.md#generated-files.

/** Which model, and how to talk to it. */
export interface ModelConfig {
  /** The host's name for the endpoint. */
  endpoint: string;
  /** The protocol that the endpoint speaks. */
  wire: "openai_responses" | "openai_chat" | "anthropic" | "gemini" | "ollama";
  /** The model family whose tools and prompt are used. */
  profile: "openai" | "anthropic" | "gemini" | "small";
  /** Under which names the family's tools are shown. */
  vocabulary: "seed" | "native";
  /** The model's name, as the endpoint knows it. */
  name: string;
  /** Most tokens that one reply may have. */
  max_output_tokens: number;
  /** How many tokens the model can read and write in one call. */
  context_window: number;
  /** `low`, `medium`, `high` or what else the provider knows; the provider's default if absent. */
  reasoning_effort: string | null;
  /** Whether the model must, may or must not call tools. */
  tool_choice: SessionToolChoice;
  /** Whether one reply may hold several calls; the provider's default if absent. */
  parallel_tool_calls: boolean | null;
  /** Whether replies are streamed. Either form is read, whatever was asked for. */
  stream: boolean;
  /** Whether tool calls are also looked for in the model's text. */
  text_calls: "never" | "fallback" | "always";
  /** In which format the model writes calls in its text. */
  text_family:
    | "auto"
    | "hermes"
    | "qwen3_coder_xml"
    | "llama_json"
    | "mistral"
    | "deepseek"
    | "pythonic"
    | "harmony"
    | "glm"
    | "kimi"
    | "gemma"
    | "step3"
    | "minimax"
    | "cohere"
    | "hunyuan"
    | "react"
    | "functionary"
    | "inkling"
    | "fenced_json"
    | "json";
  /**
   * Whether the model's text begins in thinking, which its template has opened; told from the
   * model's name if absent. It counts where calls are looked for in the text.
   */
  begins_in_thinking: boolean | null;
  /** What the endpoint does otherwise than the protocol's author. */
  compat: Compat;
  /** Beta features to ask for (Anthropic: the header `anthropic-beta`). */
  betas: string[];
  /**
   * Further fields of the request's body, by name, sent as they are: safety settings, grounding,
   * sampling.
   */
  options: Record<string, unknown>;
  /** What the model's tokens cost, where it is known. */
  price: Price | null;
}

/**
 * What an endpoint does otherwise than the protocol's author. The default is OpenAI's own Chat
 * Completions; other protocols read few of these.
 */
export interface Compat {
  /** The role of the system prompt. */
  system_role: "system" | "developer";
  /** The name of the output limit's field. */
  max_tokens_field: "max_tokens" | "max_completion_tokens";
  /** Whether `stream_options.include_usage` is understood. */
  usage_in_stream: boolean;
  /** How effort is asked for. */
  thinking: "none" | "reasoning_effort" | "openrouter" | "zai" | "qwen" | "qwen_chat_template";
  /** How the thinking of earlier replies goes back. */
  replay_reasoning: "never" | "reasoning_content" | "reasoning_details" | "text";
  /** Whether `tool_choice` is understood. */
  tool_choice: boolean;
  /** Whether `parallel_tool_calls` is understood. */
  parallel_tool_calls: boolean;
  /** Whether free-form (`custom`) tools are understood. */
  custom_tools: boolean;
  /** Whether `strict` may stand in a tool's definition. */
  strict_tools: boolean;
  /** Whether a tool's result must carry the tool's name. */
  tool_result_name: boolean;
  /** Whether a user's message may not follow a tool's result directly. */
  assistant_after_tool_result: boolean;
  /** What ids of calls must look like. */
  call_ids: "any" | "nine";
  /** Whether `prompt_cache_key` is understood. */
  prompt_cache_key: boolean;
  /** Whether `store` is understood; it is then sent as false. */
  store: boolean;
  /** Whether the model takes images. */
  images: boolean;
  /**
   * Whether a tool's parameters may be any JSON Schema (Gemini's `parametersJsonSchema`); if not,
   * they are written in the subset that OpenAPI 3.0 has.
   */
  json_schema: boolean;
}

/** What a model's tokens cost, in micro-dollars (10⁻⁶ US dollars) per million tokens. */
export interface Price {
  /** Input that is in no cache. */
  input: number;
  /** Output, reasoning included. */
  output: number;
  /** Input read from the cache; the price of input if absent. */
  cache_read?: number;
  /** Input written to the cache; the price of input if absent. */
  cache_write?: number;
  /** Other prices for calls with much input, by rising threshold. */
  tiers?: {
    /** The threshold, in tokens. */
    above: number;
    /** As in `Price`. */
    input: number;
    /** As in `Price`. */
    output: number;
    /** As in `Price`. */
    cache_read?: number;
    /** As in `Price`. */
    cache_write?: number;
  }[];
}

/** Whether the model must, may or must not call tools. */
export type SessionToolChoice =
  /** As the model likes. */
  | "auto"
  /** No calls, though the tools are shown. */
  | "none"
  /** At least one call. */
  | "required"
  /** A call of this tool. */
  | { tool: string };

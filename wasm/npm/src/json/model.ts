// Which model a session has, and how to talk to it, as its log has it (snake_case). Made of the
// core's types, whose words these are: see CONTRIBUTING.md#generated-files.

/** A model and its endpoint. */
export interface ModelConfig {
  /** The host's name for the endpoint. */
  endpoint: string;
  /** The protocol that the endpoint speaks. */
  wire: "openai_responses" | "openai_chat" | "anthropic" | "gemini" | "ollama";
  /** The model family whose tools and prompt are used. */
  profile: "openai" | "anthropic" | "gemini" | "small";
  /** The names under which the family's tools are shown. */
  vocabulary: "seed" | "native";
  /** The model's name, as the endpoint knows it. */
  name: string;
  /** The maximum number of tokens in one reply. */
  max_output_tokens: number;
  /** The number of tokens that the model can read and write in one call. */
  context_window: number;
  /**
   * The reasoning effort: `low`, `medium`, `high` or another word that the provider knows; the
   * provider's default if absent.
   */
  reasoning_effort: string | null;
  /** The rule for tool calls: the model must, may or must not make them. */
  tool_choice: SessionToolChoice;
  /** True if one reply may hold several calls; the provider's default if absent. */
  parallel_tool_calls: boolean | null;
  /** True if replies are streamed. Both forms are read, whatever was requested. */
  stream: boolean;
  /** The cases in which tool calls are also looked for in the model's text. */
  text_calls: "never" | "fallback" | "always";
  /** The format in which the model writes calls in its text. */
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
   * True if the model's text begins inside thinking, because its template has opened it; derived
   * from the model's name if absent. It matters only if calls are looked for in the text.
   */
  begins_in_thinking: boolean | null;
  /** The endpoint's deviations from the protocol. */
  compat: Compat;
  /** Beta features to ask for (Anthropic: the header `anthropic-beta`). */
  betas: string[];
  /**
   * Further fields of the request's body, by name, sent unchanged: safety settings, grounding,
   * sampling.
   */
  options: Record<string, unknown>;
  /** The price of the model's tokens, if it is known. */
  price: Price | null;
}

/**
 * The endpoint's deviations from the protocol. The default is OpenAI's own Chat Completions; other
 * protocols read few of these.
 */
export interface Compat {
  /** The role of the system prompt. */
  system_role: "system" | "developer";
  /** The name of the output limit's field. */
  max_tokens_field: "max_tokens" | "max_completion_tokens";
  /** True if `stream_options.include_usage` is understood. */
  usage_in_stream: boolean;
  /** The form in which a request asks for reasoning effort. */
  thinking: "none" | "reasoning_effort" | "openrouter" | "zai" | "qwen" | "qwen_chat_template";
  /** The form in which the thinking of earlier replies is sent back. */
  replay_reasoning: "never" | "reasoning_content" | "reasoning_details" | "text";
  /** True if `tool_choice` is understood. */
  tool_choice: boolean;
  /** True if `parallel_tool_calls` is understood. */
  parallel_tool_calls: boolean;
  /** True if free-form (`custom`) tools are understood. */
  custom_tools: boolean;
  /** True if a tool's definition may contain `strict`. */
  strict_tools: boolean;
  /** True if a tool's result must carry the tool's name. */
  tool_result_name: boolean;
  /** True if a user's message may not directly follow a tool's result. */
  assistant_after_tool_result: boolean;
  /** The form that ids of calls must have. */
  call_ids: "any" | "nine";
  /** True if `prompt_cache_key` is understood. */
  prompt_cache_key: boolean;
  /** True if `store` is understood; it is then sent as false. */
  store: boolean;
  /** True if the model takes images. */
  images: boolean;
  /**
   * True if a tool's parameters may be any JSON Schema (Gemini's `parametersJsonSchema`); otherwise
   * they are written in the subset of OpenAPI 3.0.
   */
  json_schema: boolean;
}

/** The price of a model's tokens, in micro-dollars (10⁻⁶ US dollars) per million tokens. */
export interface Price {
  /** Uncached input. */
  input: number;
  /** All output, reasoning included. */
  output: number;
  /** Input read from the cache; the price of input if absent. */
  cache_read?: number;
  /** Input written to the cache; the price of input if absent. */
  cache_write?: number;
  /**
   * Other prices for calls with much input, by rising threshold. The highest one that is exceeded
   * applies to all tokens of the call.
   */
  tiers?: {
    /** The threshold, in tokens. */
    above: number;
    /** The price of input, as in `Price`. */
    input: number;
    /** The price of output, as in `Price`. */
    output: number;
    /** The price of input from the cache, as in `Price`. */
    cache_read?: number;
    /** The price of input to the cache, as in `Price`. */
    cache_write?: number;
  }[];
}

/** The rule for tool calls: the model must, may or must not make them. */
export type SessionToolChoice =
  /** The model may call tools or not. */
  | "auto"
  /** No calls, although the tools are shown. */
  | "none"
  /** At least one call. */
  | "required"
  /** A call of this tool. */
  | { tool: string };

/** The models besides the session's own, and the rules for choosing among them. */
export interface RoutingPolicy {
  /**
   * The further models. When a model fails, the next one in this order that has not failed itself
   * takes over.
   */
  models: RoutedModel[];
  /**
   * The time for which an overloaded or rate-limited model is not used, in milliseconds; longer if
   * its provider asks for more.
   */
  backoff_ms: number;
  /** True if a model with a larger window takes over a conversation that does not fit. */
  overflow_to_larger: boolean;
}

/** A model that a session may use besides its own. */
export interface RoutedModel {
  /** The model and its endpoint. */
  model: ModelConfig;
  /** True if it writes the summaries. It takes over for other models only when no other is left. */
  cheap: boolean;
  /** The kinds of tasks for which it is preferred. */
  tasks: TaskKind[];
}

/** The names of `tasks`, for the schema of its JSON. */
export type TaskKind =
  /** To check that something is secure. */
  | "security_review"
  /** To make several agents work at once. */
  | "orchestration"
  /** To write tests. */
  | "unit_test"
  /** To find a bug. */
  | "debug"
  /** To change the form of code but not its behaviour. */
  | "refactor"
  /** To review code. */
  | "review"
  /** To plan or design. */
  | "planning"
  /** To explain. */
  | "explain"
  /** To set up the standard parts of a project. */
  | "boilerplate"
  /** To write something new. */
  | "generation";

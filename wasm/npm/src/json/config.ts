// The configuration of a session, as its log has it (snake_case). Samples, made by the core, are
// held against these types in both directions.

import type { FoldKind } from "./data.js";

/** Everything a session needs to know from the start. */
export interface SessionConfig {
  /** The session's id. A fork always gets a new one. */
  id: string;
  /** Which model, and how to talk to it. */
  model: ModelConfig;
  /** When to stop. */
  limits: {
    /** Most user and assistant turns of the whole session; 0 for no limit. */
    max_turns: number;
    /** Most rounds of tool calls for one input of the user; 0 for no limit. */
    max_tool_rounds_per_input: number;
    /** Most that a run may use, that of the agents included that it started. */
    run?: Partial<Spend>;
    /** Most that all runs of the session may use together. */
    session?: Partial<Spend>;
    /** What follows when one is reached. */
    action: LimitAction;
  };
  /** How much of a response is read; one that goes beyond ends the run as failed. */
  response: {
    /** Bytes of its body. */
    max_bytes: number;
    /** Bytes that are held of it: what it says, and an event until it is whole. */
    max_kept_bytes: number;
    /** Pieces of which its reply is made: texts, thoughts, calls. */
    max_items: number;
    /** Calls of tools, also those in its text. */
    max_calls: number;
  };
  /** When a failed model call is tried again. */
  retry: {
    /** How often; 0 switches retries off. */
    max_retries: number;
    /** The first delay, doubled with each try. */
    base_ms: number;
    /** The longest delay of our own. */
    max_ms: number;
    /** How much of a delay of our own may be left out, by chance; 0 for exact delays. */
    jitter_percent: number;
    /** The longest delay that a provider may ask for; a longer one ends the run. */
    max_retry_after_ms: number;
    /** After how long without a byte a model call counts as broken. */
    idle_ms: number;
    /** Whether a call that breaks after text or a part of a tool call has come is tried again. */
    mid_stream: boolean;
    /** Whether a refused key, model or request closes the session, in place of failing its run. */
    refusal_closes: boolean;
  };
  /** Time limits of tool runs. */
  timeouts: {
    /** For a run whose call names none. */
    default_command_ms: number;
    /** No run gets more. */
    max_command_ms: number;
    /** How long a cancelled effect may take to answer. */
    grace_ms: number;
  };
  /** Most characters of a tool's output that the model reads, by tool. */
  tool_output_limits: Record<string, number>;
  /** Most lines of a tool's output that the model reads, by tool. */
  tool_line_limits: Record<string, number>;
  /** Most of the context window that one tool's output may take, in percent. */
  tool_output_percent: number | null;
  /** Most of what is left of the window that one tool's output may take, in percent. */
  tool_output_share_of_rest: number | null;
  /** What the system prompt tells of the place the agent works in. */
  facts: Facts;
  /** What the system prompt begins with, in place of the model family's own words. */
  base_prompt: string | null;
  /** Instructions of the user, last in the system prompt. */
  instructions: string | null;
  /** Which of the model family's tools there are. */
  builtin_tools: BuiltinTools;
  /** Tools of the host, on top of the model family's; equal names override. */
  tools: ToolSpec[];
  /** Which tools' calls run beside others; those that only read, if nothing is said. */
  exec_modes: Record<string, "parallel" | "serial">;
  /** How tokens are estimated where the provider has not counted them. */
  estimator: "chars" | "code_and_prose" | "words" | "bytes";
  /** When the conversation is made shorter, and how. */
  compaction: CompactionPolicy;
  /** When calls repeat themselves, and what is done about it. */
  loops: LoopPolicy;
  /** Which calls a person must allow first. */
  approval: ApprovalPolicy;
  /**
   * Where hooks stand, whether one that breaks counts as a denial, and how often for one input the
   * hook before the end may send the model back to work.
   */
  hooks: { points: HookPoint[]; fail_closed: boolean; max_denials: number };
  /** Whether a file that is there must have been read before it is changed. */
  guard: { read_before_write: boolean };
  /** How deep agents may be nested (0 offers none), and how many may be open at once. */
  subagents: { max_depth: number; max_open: number };
  /** How many steps can be undone in a row, at most; 0 for all. */
  undo: { max_steps: number };
  /** What replies that end before their time are good for. */
  repair: {
    /** How often in a run a text that was cut by the output limit is continued. */
    continue_on_length: number;
    /** Whether a reply cut in a call is asked for again with twice the output limit. */
    grow_output: boolean;
    /** How often in a run an empty reply is asked for again. */
    retry_on_empty: number;
    /** How often in a run a model that only announces is reminded of its tools. */
    nudges: number;
    /** Whether arguments of the wrong type that plainly mean a right one are bent to it. */
    coerce_arguments: boolean;
  };
  /** The form of the final answer, if it is to have one. */
  answer: { schema: unknown; retries: number } | null;
  /** Whether the model may ask the user, through the tool `ask_user`. */
  ask_user: boolean;
  /** Whether the host reads pages of the web (`webFetch`). */
  web_fetch: boolean;
}

/** Which model, and how to talk to it. */
export interface ModelConfig {
  /** The name under which a host knows the endpoint. */
  endpoint: string;
  /** The protocol that the endpoint speaks. */
  wire: "openai_responses" | "openai_chat" | "anthropic" | "gemini" | "ollama";
  /** The model family whose tools and prompt are used. */
  profile: "openai" | "anthropic" | "gemini" | "small";
  /** Under which names the family's tools are shown. */
  vocabulary: "seed" | "native";
  /** The model's name, as the endpoint knows it. */
  name: string;
  max_output_tokens: number;
  context_window: number;
  reasoning_effort: string | null;
  /** Whether the model must, may or must not call tools. */
  tool_choice: "auto" | "none" | "required" | { tool: string };
  parallel_tool_calls: boolean | null;
  /** Whether replies are streamed. */
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
   * model's name if null. It counts where calls are looked for in the text.
   */
  begins_in_thinking: boolean | null;
  /** What the endpoint does otherwise than the protocol's author. */
  compat: Compat;
  /** Beta features to ask for. */
  betas: string[];
  /** Further fields of the request's body, sent as they are. */
  options: Record<string, unknown>;
  /** What the model's tokens cost, where it is known. */
  price: Price | null;
}

/** What an endpoint does otherwise than the protocol's author. */
export interface Compat {
  system_role: "system" | "developer";
  max_tokens_field: "max_tokens" | "max_completion_tokens";
  usage_in_stream: boolean;
  thinking: "none" | "reasoning_effort" | "openrouter" | "zai" | "qwen" | "qwen_chat_template";
  replay_reasoning: "never" | "reasoning_content" | "reasoning_details" | "text";
  tool_choice: boolean;
  parallel_tool_calls: boolean;
  custom_tools: boolean;
  strict_tools: boolean;
  tool_result_name: boolean;
  assistant_after_tool_result: boolean;
  call_ids: "any" | "nine";
  prompt_cache_key: boolean;
  store: boolean;
  images: boolean;
  json_schema: boolean;
}

/** What tokens cost, in micro-dollars (1e-6 US dollars) per million. */
export interface Price {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  /** Other prices for calls with more input than a threshold. */
  tiers?: {
    above: number;
    input: number;
    output: number;
    cache_read?: number;
    cache_write?: number;
  }[];
}

/** What the system prompt tells of the place; what is empty is left out. */
export interface Facts {
  working_directory: string;
  platform: string;
  os_version: string;
  /** Today as `YYYY-MM-DD`. */
  date: string;
  git: {
    branch: string;
    modified: number | null;
    untracked: number | null;
    recent_commits: string[];
  } | null;
  knowledge_cutoff: string;
  /** Programs that can be run. */
  programs: { name: string; description: string }[];
  /** Instruction files of the project, root first. */
  project_docs: { path: string; text: string }[];
  /** Those of folders below, which agents that work there read. */
  nested_docs: { path: string; text: string }[];
}

/** A tool as the model is shown it. */
export interface ToolSpec {
  name: string;
  description: string;
  /** A JSON Schema whose root is an object. */
  parameters: unknown;
  read_only: boolean;
  /** After how long a run is stopped; absent, as a command that asks for no time. */
  timeout_ms?: number;
  /** The arguments that name files or folders of the workspace. */
  paths?: string[];
  /** How it is called with free text, where the protocol can. */
  freeform?: { grammar: string; property: string; description: string };
}

/** When the conversation is made shorter, how, and what of it stays. */
export interface CompactionPolicy {
  /** What is done before a model call; of the tiers that are reached, the one that begins last. */
  auto: {
    /** How full the window must be. */
    from: Fullness;
    /** How full it is to be afterwards. */
    to: Fullness;
    step: FoldKind;
    /** Most of the user's inputs that stay with all that followed them. */
    inputs?: number;
  }[];
  /** What follows when the conversation no longer fits the model. */
  on_overflow: "warn" | "compact_retry_once";
  /** Whether the oldest turns are left out where nothing else makes it fit. */
  truncate_if_needed: boolean;
  keep: {
    /** Most tokens of the newest turns that stay where the host asks for it. */
    tokens: number;
    /** How many of the newest replies stay in any case, with their calls and results. */
    rounds: number;
    /** Most tokens of the user's own words behind a summary. */
    words_of_user: number;
    /** Whether the user's first input stays. */
    first_input: boolean;
  };
  summary: {
    /** Another model of the same endpoint. */
    model: string | null;
    max_tokens: number;
    /** Most characters of a tool's result that it reads. */
    result_chars: number;
    instructions: string | null;
  };
  /** How many turns are too many whatever their length; 0 for never. */
  max_messages: number;
  /** After how many failures in a row nothing more is tried by itself. */
  max_failures: number;
  /** Most tokens that count as the context window; 0 for all. */
  max_window: number;
}

/** How full a context window is; of several, the one that is reached last. */
export interface Fullness {
  /** So much of it is used, in percent. */
  percent?: number | undefined;
  /** So many tokens are used. */
  used?: number | undefined;
  /** So many tokens are left. */
  left?: number | undefined;
}

/** When calls repeat themselves, and what is done about it. */
export interface LoopPolicy {
  detect: boolean;
  /** How many of the newest calls must follow one pattern. */
  window: number;
  /** The longest cycle of calls that counts as a pattern. */
  max_period: number;
  /** How many rounds in a row with the same calls are too many; 0 for never. */
  same_args: number;
  /** How many rounds in a row that call the same tools are too many; 0 for never. */
  same_name: number;
  /** After how many more of such rounds the next step follows; 0 for the same number again. */
  again_after: number;
  /** Whether only calls that failed count. */
  only_if_failed: boolean;
  /** Tools whose calls do not count. */
  ignore_tools: string[];
  /** Whether times, UUIDs and the like in arguments count as all the same. */
  mask_volatile: boolean;
  /** What is done the first time, the second time and so on. */
  ladder: LoopStep[];
}

/** What is done about calls that repeat themselves. */
export type LoopStep = "warn" | "summarize" | "ask_user" | "stop";

/** What follows when a limit is reached. */
export type LimitAction = "idle" | "summarize" | "partial" | "error";

/** Which calls a person must allow first. */
export interface ApprovalPolicy {
  ask: "nothing" | "programs" | "changes" | "everything";
  /** Calls that are never asked about. */
  allow: ApprovalRule[];
}

/** Calls of a tool; only those whose arguments begin as `starting` says, if it says anything. */
export interface ApprovalRule {
  tool: string;
  starting: Record<string, string>;
}

/** Where in the loop a hook stands. */
export type HookPoint =
  | "submit"
  | "before_model"
  | "before_tool"
  | "after_tool"
  | "before_stop"
  | "outbound"
  | "compact";

/** A whole configuration by name, to begin with. */
export type Preset = "seed001" | "modern" | "ollama" | "ironclaw" | "gnoma";

/**
 * Which of the model family's own tools the model is shown, by the names under which it is shown
 * them: all that something can carry out, those that change nothing and run nothing, none, some,
 * or all but some.
 */
export type BuiltinTools =
  | "all"
  | "read_only"
  | "none"
  | { only: string[]; except?: never }
  | { except: string[]; only?: never };

/** `T` with every field of every object in it optional: what is left out stays as it is. */
export type Patch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Patch<T[K]> | undefined }
    : T;

/** What models and their work use; as a limit, 0 means none. */
export interface Spend {
  /** Nano-dollars (1e-9 US dollars). */
  cost_nano_usd: number;
  /** Tokens, in and out. */
  tokens: number;
  /** Milliseconds of runs, whatever was waited for. */
  ms: number;
}

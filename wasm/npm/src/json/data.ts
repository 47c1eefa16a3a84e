// The data that inputs, effects, events and the history hold, as the session's log has it
// (snake_case). Samples of every variant, made by the core, are held against these types in both
// directions.

/** Tokens of one reply or of many. */
export interface SessionUsage {
  /** All input tokens, cached ones included. */
  input_total: number;
  /** All output tokens, reasoning included. */
  output_total: number;
  /** Input tokens read from the provider's cache. */
  cache_read: number;
  /** Input tokens written to the provider's cache. */
  cache_write: number;
  /** Output tokens spent on reasoning, where the provider says so. */
  reasoning: number;
}

/**
 * A piece of what a user or a tool says. `data` is base64; an address is fetched by the provider,
 * and a file is a PDF, or what else the provider takes.
 */
export type Part =
  | { type: "text"; text: string }
  | { type: "image"; media_type: string; data: string }
  | { type: "image_url"; url: string }
  | { type: "file"; media_type: string; name: string; data: string };

/** Where an agent stands. */
export type AgentState = "idle" | "processing" | "awaiting_input" | "closed";

/**
 * How a run ended. `budget`: what it may spend is used up. `loop`: its calls repeated themselves.
 * `denied`: a person or a hook denied it. `unverified`: the hook before the end has not agreed,
 * however often the model went back to work. `incomplete`: the last reply was cut, and its text is
 * what there is. `refused`: the model or a filter of its provider refused.
 */
export type RunEnd =
  | "completed"
  | "limit"
  | "budget"
  | "loop"
  | "interrupted"
  | "denied"
  | "unverified"
  | "incomplete"
  | "refused"
  | "failed";

/** What made a run end as `failed`, `incomplete` or `refused`. */
export type ErrorKind =
  | "authentication"
  | "quota"
  | "rate_limit"
  | "overloaded"
  | "context_overflow"
  | "invalid_request"
  | "content_filter"
  | "refusal"
  | "output_limit"
  | "reply"
  | "server"
  | "network"
  | "host"
  | "protocol"
  | "limit"
  | "answer"
  | "internal";

/** What came of a tool's run, whole. */
export interface Outcome {
  /** What the tool says, whole. Of a program, see `streams`. */
  parts: Part[];
  /**
   * Whether the first two parts are texts that a program printed, each of which may be empty: on
   * standard output, then on standard error. Further parts say more of the run.
   */
  streams?: boolean;
  error?: ToolErrorKind;
  /** A program's exit code. */
  exit?: number;
  /** How many places were found or changed. */
  count?: number;
  /**
   * How long the run took, from its launch on: the time in which a person was asked does not
   * count. Absent where nothing ran, or where it is not known what became of the run.
   */
  duration_ms?: number;
  /** Whether the time limit ended the run. */
  timed_out?: boolean;
  changes?: FileChange[];
  /** Where the guard is on: digests of the files that the action names, in its order. */
  digests?: string[];
  /** Whether the tool itself dropped a part of its output. */
  capped_at_source?: boolean;
  /** What your tool said to the user interface. */
  details?: unknown;
}

/** What made a tool's run fail. */
export type ToolErrorKind =
  | "not_found"
  | "permission_denied"
  | "edit_conflict"
  | "invalid_arguments"
  | "unknown_tool"
  | "wrong_file_type"
  | "binary"
  | "too_large"
  | "exit"
  | "timeout"
  | "denied"
  | "interrupted"
  | "limit"
  | "io"
  | "crashed";

/** A file that a tool changed. */
export interface FileChange {
  path: string;
  kind: "created" | "modified" | "deleted";
  /** Its text before; absent if it did not exist, is not text or is larger than 256 KiB. */
  before?: string;
  /** Its text after, with the same exceptions. */
  after?: string;
}

/** What a built-in tool does, whatever the model calls it. */
export type Action =
  | {
      action: "read";
      path: string;
      offset?: number;
      limit?: number;
      numbering: "none" | "pipe" | "tab";
      line_chars?: number;
      notice?: "above";
    }
  | { action: "view_image"; path: string }
  | { action: "fetch"; urls: string[]; prompt?: string }
  | {
      action: "read_many";
      include: string[];
      exclude?: string[];
      flat?: boolean;
      hidden?: "nothing";
    }
  | { action: "write"; path: string; content: string }
  | { action: "edit"; path: string; old: string; new: string; all: boolean }
  | { action: "patch"; patch: string }
  | {
      action: "list";
      path?: string;
      depth: number;
      ignore?: string[];
      hidden?: "ignored";
      style?: "tag";
    }
  | {
      action: "glob";
      pattern: string;
      path?: string;
      ignore_case?: boolean;
      max_results?: number;
      hidden?: "nothing";
    }
  | {
      action: "grep";
      pattern: string;
      path?: string;
      glob?: string;
      file_type?: string;
      unless?: string;
      mode: "content" | "files_with_matches" | "count";
      layout?: "by_file";
      before?: number;
      after?: number;
      offset?: number;
      max_results?: number;
      max_per_file?: number;
      hidden?: "nothing";
      ignore_case: boolean;
      literal?: boolean;
      multiline?: boolean;
      only_matching?: boolean;
      unnumbered?: boolean;
    }
  | { action: "run_program"; program: string; args: string[]; stdin?: string }
  /** A command line in the agent's shell, in a folder of its own if one is named. */
  | { action: "shell"; command: string; folder?: string };

/** A call of a tool, as the model made it. */
export interface SessionToolCall {
  /** The provider's id. */
  id: string;
  name: string;
  /** The arguments' JSON text as it came: it may be invalid. Of a free-form call, its input. */
  arguments: string;
  /** What else the provider says of the call. */
  detail?: { freeform?: boolean; signature?: string; item?: unknown };
}

/** Why a reply ended. */
export type Finish =
  | "stop"
  | "tool_calls"
  | "length"
  | "content_filter"
  | "refusal"
  | "pause"
  | "context_window"
  | "malformed_tool_call"
  | "error"
  | "unknown";

/** A block of a reply, in the order in which the model sent it. */
export type Block =
  | { text: string }
  | { marked_text: { text: string; mark: string } }
  | { reasoning: { text: string; signature?: string; item?: unknown } }
  | { tool_call: SessionToolCall }
  | { opaque: unknown };

/** A whole reply of the model. */
export interface Reply {
  blocks: Block[];
  finish: Finish;
  /** The provider's own words on why the model refused. */
  refusal?: string;
  /** What the provider says of an end that is neither a stop nor calls. */
  reason?: string;
  usage?: SessionUsage;
  /** The protocol in which it came. */
  wire?: "openai_responses" | "openai_chat" | "anthropic" | "gemini" | "ollama";
  /** Who was asked for it: signatures and sealed thinking go back to no one else. */
  origin?: { endpoint: string; model: string };
  response_id?: string;
  model?: string;
}

/** The answer to one call, as the model reads it. */
export interface SessionToolResult {
  call_id: string;
  parts: Part[];
  is_error: boolean;
}

/** One entry of the history. */
export interface SessionTurn {
  /** When, in milliseconds since 1970. */
  at: number;
  /**
   * Earlier turns are shown shorter from `folded` on; `left_out` names parts that are told in
   * words; `rewound` leads back to an earlier view.
   */
  kind: Said | { folded: Fold } | { left_out: LeftOut } | { rewound: { at: number; why: Why } };
}

/** What the model sees of one turn. */
export type Said =
  | { user: Part[] }
  | { assistant: Reply }
  | { tool_results: SessionToolResult[] }
  | { system: string }
  | { steering: Part[] };

/** What stands in the place of earlier turns, which are named by their place in the log. */
export interface Fold {
  /** Turns before this one go; 0 if none does. */
  upto: number;
  /** Those of them that stay. */
  pin?: number[];
  /** The results before this turn are shown in one line each. */
  stub_before: number;
  /** What the model reads in place of the turns that went. */
  text?: string;
  kind: FoldKind;
  /** How many tokens the model would have read without it, and reads with it, about. */
  before: number;
  after: number;
}

/** Parts that a provider refuses, or that are seen again since the fault was not theirs. */
export interface LeftOut {
  /**
   * Which parts, in order. With none, what is left out is the signatures and the sealed thinking of
   * all replies before.
   */
  parts: PartPlace[];
  /** What becomes of them. */
  how: Leaving;
  /** The provider's own words. */
  why: string;
}

/** Where a part stands in the log. */
export interface PartPlace {
  /** The turn, by its place in the log. */
  turn: number;
  /** Which of its results, if it has such. */
  result?: number;
  /** The part of it. */
  part: number;
}

/** The provider named a part, it may be what was meant, or it was not at fault after all. */
export type Leaving = "named" | "tried" | "put_back";

/** How earlier turns are made shorter. */
export type FoldKind = "stub" | "archive" | "summary" | "truncate";

/** Why the model sees again what it saw before. */
export type Why = "undo" | "redo" | "restore" | "clear";

/** Where an agent stands and what it has used. */
export interface SessionStatus {
  state: AgentState;
  /** It does nothing but make the conversation shorter, as it was told: no run is under way. */
  compacting?: true;
  turns: number;
  tool_calls: number;
  usage: SessionUsage;
  /** What they cost, in nano-dollars (1e-9 US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
}

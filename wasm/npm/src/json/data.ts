// The data that inputs, effects, events and the history hold, as the session's log has it
// (snake_case). Made of the core's types, whose words these are: see
// CONTRIBUTING.md#generated-files.

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
  /** Output tokens spent on reasoning, if the provider reports them. */
  reasoning: number;
}

/** A part of a message from a user or a tool. */
export type Part =
  /** A piece of plain text. */
  | {
      type: "text";
      /** The text of the part. */
      text: string;
    }
  /** A picture with its data. */
  | {
      type: "image";
      /** The type, for example `image/png`. */
      media_type: string;
      /** The file's bytes in base64. */
      data: string;
    }
  /** A picture that the provider fetches itself. */
  | {
      type: "image_url";
      /** The URL of the picture. */
      url: string;
    }
  /** A document, such as a PDF. */
  | {
      type: "file";
      /** The type, for example `application/pdf`. */
      media_type: string;
      /** The name of the file, which the model reads. */
      name: string;
      /** The file's bytes in base64. */
      data: string;
    };

/** The state of an agent. */
export type AgentState =
  /** Waiting for the user. */
  | "idle"
  /** The agent runs the loop. */
  | "processing"
  /** The model asked the user a question. */
  | "awaiting_input"
  /** The agent is over and takes no more commands. */
  | "closed";

/** The way in which a run ended. */
export type RunEnd =
  /** The model was done. */
  | "completed"
  /** A limit of rounds or turns. */
  | "limit"
  /** Its budget is used up. */
  | "budget"
  /** Its calls repeated themselves. */
  | "loop"
  /** The host interrupted it. */
  | "interrupted"
  /** A hook of the host denied it. */
  | "denied"
  /** The hook before the end has denied it more often than `hooks.max_denials` allows. */
  | "unverified"
  /** The last reply was cut; the partial text is the run's text. */
  | "incomplete"
  /** The model or a filter of its provider refused. */
  | "refused"
  /** The model or its endpoint failed for good. */
  | "failed";

/** The kinds of failure that end a run, as `incomplete`, `refused` or `failed`. */
export type ErrorKind =
  /** The endpoint refused the key. */
  | "authentication"
  /** The account's credit, quota or plan is used up. */
  | "quota"
  /** The endpoint limits the rate, and the retries are used up. */
  | "rate_limit"
  /** The endpoint is overloaded, and the retries are used up. */
  | "overloaded"
  /** The conversation no longer fits the model. */
  | "context_overflow"
  /** The endpoint refused the request. */
  | "invalid_request"
  /** A filter of the provider refused the request or the reply. */
  | "content_filter"
  /** The model refused to answer. */
  | "refusal"
  /** The output limit cut the reply. */
  | "output_limit"
  /** The model's replies are empty or broken, and a retry did not help. */
  | "reply"
  /** The endpoint failed, and the retries are used up. */
  | "server"
  /** The connection failed, and the retries are used up. */
  | "network"
  /** The host did not send the request. */
  | "host"
  /** The provider broke its protocol, and the retries are used up. */
  | "protocol"
  /** A limit is reached, and `limits.action` makes that a failure. */
  | "limit"
  /** The model did not give the final answer in the required form. */
  | "answer"
  /** A bug in Innerloop itself. */
  | "internal";

/** The outcome of an action or of a custom tool's run. */
export interface Outcome {
  /** The whole output of the tool; `streams` describes the layout of a program's output. */
  parts: Part[];
  /**
   * True if the first two parts are a program's standard output and standard error, each of which
   * may be empty. Further parts are remarks on the run. The model reads them all as one text,
   * `joined_text`.
   */
  streams?: boolean;
  /** The kind of error, if there was one; `parts` then say what went wrong and what to do. */
  error?: ToolErrorKind;
  /** The source of the denial, if the call needed an approval and got none. */
  denied_by?: DeniedBy;
  /** A program's exit code. */
  exit?: number;
  /**
   * The number of places that were found or changed: results of a search, replacements of an edit,
   * occurrences of a text that should be unique.
   */
  count?: number;
  /**
   * The duration of the run since its launch, in milliseconds, without the time in which a person
   * was asked. If the host does not report it, the session measures it; it is absent only if
   * nothing ran, or if the run was lost.
   */
  duration_ms?: number;
  /** True if the time limit ended the run; `parts` then hold the output up to then. */
  timed_out?: boolean;
  /** The files that changed. */
  changes?: FileChange[];
  /**
   * The digests of the files that the action names, in its order, after it was carried out; an
   * empty text for a file that does not exist. Present only if `known` was.
   */
  digests?: string[];
  /** True if the tool itself dropped a part of its output. */
  capped_at_source?: boolean;
  /** The kinds of secrets that it holds, or held before they were masked. */
  secrets?: string[];
  /**
   * The details that a host's tool passes to its user interface, in `tool_call_end`; the model does
   * not read them.
   */
  details?: unknown;
}

/** The source of a denial. */
export type DeniedBy =
  /** A person, or a function that decides for them. */
  | "person"
  /** Nobody was there to approve it. */
  | "nobody"
  /** A hook of the host. */
  | "hook"
  /** The options of the input, which exclude the tool. */
  | "options";

/** A file that an action changed. */
export interface FileChange {
  /** The path of the file, relative to the workspace's root. */
  path: string;
  /** The kind of change. */
  kind: "created" | "modified" | "deleted";
  /** The text before; absent if the file did not exist, is not UTF-8 or is larger than 256 KiB. */
  before?: string;
  /** The text after, with the same exceptions. */
  after?: string;
}

/** The kinds of failure that a model can act on. */
export type ToolErrorKind =
  /** No such file, folder or program. */
  | "not_found"
  /** The path is outside the workspace or protected. */
  | "permission_denied"
  /** The text to replace was not found, or not once. */
  | "edit_conflict"
  /** The arguments do not fit the tool's schema, or a pattern does not parse. */
  | "invalid_arguments"
  /** No tool of that name. */
  | "unknown_tool"
  /** A folder where a file is needed, or the other way round. */
  | "wrong_file_type"
  /** The file is not text. */
  | "binary"
  /** The file or the output is larger than the tool handles. */
  | "too_large"
  /** The program ended with an exit code other than 0. */
  | "exit"
  /** The time limit ended the run. */
  | "timeout"
  /** The call was denied; `denied_by` says by whom. */
  | "denied"
  /** The user or the host interrupted the run. */
  | "interrupted"
  /** A limit of the sandbox (memory, output, disk) ended the run. */
  | "limit"
  /** Reading or writing failed for another reason. */
  | "io"
  /** The tool itself broke. */
  | "crashed";

/** The state of an agent and its usage. */
export interface SessionStatus {
  /** The state of the agent. */
  state: AgentState;
  /**
   * True if the agent is only shortening the conversation at the host's request: no run is under
   * way.
   */
  compacting?: boolean;
  /** User and assistant turns so far. */
  turns: number;
  /** Tool calls so far. */
  tool_calls: number;
  /** The tokens used so far. */
  usage: SessionUsage;
  /** The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are known. */
  cost_nano_usd?: number;
}

/**
 * The tokens in an agent's context window, by use. The parts are estimates that add up to the
 * total.
 */
export interface ContextUsage {
  /** The system prompt without the project's instructions. */
  system: number;
  /** The project's instructions: in the prompt, and those that calls have brought up. */
  documents: number;
  /** The tools, with their schemas. */
  tools: number;
  /** The inputs and the replies: texts, thinking, calls, and summaries of folded turns. */
  history: number;
  /** The results of tool calls. */
  results: number;
  /**
   * All of them: the provider's count of its last reply and everything before it, plus an estimate
   * of later turns.
   */
  total: number;
  /** The tokens that count as the context window. */
  window: number;
  /** The tokens of the window that are free. */
  free: number;
}

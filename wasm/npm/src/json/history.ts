// What was said, as the session's log has it (snake_case). Made of the core's types, whose words
// these are: see CONTRIBUTING.md#generated-files.

import type { Part, SessionUsage } from "./data.js";

/** One entry of the history. */
export interface SessionTurn {
  /** The time at which it was appended. */
  at: number;
  /** The kind of turn, with its content. */
  kind:
    | { user: Part[] }
    | { assistant: Reply }
    | { tool_results: SessionToolResult[] }
    | { system: string }
    | { steering: Part[] }
    | { folded: Fold }
    | { left_out: LeftOut }
    | {
        rewound: {
          /** The number of turns in the log at that time. */
          at: number;
          /** The kind of rewind that the host asked for. */
          why: Why;
        };
      };
}

/**
 * The replacement for earlier turns. Turns are named by their position in the log, which keeps all
 * of them.
 */
export interface Fold {
  /** The position of the first turn that is kept; 0 if no turn is left out. */
  upto: number;
  /** The positions of earlier turns that are kept nevertheless and whole, in order. */
  pin?: number[];
  /** The position of the turn before which each result is shown as one line. */
  stub_before: number;
  /** The text that replaces the turns that are left out, after the earlier inputs that are kept. */
  text?: string;
  /** The way in which the turns are shortened. */
  kind: FoldKind;
  /** The approximate number of tokens that the model would have read without it. */
  before: number;
  /** The approximate number of tokens that the model reads with it. */
  after: number;
}

/** The way in which earlier turns are shortened. */
export type FoldKind =
  /** Results are left out; the calls stay. */
  | "stub"
  /** The host stores the turns. */
  | "archive"
  /** A model has summarised them. */
  | "summary"
  /** They are left out. */
  | "truncate";

/** Parts that a provider refuses, or that are shown again because they were not the cause. */
export interface LeftOut {
  /**
   * The parts, in order. An empty list means the signatures and the encrypted thinking of all
   * earlier replies.
   */
  parts: PartPlace[];
  /** The decision about these parts. */
  how: Leaving;
  /** The provider's own message. */
  why: string;
}

/** The decision about parts that may have caused a refusal. */
export type Leaving =
  /** They are left out, because the provider named them. */
  | "named"
  /** They are left out as a guess. */
  | "tried"
  /** They are shown again: without them the request was refused as well. */
  | "put_back";

/** The position of a part in the log. */
export interface PartPlace {
  /** The position of the turn. */
  turn: number;
  /** The result within the turn, if the turn consists of results. */
  result?: number;
  /** The part within the turn or result. */
  part: number;
}

/** A complete reply of the model. */
export interface Reply {
  /** The blocks that the model sent, in order. */
  blocks: Block[];
  /** The reason why it ended. */
  finish: Finish;
  /** The provider's own explanation of the model's refusal. */
  refusal?: string;
  /**
   * The provider's explanation of an end that is neither a stop nor calls: its name for the reason,
   * and its message.
   */
  reason?: string;
  /** The tokens that it used; `None` if the provider did not report them. */
  usage?: SessionUsage;
  /**
   * The protocol in which it came: items that only its provider understands are not sent back in
   * another one.
   */
  wire?: "openai_responses" | "openai_chat" | "anthropic" | "gemini" | "ollama";
  /**
   * The model and the endpoint that produced it: signatures and encrypted thinking are sent back to
   * no others. If they are not known, the protocol decides.
   */
  origin?: ModelOrigin;
  /** The provider's id of the response. */
  response_id?: string;
  /** The model that answered, if the provider reported it. */
  model?: string;
}

/** A block of a reply, in the order in which the model sent it. */
export type Block =
  /** Text for the user. */
  | { text: string }
  /** Text for the user that is sent back to the provider with its mark. */
  | {
      marked_text: {
        /** The text, which may be empty. */
        text: string;
        /** The provider's mark: a signature (Gemini), a phase (OpenAI Responses). */
        mark: string;
      };
    }
  /** Thinking before the answer. */
  | {
      reasoning: {
        /** The text of the thinking, which may be empty. */
        text: string;
        /** The provider's signature over it. */
        signature?: string;
        /** The provider's own form of it, sent back unchanged in place of text and signature. */
        item?: unknown;
      };
    }
  /** A call that the host must carry out. */
  | { tool_call: SessionToolCall }
  /** A block that only the provider understands, sent back to it unchanged. */
  | { opaque: unknown };

/** A call of a tool, as the model made it. */
export interface SessionToolCall {
  /** The provider's id, echoed verbatim. */
  id: string;
  /** The tool's name, whether or not such a tool exists. */
  name: string;
  /**
   * The unchanged JSON text of the arguments, which may be invalid; `{}` if the model sent nothing.
   * For a free-form call, its raw input.
   */
  arguments: string;
  /** Further details of the call from the provider; most calls have none. */
  detail?: {
    /** True if the arguments are free text instead of JSON (OpenAI's custom tools). */
    freeform?: boolean;
    /** The provider's signature, sent back on the same call (Gemini). */
    signature?: string;
    /** The provider's own form of the call, sent back unchanged in place of ours. */
    item?: unknown;
  };
}

/** The reason why a reply ended. */
export type Finish =
  /** The model was done. */
  | "stop"
  /** The model wants tools to run. */
  | "tool_calls"
  /** The output limit was reached. */
  | "length"
  /** A filter stopped the reply. */
  | "content_filter"
  /** The model refused to answer. */
  | "refusal"
  /** The provider paused and needs the reply sent back to go on. */
  | "pause"
  /** The context window was full. */
  | "context_window"
  /** The provider could not read the model's own call. */
  | "malformed_tool_call"
  /** The provider reported a failure. */
  | "error"
  /** The reply repeated one passage over and over, and was ended for that. */
  | "repetition"
  /** The provider gave no reason, or an unknown one. */
  | "unknown";

/** The model and the endpoint that produced a reply. */
export interface ModelOrigin {
  /** The host's name for the endpoint. */
  endpoint: string;
  /** The model's name, as it was requested. */
  model: string;
}

/** The result of one call, as the model reads it. */
export interface SessionToolResult {
  /** The id of the call. */
  call_id: string;
  /** The content that the model reads, already truncated. */
  parts: Part[];
  /** True if the call failed. */
  is_error: boolean;
}

/** The reason why an earlier view is restored. */
export type Why =
  /** The newest steps are undone. */
  | "undo"
  /** Steps that were undone are redone. */
  | "redo"
  /** The host named a turn of the log. */
  | "restore"
  /** The host cleared the conversation. */
  | "clear";

/** The part of a turn that the model sees, in the JSON form of `TurnKind`. */
export type Said =
  /** An input of the user. */
  | { user: Part[] }
  /** A reply of the model. */
  | { assistant: Reply }
  /** The results of the calls of the reply before, in call order. */
  | { tool_results: SessionToolResult[] }
  /** A message of the host to the model, in the system's name. */
  | { system: string }
  /** Another message that the model reads as the user's. */
  | { steering: Part[] };

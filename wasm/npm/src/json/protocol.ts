// What goes into a session and what follows from it, as JSON. What goes through this door is an
// object with one key, its kind, whose value is `null` if there is nothing to say. Made of the
// core's types, whose words these are: see CONTRIBUTING.md#generated-files.

import type { Action } from "./action.js";
import type { HookPoint, SessionConfig } from "./config.js";
import type { DeniedBy, Outcome, Part } from "./data.js";
import type { AgentEvent } from "./events.js";
import type { SessionTurn } from "./history.js";
import type { SessionToolChoice } from "./model.js";
import type { ApprovalRule } from "./policies.js";
import type { OneOf, Patch } from "./shapes.js";

/** An input: one thing that happened. */
export type Input =
  /** A command of the host to an agent. */
  | {
      command: {
        /** The agent; the session's own is 0. */
        agent: number;
        /** The command to carry out. */
        command: Command;
      };
    }
  /** A part of an HTTP exchange. */
  | {
      http: {
        /** The effect that asked for it. */
        id: number;
        /** The part of the exchange. */
        input: HttpInput;
      };
    }
  /** A report on a tool's run. */
  | {
      tool: {
        /** The effect that asked for it. */
        id: number;
        /** The report on the run. */
        input: ToolInput;
      };
    }
  /** An answer to a question that was asked. */
  | {
      answer: {
        /** The effect that asked for it. */
        id: number;
        /** The answer to the question. */
        answer: Answer;
      };
    }
  /** A reply of a hook. */
  | {
      hook: {
        /** The effect that asked for it. */
        id: number;
        /** The reply of the hook. */
        reply: HookReply;
      };
    }
  /** The host cannot know the outcome of an effect, for example after a crash. */
  | {
      lost: {
        /** The effect that is lost. */
        id: number;
      };
    }
  /** Time has passed. One tick fires all deadlines that are due. */
  | { tick: null };

/** An answer to an `Ask`. */
export type Answer =
  /** The call may run. */
  | { allow: null }
  /** The call may run, and so may every later one of its tool. */
  | { allow_always: null }
  /** The call may run, and so may later ones that match the rule. */
  | { allow_rule: ApprovalRule }
  /** The call may run with these arguments, which are checked again. */
  | { allow_edited: unknown }
  /** The call may not run. */
  | {
      deny: {
        /** The reason, for the model to read. */
        reason: string;
        /** The one who denied the call: a person, or nobody if nobody is there. */
        by?: DeniedBy;
      };
    }
  /** The run is to stop. */
  | { abort: null }
  /** The text of the person's answer. */
  | { text: string };

/** A command of the host to an agent. */
export type Command =
  /** The user's input; starts a run. Refused while one is under way. */
  | {
      submit: {
        /** The content of the input. */
        parts: Part[];
        /** The options for this input only. */
        options?: InputOptions | null;
      };
    }
  /**
   * A message for the model after the current tool round; while idle it waits for the next submit.
   */
  | {
      steer: {
        /** The content of the message. */
        parts: Part[];
      };
    }
  /** An input that starts when the current one is done. */
  | {
      follow_up: {
        /** The content of the input. */
        parts: Part[];
        /** The options for this input only. */
        options?: InputOptions | null;
      };
    }
  /** A change of the configuration, which takes effect at the next model call. */
  | {
      configure: {
        /** A merge patch (RFC 7396) of the configuration's JSON. The session's id stays. */
        patch: Patch<SessionConfig>;
      };
    }
  /**
   * Shortens the conversation that the model reads: the oldest turns are summarised. Refused while
   * a run is under way, and if no turn is old enough.
   */
  | {
      compact: {
        /** The instructions for the summary: what it should focus on. */
        instructions?: string | null;
      };
    }
  /**
   * Undoes the newest steps; a step begins with each input. Refused while a run is under way, as
   * are the four commands below.
   */
  | {
      undo: {
        /** The maximum number of steps. */
        steps?: number;
      };
    }
  /** Redoes steps that were undone, the last one first. */
  | {
      redo: {
        /** The maximum number of steps. */
        steps?: number;
      };
    }
  /** Restores the model's view of the time when the log had this many turns. */
  | {
      restore: {
        /** The number of turns. */
        at: number;
      };
    }
  /** Hides the whole conversation so far from the model. Can be undone. */
  | { clear: null }
  /** Appends the turns of another conversation. */
  | {
      import: {
        /**
         * The turns, oldest first. Calls of the last one without a result get one that says that
         * they were interrupted.
         */
        turns: SessionTurn[];
      };
    }
  /** Stops the run; the session stays usable. */
  | { interrupt: null }
  /** Ends the session after its shutdown sequence. */
  | { close: null };

/**
 * The options for one input only: they hold until its run ends, or until the run's next input
 * begins. Agents that are started meanwhile have the same tools and paths.
 */
export interface InputOptions {
  /**
   * The tools that may be called, by the names that the model sees; all if absent. A call of
   * another tool is denied, and the model reads why. The final answer can always be given.
   */
  tools?: string[];
  /**
   * True if the other tools are not shown to the model either, which costs the provider's cache of
   * earlier requests twice: now, and when they come back.
   */
  hide?: boolean;
  /**
   * Files and folders of the workspace, relative to its root, that calls may name; all if absent.
   * Tools that do not name their files, such as a shell, are denied. Links are not resolved.
   */
  paths?: string[];
  /**
   * The rule for tool calls, which overrides the configuration's: the model must, may or must not
   * make them. A required call is required only once.
   */
  tool_choice?: SessionToolChoice;
  /** The model's temperature: a number, 0 or more. */
  temperature?: number;
}

/** A reply to a `HookRun`. */
export type HookReply =
  /** The run goes on unchanged. */
  | { allow: null }
  /** The hook denies the step. */
  | {
      deny: {
        /** The reason, for the model to read. */
        reason: string;
      };
    }
  /** The run goes on with this replacement. */
  | { replace: unknown }
  /** The hook itself failed. */
  | {
      failed: {
        /** The text that describes the failure. */
        message: string;
      };
    };

/**
 * A part of an HTTP exchange, in the order head, chunks, end. A failure may come at any time;
 * before the head, the host may report that it holds the request back. A further head restarts the
 * response: the host was restarted and sends the request again.
 */
export type HttpInput =
  /**
   * The host holds the request back, since others are ahead of it. The idle timeout is paused until
   * the request is sent.
   */
  | {
      held: {
        /** The number of requests ahead of it; absent when this one is sent. */
        ahead: number | null;
      };
    }
  /** The status and the headers of the response. */
  | { head: ResponseHead }
  /** A piece of the body, cut at any byte. */
  | { chunk: Bytes }
  /** The body is complete. Answers the effect. */
  | { end: null }
  /** The exchange broke or was cancelled. Answers the effect. */
  | {
      failed: {
        /** The kind, which decides whether a retry makes sense. */
        kind: "network" | "timeout" | "cancelled" | "refused";
        /** A sentence that describes the failure to the user. */
        message: string;
      };
    };

/** Bytes: a text where they are UTF-8. */
export type Bytes =
  | string
  | {
      /** The bytes in base64. */
      base64: string;
    };

/** Status and headers of a response. */
export interface ResponseHead {
  /** The status code of the response. */
  status: number;
  /** The headers, names in lower case. */
  headers: [string, string][];
  /** The wall time in milliseconds since 1970; 0 if unknown. */
  at: number;
}

/** News of a tool's run. */
export type ToolInput =
  /** Output while it runs, for people to watch. */
  | { delta: string }
  /** The run goes on in the background; this answers the model's call. */
  | {
      parked: {
        /** The host's name for the run. */
        handle: string;
        /** The outcome that the model reads for now. */
        outcome: Outcome;
      };
    }
  /** The run is over. Answers the effect. */
  | { done: Outcome };

/** One output: an effect to carry out or an event to observe. */
export type Output = OneOf<{
  /** An effect to carry out. */
  effect: Effect;
  /** An event to observe. */
  event: AgentEvent;
}>;

/** An effect: something that the host carries out. */
export type Effect = OneOf<{
  /** Send a request and report the response as `HttpInput`s. */
  http: {
    /** The id of the effect. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The request to send. */
    request: HttpRequest;
    /** The purpose of the request. */
    purpose: "model" | "summary" | "mcp";
  };
  /** Run a tool and report it as `ToolInput`s. */
  run_tool: {
    /** The id of the effect. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The run to carry out; the session keeps it until the answer has come. */
    run: ToolRun;
  };
  /** Ask a person and report the `Answer`. */
  ask: {
    /** The id of the effect. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The question to ask. */
    ask: Ask;
  };
  /** Run a hook and report its `HookReply`. */
  run_hook: {
    /** The id of the effect. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The hook to run. */
    hook: {
      /** The point in the loop at which it runs. */
      point: HookPoint;
      /** The data passed to the hook. */
      payload: unknown;
    };
  };
  /**
   * Stop an open effect. It needs no answer of its own: the effect that it names is still answered
   * once, with its output so far.
   */
  cancel: {
    /** The effect to stop. */
    id: number;
    /** The time after which the session goes on without the answer, in milliseconds. */
    grace_ms: number;
  };
}>;

/** A question to a person. */
export type Ask = OneOf<{
  /** May this call run? */
  approval: {
    /** The id of the call. */
    call_id: string;
    /** The name of the tool. */
    name: string;
    /** The arguments of the call. */
    arguments: unknown;
    /**
     * The folder of the workspace that the calling agent works in, relative to the root (empty for
     * the root itself); paths in the arguments are relative to it.
     */
    folder?: string;
    /**
     * The ids of earlier calls of the same reply that are not over yet, whose changes this call
     * will see.
     */
    after?: string[];
  };
  /** A question of the model. */
  question: {
    /** The question to the user. */
    text: string;
  };
  /** A question of a tool server. */
  elicitation: {
    /** The question to the user. */
    message: string;
    /** The schema that the answer must fit. */
    schema: unknown;
  };
}>;

/** A request to an endpoint of the host's table, which adds origin and key. */
export interface HttpRequest {
  /** The endpoint to send it to. */
  endpoint: string;
  /** The path below the endpoint's base URL, with its leading `/`. */
  path: string;
  /** Headers without any secret, names in lower case. */
  headers: [string, string][];
  /** The body of a POST: JSON text. */
  body: string;
}

/** One run of a tool, which `run_tool` asks the host for. */
export interface ToolRun {
  /** The call's id, as the model gave it. */
  call_id: string;
  /** The tool's name, as the model sees it. */
  name: string;
  /** The job to run. */
  job: OneOf<{
    /** A built-in tool's action, already translated from the model's vocabulary. */
    builtin: Action;
    /** A tool that the host registered; the arguments have been checked against its schema. */
    custom: unknown;
    /** A query of kept outputs, which the driver answers: its hosts never see it. */
    kept: {
      /** The output to read from. */
      id?: string;
      /** The tool whose outputs are listed. */
      tool?: string;
      /** The number of characters to skip. */
      offset: number;
      /** The number of characters to read; 0 for as many as fit. */
      limit: number;
    };
  }>;
  /**
   * The folder of the workspace that the calling agent works in, relative to the root (empty for
   * the root): the paths of a built-in action are relative to it, and a program runs in it.
   */
  folder?: string;
  /**
   * The model's knowledge of the files that a built-in action names, in its order, if the guard is
   * on: the digest of a file when the model last read or changed it, an empty text for any content,
   * `null` for a file that it has not seen. A file that has changed since is not touched.
   */
  known?: (string | null)[];
  /**
   * The time after which the host stops the run and answers with the output so far, with
   * `timed_out` set, in milliseconds.
   */
  timeout_ms: number;
}

/** The time at which the host sends a tick if nothing else happens before. */
export interface Deadline {
  /** The time of the tick. */
  at: number;
  /** The event that the deadline is for. */
  reason: "retry" | "model_idle" | "grace" | "wait" | "budget";
}

/** A refused input, which has not changed the session. */
export interface Rejected {
  /** The unchanged input. */
  input: Input;
  /** The reason why it was refused. */
  reason: Reason;
}

/** The reason why an input was refused. Each is a mistake of the host. */
export type Reason =
  /** A submit, or a change of the view, while a run is under way. */
  | { busy: null }
  /** Any command after the session has closed. */
  | { closed: null }
  /**
   * A text that holds secrets of these kinds, which the firewall refuses, or a secret at that place
   * of an option, where none can be.
   */
  | { holds_secret: string }
  /** The session has no such agent. */
  | { unknown_agent: number }
  /** The session never issued such an effect. */
  | { unknown_effect: number }
  /** The answer does not fit the effect, such as a part of an HTTP exchange for a tool's run. */
  | { wrong_kind: number }
  /** A part of an HTTP exchange out of order: a body before its head. */
  | { out_of_order: number }
  /** A submit, steer or follow-up without content. */
  | { empty: null }
  /** The command has nothing to act on. */
  | { nothing: string }
  /** An input that needs a model call while the session's budget is used up. */
  | { budget: null }
  /** Turns that cannot be taken over. */
  | { import: string }
  /** An invalid configuration. */
  | { config: ConfigError }
  /** This version does not support the input. */
  | { unsupported: string };

/** The reason why a configuration cannot work. */
export interface ConfigError {
  /** The field, as a path in the configuration, for example `tools[2].name`. */
  field: string;
  /** The tool's name, if the field is a tool's. */
  tool?: string;
  /** The text that describes the fault and the correct form. */
  message: string;
  /** The kind of fault if the JSON is invalid, for hosts that word errors themselves. */
  fault?: JsonFault;
}

/** The kind of fault. */
export type JsonFault =
  /** The text ends in the middle of a value, so that it may be the beginning of a valid one. */
  | {
      kind: "eof";
    }
  /** The text is not JSON. */
  | {
      kind: "syntax";
      /** The text that says what is wrong with it. */
      message: string;
    }
  /** A value of another type. */
  | {
      kind: "unexpected";
      /** The value that stands there, for example `null` or `"ten"`. */
      found: string;
      /** The value that is expected there, for example `an object`. */
      expected: string;
    }
  /** A number that does not fit. */
  | {
      kind: "range";
      /** The number. */
      found: string;
      /** The numbers that fit, for example `a whole number from 0 to 255`. */
      expected: string;
    }
  /** A field that there is not; the path ends with it. */
  | {
      kind: "unknown_field";
      /** Its name. */
      name: string;
      /** The fields that there are. */
      known: string[];
    }
  /** A value that is none of those that there are. */
  | {
      kind: "unknown_value";
      /** The value. */
      name: string;
      /** The values that there are. */
      known: string[];
    }
  /** A field that must be there and is not; the path ends with it. */
  | {
      kind: "missing_field";
      /** Its name. */
      name: string;
    }
  /** A field that is there twice. */
  | {
      kind: "duplicate_field";
      /** Its name. */
      name: string;
    }
  /** Another reason why the value is refused. */
  | {
      kind: "invalid";
      /** The text that says what is wrong with it. */
      message: string;
    };

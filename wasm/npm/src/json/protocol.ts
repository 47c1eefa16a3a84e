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

/** One thing that happened. */
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
  /** News of an HTTP exchange. */
  | {
      http: {
        /** The effect that asked for it. */
        id: number;
        /** The news of the exchange. */
        input: HttpInput;
      };
    }
  /** News of a tool's run. */
  | {
      tool: {
        /** The effect that asked for it. */
        id: number;
        /** The news of the run. */
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
  /** The host cannot know what became of an effect, for example after a crash. */
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
  /** The call may run, and so may later ones that the rule names. */
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
  /** An input for when the current one is done. */
  | {
      follow_up: {
        /** The content of the input. */
        parts: Part[];
        /** The options for this input only. */
        options?: InputOptions | null;
      };
    }
  /** A change of the configuration, in force from the next model call. */
  | {
      configure: {
        /** A merge patch (RFC 7396) of the configuration's JSON. The session's id stays. */
        patch: Patch<SessionConfig>;
      };
    }
  /**
   * Makes the conversation that the model reads shorter: the oldest turns are summed up. Refused
   * while a run is under way, and if every turn is one that stays.
   */
  | {
      compact: {
        /** The instructions for the summary: what it is to focus on. */
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
  /** Shows the model what it saw when the log had so many turns. */
  | {
      restore: {
        /** The number of turns. */
        at: number;
      };
    }
  /** Hides everything that was said so far from the model. Can be undone. */
  | { clear: null }
  /** Appends what was said in another conversation. */
  | {
      import: {
        /**
         * The turns, oldest first. Calls of the last one that have no result get one that says that
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
   * The tools that may be called, by the names that the model is shown; all if absent. A call of
   * another tool is denied, and the model reads why. The final answer can always be given.
   */
  tools?: string[];
  /**
   * True if the other tools are not shown to the model either, which costs the provider's cache of
   * earlier requests twice: now, and when they come back.
   */
  hide?: boolean;
  /**
   * Files and folders of the workspace, from its root on, that calls may name; all if absent. Tools
   * that do not name their files, such as a shell, are denied. Links are not resolved.
   */
  paths?: string[];
  /**
   * The rule for tool calls, in place of the configuration's: the model must, may or must not make
   * them. A call that must be made must be made only once.
   */
  tool_choice?: SessionToolChoice;
  /** The model's temperature: a number, 0 or more. */
  temperature?: number;
}

/** A reply to a `HookRun`. */
export type HookReply =
  /** The run goes on as it would have. */
  | { allow: null }
  /** The hook denies what it was asked about. */
  | {
      deny: {
        /** The reason, for the model to read. */
        reason: string;
      };
    }
  /** Go on with this in its place. */
  | { replace: unknown }
  /** The hook itself broke. */
  | {
      failed: {
        /** The text that says how it broke. */
        message: string;
      };
    };

/**
 * News of an HTTP exchange, in the order head, chunks, end. A failure may come at any time; before
 * the head, the host may say that it holds the request back. A further head begins the response
 * anew: the host was restarted and sends the request again.
 */
export type HttpInput =
  /**
   * The host holds the request back, since others go first. The idle time does not run until the
   * request goes out.
   */
  | {
      held: {
        /** The number of requests that go first; absent when this one goes out. */
        ahead: number | null;
      };
    }
  /** Status and headers are there. */
  | { head: ResponseHead }
  /** A piece of the body, cut at any byte. */
  | { chunk: Bytes }
  /** The body is whole. Answers the effect. */
  | { end: null }
  /** The exchange broke or was cancelled. Answers the effect. */
  | {
      failed: {
        /** The kind, which decides whether a retry makes sense. */
        kind: "network" | "timeout" | "cancelled" | "refused";
        /** A sentence that tells the user what failed. */
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

/** One output: a thing to do or a thing to know. */
export type Output = OneOf<{
  /** A thing to do. */
  effect: Effect;
  /** A thing to know. */
  event: AgentEvent;
}>;

/** A thing to do. */
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
      /** The data that the hook is given. */
      payload: unknown;
    };
  };
  /**
   * Stop an open effect. It needs no answer of its own: the effect that it names is still answered
   * once, with what there is.
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
     * The folder of the workspace that the calling agent works in, from the root on, which is the
     * empty text; paths in the arguments begin there.
     */
    folder?: string;
    /**
     * The ids of earlier calls of the same reply that are not over yet: the call finds what they
     * leave.
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

/** One run of a tool: what `run_tool` asks of the host. */
export interface ToolRun {
  /** The call's id, as the model gave it. */
  call_id: string;
  /** The tool's name, as the model is shown it. */
  name: string;
  /** The job to run. */
  job: OneOf<{
    /** A built-in tool's action, already translated from the model's vocabulary. */
    builtin: Action;
    /** A tool that the host registered; the arguments have been checked against its schema. */
    custom: unknown;
    /**
     * A question about the outputs that are kept, which the driver answers: its hosts never see it.
     */
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
   * The folder of the workspace that the calling agent works in, from the root on, which is empty:
   * the paths of a built-in action begin there, and a program runs there.
   */
  folder?: string;
  /**
   * The model's knowledge of the files that a built-in action names, in its order, if the guard is
   * on: the digest of a file when the model last read or changed it, an empty text for any content,
   * `null` for a file that it has not seen. A file that has changed since is not touched.
   */
  known?: (string | null)[];
  /**
   * The time after which the host stops the run and answers with what there is, `timed_out` set, in
   * milliseconds.
   */
  timeout_ms: number;
}

/** The time at which the host sends a tick if nothing else happens before. */
export interface Deadline {
  /** The time of the tick. */
  at: number;
  /** The thing that is waited for. */
  reason: "retry" | "model_idle" | "grace" | "wait" | "budget";
}

/** A refused input: the session is as it was. */
export interface Rejected {
  /** The input as it was given. */
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
  /** The session has no such agent. */
  | { unknown_agent: number }
  /** The session never issued such an effect. */
  | { unknown_effect: number }
  /** The answer does not fit the effect: HTTP news for a tool's run, for example. */
  | { wrong_kind: number }
  /** HTTP news out of order: a body before its head. */
  | { out_of_order: number }
  /** A submit, steer or follow-up with nothing in it. */
  | { empty: null }
  /** There is nothing that the command could act on. */
  | { nothing: string }
  /** An input that needs a model call while the session's budget is used up. */
  | { budget: null }
  /** Turns that cannot be taken over. */
  | { import: string }
  /** A configuration that cannot work. */
  | { config: ConfigError }
  /** Not offered by this version. */
  | { unsupported: string };

/** The reason why a configuration cannot work. */
export interface ConfigError {
  /** The field, as a path in the configuration, for example `tools[2].name`. */
  field: string;
  /** The tool's name, if the field is a tool's. */
  tool?: string;
  /** The text that says what is wrong with the field and what would be right. */
  message: string;
  /** The kind of fault if the JSON does not fit, for hosts with a wording of their own. */
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

// What goes into a session and what follows from it, as JSON. What goes through this door is an
// object with one key, its kind, whose value is `null` if there is nothing to say. Made of the
// core's types, whose words these are: see CONTRIBUTING.md#generated-files.

import type { Action } from "./action.js";
import type { ApprovalRule, HookPoint, SessionConfig } from "./config.js";
import type { DeniedBy, Outcome, Part } from "./data.js";
import type { AgentEvent } from "./events.js";
import type { SessionTurn } from "./history.js";
import type { SessionToolChoice } from "./model.js";
import type { OneOf, Patch } from "./shapes.js";

/** One thing that happened. */
export type Input =
  /** A word of the host to an agent. */
  | {
      command: {
        /** The agent; the session's own is 0. */
        agent: number;
        /** The word. */
        command: Command;
      };
    }
  /** News of an HTTP exchange. */
  | {
      http: {
        /** The effect that asked for it. */
        id: number;
        /** The news. */
        input: HttpInput;
      };
    }
  /** News of a tool's run. */
  | {
      tool: {
        /** The effect that asked for it. */
        id: number;
        /** The news. */
        input: ToolInput;
      };
    }
  /** A person's answer. */
  | {
      answer: {
        /** The effect that asked for it. */
        id: number;
        /** The answer. */
        answer: Answer;
      };
    }
  /** A hook's reply. */
  | {
      hook: {
        /** The effect that asked for it. */
        id: number;
        /** The reply. */
        reply: HookReply;
      };
    }
  /** The host cannot know what became of an effect, for example after a crash. */
  | {
      lost: {
        /** The effect. */
        id: number;
      };
    }
  /** Time has passed. Only a tick fires deadlines, and one tick fires all that are due. */
  | { tick: null };

/** A person's answer. */
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

/** A word of the host to an agent. */
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
   * while a run is under way, and where all turns are among those that stay.
   */
  | {
      compact: {
        /** The instructions for the summary: what it is to focus on. */
        instructions?: string | null;
      };
    }
  /**
   * Takes back the newest steps; a step begins with each input. Refused while a run is under way,
   * as are the four below.
   */
  | {
      undo: {
        /** The maximum number of steps. */
        steps?: number;
      };
    }
  /** Puts back steps that were taken back, the last one first. */
  | {
      redo: {
        /** The maximum number of steps. */
        steps?: number;
      };
    }
  /** The model sees again what it saw when the log had so many turns. */
  | {
      restore: {
        /** The number of turns. */
        at: number;
      };
    }
  /** The model sees nothing of what was said so far. Can be undone. */
  | { clear: null }
  /** Takes over what was said elsewhere, behind what is there. */
  | {
      import: {
        /**
         * The turns, oldest first. Calls of the last one that have no answer are answered as
         * interrupted.
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
   * another one is refused in words. The final answer can always be given.
   */
  tools?: string[];
  /**
   * True if the other tools are not shown to the model either, which costs the provider's cache of
   * earlier requests twice: now, and when they come back.
   */
  hide?: boolean;
  /**
   * Files and folders of the workspace, from its root on, that calls may name; all if absent. What
   * is not about files that it names, as a shell, is refused. Links are not followed to see where
   * they lead.
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

/** A hook's reply. */
export type HookReply =
  /** Go on. */
  | { allow: null }
  /** Do not. */
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
 * News of an HTTP exchange, in the order head, chunks, end; a failure may come at any time, and
 * before the head that the request is held. A further head begins the response anew: the host was
 * restarted and carries the request out again.
 */
export type HttpInput =
  /**
   * The host holds the request back, for others go first: the time in which something must come
   * does not run before the request goes out.
   */
  | {
      held: {
        /** The number of requests that go first; absent when this one goes out. */
        ahead: number | null;
      };
    }
  /** Status and headers are there. */
  | { head: ResponseHead }
  /** A piece of the body, cut anywhere. */
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
  /** The status code. */
  status: number;
  /** The headers, names in lower case. */
  headers: [string, string][];
  /** The wall time, for headers that name a date; 0 if unknown. */
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

/** A thing to do or a thing to know. */
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
    /** Its id. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The request. */
    request: HttpRequest;
    /** The purpose of the request. */
    purpose: "model" | "summary" | "mcp";
  };
  /** Run a tool and report it as `ToolInput`s. */
  run_tool: {
    /** Its id. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The run to carry out; the session keeps it until the answer has come. */
    run: ToolRun;
  };
  /** Ask a person and report the `Answer`. */
  ask: {
    /** Its id. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The question. */
    ask: Ask;
  };
  /** Run a hook and report its `HookReply`. */
  run_hook: {
    /** Its id. */
    id: number;
    /** The agent that it belongs to. */
    agent: number;
    /** The hook to run. */
    hook: {
      /** The point in the loop at which it runs. */
      point: HookPoint;
      /** The data that it is given. */
      payload: unknown;
    };
  };
  /**
   * Stop an open effect. Owes no answer of its own: the effect that it names still owes its one,
   * with what there is.
   */
  cancel: {
    /** The effect to stop. */
    id: number;
    /** After how long the session goes on without the answer. */
    grace_ms: number;
  };
}>;

/** A question to a person. */
export type Ask = OneOf<{
  /** May this call run? */
  approval: {
    /** The call's id. */
    call_id: string;
    /** The tool. */
    name: string;
    /** Its arguments. */
    arguments: unknown;
    /**
     * The folder of the workspace that the calling agent works in, from the root on, which is
     * empty: the arguments' paths begin there.
     */
    folder?: string;
    /**
     * The ids of the calls before it in the same reply that are not over yet: what it finds depends
     * on them.
     */
    after?: string[];
  };
  /** A question of the model. */
  question: {
    /** The question. */
    text: string;
  };
  /** A question of a tool server. */
  elicitation: {
    /** The question. */
    message: string;
    /** The schema that the answer must fit. */
    schema: unknown;
  };
}>;

/** A request to an endpoint of the host's table, which adds origin and key. */
export interface HttpRequest {
  /** The endpoint. */
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
  }>;
  /**
   * The folder of the workspace that the calling agent works in, from the root on, which is empty:
   * the paths of a built-in action begin there, and a program runs there.
   */
  folder?: string;
  /**
   * The model's knowledge of the files that a built-in action names, in its order, if the guard is
   * on: the digest of a file when the model last read or changed it, an empty text for any content,
   * `null` for a file that it has not seen. A file that has changed since is left alone.
   */
  known?: (string | null)[];
  /** After how long the host stops the run and answers with what there is, `timed_out` set. */
  timeout_ms: number;
}

/** The time to send a tick if nothing else happens. */
export interface Deadline {
  /** The time. */
  at: number;
  /** The thing that is waited for. */
  reason: "retry" | "model_idle" | "grace" | "wait" | "budget";
}

/** A refused input: the session is as it was, and the input comes back. */
export interface Rejected {
  /** The input, whole. */
  input: Input;
  /** The reason why it was refused. */
  reason: Reason;
}

/** The reason why an input was refused. Each is a mistake of the host. */
export type Reason =
  /** A submit, or a word to the view, while a run is under way. */
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
  /** There is nothing to do it to. */
  | { nothing: string }
  /** An input that would take a model while the budget of the session is used up. */
  | { budget: null }
  /** Turns that cannot be taken over. */
  | { import: string }
  /** A configuration that cannot work. */
  | { config: ConfigError }
  /** Not offered by this version. */
  | { unsupported: string };

/** A configuration that cannot work. */
export interface ConfigError {
  /** The field, as a path in the configuration, for example `tools[2].name`. */
  field: string;
  /** Of a tool's field, the tool's name. */
  tool?: string;
  /** The text that says what is wrong with it and what would be right. */
  message: string;
  /** The kind of fault if the JSON does not fit, for a host that words it itself. */
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

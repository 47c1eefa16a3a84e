// The types of the user's functions for approvals, questions and hooks: what each gets and what it
// may return. `agent/people.ts` calls them.

import type { ApprovalRule } from "../json/policies.js";
import type { Signal } from "../platform/globals.js";

/** A call that wants to run. */
export interface ApprovalRequest {
  callId: string;
  /** The tool. */
  name: string;
  /** The arguments; they fit the tool's schema. */
  arguments: unknown;
  /** The folder of the workspace in which the arguments' paths begin; empty for the root. */
  folder: string;
}

/**
 * The decision about a call. `true`: it may run; `"always"`: every later call of its tool may, too;
 * `rule`: calls that the rule names may, too; `arguments`: it may run with these instead. `false`
 * or `deny`: it may not, and the model reads why. `"abort"`: the run stops.
 */
export type Approval =
  | boolean
  | "always"
  | "abort"
  | { deny: string }
  | { arguments: object }
  | { rule: ApprovalRule };

/** A question of the model or of a tool server. */
export interface Question {
  text: string;
  /** The JSON Schema of the answer, if it must have a form. */
  schema?: unknown;
}

/** The context of a question or a hook. */
export interface AskContext {
  /** The number of the agent that asks; the session's own is 0. */
  agent: number;
  /** A signal that fires when no answer is needed any more, such as when the run was stopped. */
  signal: Signal;
}

/** A function that decides whether a call may run. If it throws, the call is denied. */
export type Approve = (call: ApprovalRequest, context: AskContext) => Approval | Promise<Approval>;

/** A function that answers a question. If it throws, the model reads that there is no answer. */
export type AskUser = (question: Question, context: AskContext) => string | Promise<string>;

/** A call as hooks see it: before it runs, and afterwards with its result. */
export interface HookedCall {
  callId: string;
  name: string;
  /** The arguments' JSON text. */
  arguments: string;
  /** The folder of the workspace in which the arguments' paths begin; empty for the root. */
  folder: string;
  /** The text that the model will read; only after the call. */
  text?: string;
  /** True if the call failed; only after the call. */
  isError?: boolean;
}

/** The turns that are to be archived or summarised. */
export interface FoldedTurns {
  kind: "archive" | "summary";
  /** The turns as text. */
  transcript: string;
  /** The files that were read and changed. */
  files: { read?: string[]; changed?: string[] };
  /** Estimated tokens of the whole conversation. */
  tokens: number;
}

/** The return value of a hook: nothing or `true` to go on, `false` or `deny` to refuse. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` is a hook, too.
export type HookResult<T> = void | boolean | { deny: string } | { replace: T };

/** A function that is called in the loop. */
export type Hook<Said, Replacement> = (
  said: Said,
  context: AskContext,
) => HookResult<Replacement> | Promise<HookResult<Replacement>>;

/**
 * Functions that are called in the loop.
 *
 * ```js
 * const beforeTool = ({ name }) => (name === "deploy" ? { deny: "not on Fridays" } : true);
 * const agent = await Agent.create({ provider, apiKey, files, hooks: { beforeTool } });
 * ```
 */
export interface Hooks extends HookRules {
  /** Called with the user's text, which it may replace. */
  submit?: Hook<string, string> | undefined;
  /** Called before a model call; `replace` adds a system message to it. */
  beforeModel?: Hook<string, string> | undefined;
  /** Called before a tool runs; it may replace the arguments. */
  beforeTool?: Hook<HookedCall, object> | undefined;
  /** Called after a tool has run; it may replace the text that the model reads. */
  afterTool?: Hook<HookedCall, string> | undefined;
  /**
   * Called after a round of calls, with what the model said beside them; `replace` adds a message
   * that the model reads behind the results. If it denies, the run ends.
   */
  afterIteration?: Hook<string, string> | undefined;
  /** Called before the run ends with this text; if it denies, the model reads why and goes on. */
  beforeStop?: Hook<string, string> | undefined;
  /**
   * Called with the run's result, which it may replace for whoever reads it; the history keeps the
   * model's text. If it denies, nobody gets the result.
   */
  outbound?: Hook<string, string> | undefined;
  /**
   * Called with the oldest turns before they are archived or summarised; it returns true once they
   * are stored, or a text in their place. If it denies or throws, the conversation stays as it is.
   */
  compact?: Hook<FoldedTurns, string> | undefined;
}

/** The rules that hold for all hooks. */
export interface HookRules {
  /** True if a hook that throws counts as a denial; otherwise the run goes on. */
  failClosed?: boolean | undefined;
  /**
   * The number of times that `beforeStop` may send the model back to work for one input, 3 if left
   * out; then the run ends as it is (status `unverified`).
   */
  maxDenials?: number | undefined;
}

/** The names of the hooks, as the configuration has them. */
export type HookName = Exclude<keyof Hooks, keyof HookRules>;

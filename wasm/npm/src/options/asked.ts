// The functions of the user that are asked: approvals, questions, hooks; what each is told and may
// answer.

import type { ApprovalRule } from "../json/config.js";
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
 * What may become of a call. `true`: it may run; `"always"`: so may every later one of its tool;
 * `rule`: so may those that it names; `arguments`: it may run with these instead. `false` or
 * `deny`: it may not, and the model reads why. `"abort"`: the run is to stop.
 */
export type Approval =
  | boolean
  | "always"
  | "abort"
  | { deny: string }
  | { arguments: object }
  | { rule: ApprovalRule };

/** A question, of the model or of a tool server. */
export interface Question {
  text: string;
  /** What the answer must look like, if anything is said about it. */
  schema?: unknown;
}

/** What a function that is asked is told besides. */
export interface AskContext {
  /** Which agent asks; the session's own is 0. */
  agent: number;
  /** Fires when the question is no longer needed: the run was stopped, say. */
  signal: Signal;
}

/** Says whether a call may run. What it throws denies the call. */
export type Approve = (call: ApprovalRequest, context: AskContext) => Approval | Promise<Approval>;

/** Answers a question. What it throws tells the model that there is no answer. */
export type AskUser = (question: Question, context: AskContext) => string | Promise<string>;

/** A call as hooks see it: before it runs, and then with what came of it. */
export interface HookedCall {
  callId: string;
  name: string;
  /** The arguments' JSON text. */
  arguments: string;
  /** The folder of the workspace in which the arguments' paths begin; empty for the root. */
  folder: string;
  /** What the model will read, after the call. */
  text?: string;
  /** Whether it failed, after the call. */
  isError?: boolean;
}

/** Turns that are to be archived or summed up. */
export interface FoldedTurns {
  kind: "archive" | "summary";
  /** What was said and done, as text. */
  transcript: string;
  /** The files that were read and changed. */
  files: { read?: string[]; changed?: string[] };
  /** Tokens of the whole conversation, about. */
  tokens: number;
}

/** What a hook may return: nothing or `true` to go on, `false` or `deny` not to. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` is a hook, too.
export type HookResult<T> = void | boolean | { deny: string } | { replace: T };

/** A function that stands in the loop. */
export type Hook<Said, Replacement> = (
  said: Said,
  context: AskContext,
) => HookResult<Replacement> | Promise<HookResult<Replacement>>;

/** Functions that stand in the loop. */
export interface Hooks extends HookRules {
  /** The user has said something; another text may take its place. */
  submit?: Hook<string, string> | undefined;
  /** A model call is next; a text may be said to the model, as the system. */
  beforeModel?: Hook<string, string> | undefined;
  /** A tool is to run; other arguments may take the place of its own. */
  beforeTool?: Hook<HookedCall, object> | undefined;
  /** A tool has run; another text may take the place of what the model reads. */
  afterTool?: Hook<HookedCall, string> | undefined;
  /** The run is to end with this text; a denial's reason is said to the model, which goes on. */
  beforeStop?: Hook<string, string> | undefined;
  /**
   * The run has come to this, which goes out as its result unless another text takes its place; the
   * conversation keeps what the model said. What is denied goes to nobody.
   */
  outbound?: Hook<string, string> | undefined;
  /**
   * The oldest turns are to be archived or summed up: true once they are stored; another text may
   * take their place. What it denies or throws leaves the conversation as it is.
   */
  compact?: Hook<FoldedTurns, string> | undefined;
}

/** What holds for hooks. */
export interface HookRules {
  /** Whether a hook that throws counts as a denial; else the run goes on. */
  failClosed?: boolean | undefined;
  /**
   * How often `beforeStop` may send the model back to work for one input, 3 times if left out; then
   * the run ends as it stands (status `unverified`).
   */
  maxDenials?: number | undefined;
}

/** The names of the hooks, as the configuration has them. */
export type HookName = Exclude<keyof Hooks, keyof HookRules>;

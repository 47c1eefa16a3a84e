// What is handed out of runs, histories and states, in camelCase, made of the session's JSON.

import { AgentError } from "../errors.js";
import type {
  AgentState,
  ErrorKind,
  Part,
  RunEnd,
  SessionStatus,
  SessionUsage,
} from "../json/data.js";
import type { AgentEvent, Failure, ProcessingEnd } from "../json/events.js";
import type { Block, Finish, Fold, LeftOut, Said, SessionTurn, Why } from "../json/history.js";
import type { TurnOptions } from "../options/turn.js";

/** How a run ended, and with what. */
export interface RunResult<Answer = unknown> {
  /**
   * `completed`: the model was done. `limit`: a limit of turns or rounds. `incomplete`: the last
   * reply was cut, `refused`: the model or its provider refused, `failed`: the call failed; `error`
   * says why.
   */
  status: RunEnd;
  /** What the model said last. */
  text: string;
  /** Tokens of the run, with those that agents which it has started used meanwhile. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  toolCalls: number;
  /** Rounds of tool calls of the run: replies with calls, and their results. */
  rounds: number;
  /** The final answer in the form that the option `answer` asks for, as its schema means it. */
  answer?: Answer;
  /** Why the run is `failed`, `incomplete` or `refused`. */
  error?: RunError;
}

/**
 * What ended a run. Nothing is thrown for it: `Run.result` has it beside the status. Of a
 * recorded failure it is the same as it was then.
 */
export interface RunError {
  /** The kind of failure. */
  kind: ErrorKind;
  /** What, and what to do. */
  message: string;
  /** Whether the same may go well later: the provider was busy, the connection broke. */
  retryable: boolean;
  /** The HTTP status of the provider's response, where there was one, be it recorded. */
  status?: number;
  /** The provider's id of the request, where a header tells one: its support asks for it. */
  requestId?: string;
  /** Of a recording that does not fit. */
  code?: "replay_mismatch" | "replay_exhausted";
  /** Which model call of the recording, counted from 1. */
  call?: number;
  /** What the recording expects the model to have been told. */
  expected?: string;
  /** What it would have been told. */
  found?: string;
}

/** Where an agent stands and what it has used. */
export interface Status {
  state: AgentState;
  /** It does nothing but sum up, as {@link Agent.compact} asked: no run is under way. */
  compacting?: true;
  /** User and assistant turns so far. */
  turns: number;
  toolCalls: number;
  /** Tokens of the agent, and of all that it has started. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
}

/** What waits for an agent to read it. */
export interface PendingInputs {
  /** What {@link Agent.steer} has said, for after the current round of tools; oldest first. */
  steering: Part[][];
  /** The inputs of {@link Agent.followUp}, for when the current one is done; oldest first. */
  followUps: PendingInput[];
}

/** An input that waits. */
export interface PendingInput {
  parts: Part[];
  /** What holds for it only, if it was given with options. */
  options?: TurnOptions;
}

/** An agent that was started by the session's own, or by another one of them. */
export interface SubagentInfo {
  /** Its number, as events have it, and {@link Agent.history}. */
  id: number;
  /** The number of the agent that started it; 0 is the session's own. */
  parent: number;
  /** Where it stands, as the agent that started it is told. */
  state: "running" | "completed" | "failed" | "closed";
  /** What it was first asked to do. */
  task: string;
  /** What it had to say when its last run ended; empty before. */
  output: string;
  /** The folder of the workspace that it works in; empty for the root. */
  folder: string;
  /** The model that it was started with, where one was named. */
  model?: string;
}

/** Tokens of one reply or of many. */
export interface Usage {
  /** All input tokens, cached ones included. */
  inputTotal: number;
  /** All output tokens, reasoning included. */
  outputTotal: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}

/** One entry of an agent's history, told apart by `type`. */
export type Turn =
  | (SeenTurn & { at: Date })
  /** Earlier turns are shown shorter from here on. */
  | { type: "folded"; at: Date; fold: Fold }
  /** Parts that the provider refuses are told in words from here on, or are seen again. */
  | ({ type: "left_out"; at: Date } & LeftOut)
  /** The model sees again what it saw when there were `to` turns. */
  | { type: "rewound"; at: Date; to: number; why: Why };

/** A turn as the model sees it, told apart by `type`. */
export type SeenTurn =
  /** The user's input. */
  | { type: "user"; parts: Part[] }
  /** The model's reply. */
  | {
      type: "assistant";
      text: string;
      reasoning: string;
      toolCalls: ToolCall[];
      finish: Finish;
      usage?: Usage;
      /** The model that answered, where the provider said so. */
      model?: string;
      responseId?: string;
    }
  /** The answers to the calls of the reply before, in call order, as the model reads them. */
  | { type: "tool_results"; results: ToolResult[] }
  /** A word to the model, given as the system. */
  | { type: "system"; text: string }
  /** What else the model reads as the user's: a message put in between rounds of tools. */
  | { type: "steering"; parts: Part[] };

/** A call of a tool, as the model made it. */
export interface ToolCall {
  callId: string;
  name: string;
  /** The arguments' JSON text, as the model wrote it: it may be invalid. */
  arguments: string;
}

/** The answer to one call. */
export interface ToolResult {
  callId: string;
  parts: Part[];
  isError: boolean;
}

/** What became of the files that undone steps had changed. */
export interface UndoneFiles {
  /** These are as they were before. */
  restored: string[];
  /** These stay as they are, and why. */
  kept: { path: string; why: string }[];
}

/** What a log comes to. */
export interface Replayed {
  /** All events, from the very first. */
  events: AgentEvent[];
  /** What was said. */
  history: Turn[];
  /** Where the agent stood at the end. */
  status: Status;
}

const NOTHING: SessionUsage = {
  input_total: 0,
  output_total: 0,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
};

const COUNTS = Object.keys(NOTHING) as (keyof SessionUsage)[];

/** What may go well when it is tried again. */
const RETRYABLE: readonly ErrorKind[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "protocol",
];

/** Tokens. */
export function usageOf(usage: SessionUsage): Usage {
  const { input_total, output_total, cache_read, cache_write, reasoning } = usage;
  return {
    inputTotal: input_total,
    outputTotal: output_total,
    cacheRead: cache_read,
    cacheWrite: cache_write,
    reasoning,
  };
}

/** What replies have used. */
export interface Spent {
  usage?: SessionUsage;
  cost_nano_usd?: number;
}

/** What all of these have used. */
export function sumOf(all: readonly Spent[]): { usage: Usage; costUsd?: number } {
  const usage = { ...NOTHING };
  let cost: number | undefined;
  for (const { usage: used, cost_nano_usd } of all) {
    for (const name of COUNTS) usage[name] += used?.[name] ?? 0;
    if (cost_nano_usd !== undefined) cost = (cost ?? 0) + cost_nano_usd;
  }
  return { usage: usageOf(usage), ...costOf(cost) };
}

/** Where a session's own agent stands, and what it and the others have used: by their numbers. */
export function statusOfAll(of: (agent: number) => SessionStatus | null): Status {
  const own = of(0);
  if (own === null) throw new AgentError("internal", "a session has no agent of its own");
  const all = [own];
  for (let next = of(1); next !== null; next = of(all.length)) all.push(next);
  const { state, compacting, turns, tool_calls } = own;
  const also = compacting ? { compacting } : {};
  return { state, ...also, turns, toolCalls: tool_calls, ...sumOf(all) };
}

/** How a run ended; others have used so much for it. */
export function resultOf(
  event: ProcessingEnd,
  others: readonly Spent[],
): Omit<RunResult, "answer"> {
  const { end, text, replies, tool_calls, rounds } = event;
  const counts = { replies, toolCalls: tool_calls, rounds };
  return { status: end, text, ...sumOf([event, ...others]), ...counts };
}

/** A cost in US dollars, where it is known. */
export function costOf(nanoUsd: number | undefined): { costUsd?: number } {
  return nanoUsd === undefined ? {} : { costUsd: nanoUsd / 1e9 };
}

/** What made a run fail. */
export function errorOf(
  { kind, message }: Pick<Failure, "kind" | "message">,
  more: Partial<RunError>,
): RunError {
  return { kind, message, retryable: RETRYABLE.includes(kind), ...more };
}

/** What it takes to take a file back, as the module says it. */
export interface UndoneFile {
  path: string;
  undo: "remove" | { write: string } | { keep: string };
}

/** One entry of a history. */
export function turnOf({ at: millis, kind }: SessionTurn): Turn {
  const at = new Date(millis);
  if ("folded" in kind) return { type: "folded", at, fold: kind.folded };
  if ("left_out" in kind) return { type: "left_out", at, ...kind.left_out };
  if ("rewound" in kind) return { type: "rewound", at, to: kind.rewound.at, why: kind.rewound.why };
  return { ...seenOf(kind), at };
}

/** A turn as the model sees it. */
export function seenOf(kind: Said): SeenTurn {
  if ("user" in kind) return { type: "user", parts: kind.user };
  if ("steering" in kind) return { type: "steering", parts: kind.steering };
  if ("system" in kind) return { type: "system", text: kind.system };
  if ("tool_results" in kind) {
    const results = kind.tool_results.map(({ call_id, parts, is_error }) => {
      return { callId: call_id, parts, isError: is_error };
    });
    return { type: "tool_results", results };
  }
  const { blocks, finish, usage, model, response_id } = kind.assistant;
  return {
    type: "assistant",
    text: blocks.map(textOf).join(""),
    reasoning: blocks.map((block) => ("reasoning" in block ? block.reasoning.text : "")).join(""),
    toolCalls: blocks.flatMap(callOf),
    finish,
    ...(usage && { usage: usageOf(usage) }),
    ...(model !== undefined && { model }),
    ...(response_id !== undefined && { responseId: response_id }),
  };
}

/** A turn of another conversation, as the session takes it over. */
export function saidOf(turn: SeenTurn): Said {
  switch (turn.type) {
    case "user":
      return { user: turn.parts };
    case "steering":
      return { steering: turn.parts };
    case "system":
      return { system: turn.text };
    case "tool_results": {
      const results = turn.results.map(({ callId, parts, isError }) => {
        return { call_id: callId, parts, is_error: isError };
      });
      return { tool_results: results };
    }
    case "assistant": {
      const text: Block[] = turn.text === "" ? [] : [{ text: turn.text }];
      const calls = turn.toolCalls.map(({ callId, name, arguments: args }) => {
        return { tool_call: { id: callId, name, arguments: args } };
      });
      return { assistant: { blocks: [...text, ...calls], finish: turn.finish } };
    }
  }
}

function textOf(block: Block): string {
  if ("text" in block) return block.text;
  return "marked_text" in block ? block.marked_text.text : "";
}

function callOf(block: Block): ToolCall[] {
  if (!("tool_call" in block)) return [];
  const { id, name, arguments: args } = block.tool_call;
  return [{ callId: id, name, arguments: args }];
}

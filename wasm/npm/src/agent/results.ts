// Results, histories and states in the camelCase of the public interface, converted from the
// session's JSON. Conversions name each field, so that what the session adds later never leaks out
// in snake_case.

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

/** The result of a run. */
export interface RunResult<Answer = unknown> {
  /**
   * `completed`: the model was done. `limit`: a limit of turns or rounds. `incomplete`: the last
   * reply was cut, `refused`: the model or its provider refused, `failed`: the call failed; `error`
   * says why.
   */
  status: RunEnd;
  /** The model's last text. */
  text: string;
  /** Tokens of the run, those of agents that it has started included. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
  /** Model replies of the run. */
  replies: number;
  /** Tool calls of the run. */
  toolCalls: number;
  /** Rounds of tool calls of the run: replies with calls, and their results. */
  rounds: number;
  /** The final answer in the form of the option `answer`, validated by its schema. */
  answer?: Answer;
  /** The reason if the run is `failed`, `incomplete` or `refused`. */
  error?: RunError;
}

/**
 * The failure that ended a run. It is never thrown: `Run.result` has it beside the status. A
 * replayed failure is the same as the recorded one.
 */
export interface RunError {
  /** The kind of failure. */
  kind: ErrorKind;
  /** A text for people: what happened, and what to do. */
  message: string;
  /** True if the same may succeed later: the provider was busy, or the connection broke. */
  retryable: boolean;
  /** The HTTP status of the provider's response, or of a recorded one. */
  status?: number;
  /** The provider's id of the request, if a header has one: its support asks for it. */
  requestId?: string;
  /** The kind of mismatch with a recording. */
  code?: "replay_mismatch" | "replay_exhausted";
  /** The number of the model call in the recording, from 1. */
  call?: number;
  /** The request's content that the recording expects. */
  expected?: string;
  /** The request's content as it is. */
  found?: string;
}

/** An agent's state and usage. */
export interface Status {
  state: AgentState;
  /** True while {@link Agent.compact} is under way, which is no run. */
  compacting?: true;
  /** User and assistant turns so far. */
  turns: number;
  toolCalls: number;
  /** Tokens of the agent and of all agents that it has started. */
  usage: Usage;
  /** What they cost in US dollars, as far as the prices are known. */
  costUsd?: number;
}

/** The inputs that an agent has not read yet. */
export interface PendingInputs {
  /** Messages of {@link Agent.steer}, read after the current round of tools; oldest first. */
  steering: Part[][];
  /** Inputs of {@link Agent.followUp}, read when the current one is done; oldest first. */
  followUps: PendingInput[];
}

/** An input that waits. */
export interface PendingInput {
  parts: Part[];
  /** The options that it was given with, if any. */
  options?: TurnOptions;
}

/** An agent that the session's own agent, or another started one, has started. */
export interface SubagentInfo {
  /** Its number, as in events and for {@link Agent.history}. */
  id: number;
  /** The number of the agent that started it; 0 is the session's own. */
  parent: number;
  /** Its state, as the agent that started it sees it. */
  state: "running" | "completed" | "failed" | "closed";
  /** The task that it was started with. */
  task: string;
  /** The result of its last run; empty before the first has ended. */
  output: string;
  /** The folder of the workspace that it works in; empty for the root. */
  folder: string;
  /** The model that it was started with, where one was named. */
  model?: string;
  /** The name by which it was started, if it has one. */
  name?: string;
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
  /** A system message to the model. */
  | { type: "system"; text: string }
  /** A message that the model reads as the user's, put in between rounds of tools. */
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

/** The files that undone steps had changed. */
export interface UndoneFiles {
  /** Paths of files that are as they were before. */
  restored: string[];
  /** Files that stay as they are, each with the reason. */
  kept: { path: string; why: string }[];
}

/** The content of a replayed log. */
export interface Replayed {
  /** All events, from the very first. */
  events: AgentEvent[];
  /** The history of the session's own agent. */
  history: Turn[];
  /** The agent's status at the end. */
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

/** The kinds of failure that may be gone at a later try. */
const RETRYABLE: readonly ErrorKind[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "protocol",
];

/** Converts counts of tokens. */
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

/** The usage and cost of replies. */
export interface Spent {
  usage?: SessionUsage;
  cost_nano_usd?: number;
}

/** Returns the sum of usages; the cost is that of the replies whose price is known. */
export function sumOf(all: readonly Spent[]): { usage: Usage; costUsd?: number } {
  const usage = { ...NOTHING };
  let cost: number | undefined;
  for (const { usage: used, cost_nano_usd } of all) {
    for (const name of COUNTS) usage[name] += used?.[name] ?? 0;
    if (cost_nano_usd !== undefined) cost = (cost ?? 0) + cost_nano_usd;
  }
  return { usage: usageOf(usage), ...costOf(cost) };
}

/** Returns the status of a session's own agent, with the usage of all agents. */
export function statusOfAll(of: (agent: number) => SessionStatus | null): Status {
  const own = of(0);
  if (own === null) throw new AgentError("internal", "a session has no agent of its own");
  const all = [own];
  // Agents are numbered without a gap, so that the first unknown number ends the list.
  for (let next = of(1); next !== null; next = of(all.length)) all.push(next);
  const { state, compacting, turns, tool_calls } = own;
  const also = compacting ? { compacting } : {};
  return { state, ...also, turns, toolCalls: tool_calls, ...sumOf(all) };
}

/** Returns the result of a run, with what other agents have used for it. */
export function resultOf(
  event: ProcessingEnd,
  others: readonly Spent[],
): Omit<RunResult, "answer"> {
  const { end, text, replies, tool_calls, rounds } = event;
  const counts = { replies, toolCalls: tool_calls, rounds };
  return { status: end, text, ...sumOf([event, ...others]), ...counts };
}

/** Returns a cost in US dollars; without a field if it is unknown. */
export function costOf(nanoUsd: number | undefined): { costUsd?: number } {
  return nanoUsd === undefined ? {} : { costUsd: nanoUsd / 1e9 };
}

/** Returns the error of a run. */
export function errorOf(
  { kind, message }: Pick<Failure, "kind" | "message">,
  more: Partial<RunError>,
): RunError {
  return { kind, message, retryable: RETRYABLE.includes(kind), ...more };
}

/** The way to restore a file, as the module says it. */
export interface UndoneFile {
  path: string;
  undo: "remove" | { write: string } | { keep: string };
}

/** Converts one entry of a history. */
export function turnOf({ at: millis, kind }: SessionTurn): Turn {
  const at = new Date(millis);
  if ("folded" in kind) return { type: "folded", at, fold: kind.folded };
  if ("left_out" in kind) return { type: "left_out", at, ...kind.left_out };
  if ("rewound" in kind) return { type: "rewound", at, to: kind.rewound.at, why: kind.rewound.why };
  return { ...seenOf(kind), at };
}

/** Converts a turn as the model sees it. */
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

/**
 * Converts a turn of another conversation into the session's JSON. Reasoning is left out: as text
 * alone, without the provider's own data about it, it cannot be sent again.
 */
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

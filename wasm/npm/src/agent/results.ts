// What is handed out in camelCase, made of the session's JSON.

import type { Block, ErrorKind, Said, SessionStatus, SessionTurn, SessionUsage } from "../json/data.js";
import { AgentError } from "../errors.js";
import type { Failure, ProcessingEnd } from "../json/events.js";
import type { RunError, RunResult, SeenTurn, Status, ToolCall, Turn, Usage } from "../types.js";

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
  const { end, text, replies, tool_calls } = event;
  return { status: end, text, ...sumOf([event, ...others]), replies, toolCalls: tool_calls };
}

/** A cost in US dollars, where it is known. */
export function costOf(nanoUsd: number | undefined): { costUsd?: number } {
  return nanoUsd === undefined ? {} : { costUsd: nanoUsd / 1e9 };
}

/** What made a run fail. */
export function errorOf({ kind, message }: Pick<Failure, "kind" | "message">, more: Partial<RunError>): RunError {
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

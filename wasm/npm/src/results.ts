// What is handed out in camelCase, made of the session's JSON.

import type { Block, SessionStatus, SessionTurn, SessionUsage } from "./data.js";
import type { ProcessingEnd } from "./events.js";
import type { RunResult, Status, ToolCall, Turn, Usage } from "./types.js";

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

/** Where an agent stands. */
export function statusOf(status: SessionStatus): Status {
  const { state, turns, tool_calls, usage, cost_nano_usd } = status;
  const cost = cost_nano_usd === undefined ? {} : { costNanoUsd: cost_nano_usd };
  return { state, turns, toolCalls: tool_calls, usage: usageOf(usage), ...cost };
}

/** How a run ended. */
export function resultOf(event: ProcessingEnd): RunResult {
  const { end, text, usage, cost_nano_usd, replies, tool_calls } = event;
  const cost = cost_nano_usd === undefined ? {} : { costNanoUsd: cost_nano_usd };
  return { status: end, text, usage: usageOf(usage), ...cost, replies, toolCalls: tool_calls };
}

/** One entry of a history. */
export function turnOf({ at: millis, kind }: SessionTurn): Turn {
  const at = new Date(millis);
  if ("user" in kind) return { type: "user", at, parts: kind.user };
  if ("steering" in kind) return { type: "steering", at, parts: kind.steering };
  if ("system" in kind) return { type: "system", at, text: kind.system };
  if ("tool_results" in kind) {
    const results = kind.tool_results.map(({ call_id, parts, is_error }) => {
      return { callId: call_id, parts, isError: is_error };
    });
    return { type: "tool_results", at, results };
  }
  const { blocks, finish, usage, model, response_id } = kind.assistant;
  return {
    type: "assistant",
    at,
    text: blocks.map(textOf).join(""),
    reasoning: blocks.map((block) => ("reasoning" in block ? block.reasoning.text : "")).join(""),
    toolCalls: blocks.flatMap(callOf),
    finish,
    ...(usage && { usage: usageOf(usage) }),
    ...(model !== undefined && { model }),
    ...(response_id !== undefined && { responseId: response_id }),
  };
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

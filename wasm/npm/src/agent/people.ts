// Calls of the user's functions for approvals, questions and hooks. What they return is checked
// here: an answer that says neither yes nor no is an error, and never counts as a yes.

import type { HookPoint } from "../json/config.js";
import type { Answer, Ask, HookReply } from "../json/protocol.js";
import type { AgentOptions } from "../options/agent.js";
import type { Approval, AskContext, HookedCall, HookName, HookResult } from "../options/asked.js";
import { HOOK_POINTS } from "../options/hooks.js";

type Asked = Pick<AgentOptions, "approve" | "ask">;

/** Calls `approve` or `ask`, whichever a question is for; rejects if its answer does not fit. */
export async function askPerson(
  { approve, ask }: Asked,
  question: Ask,
  context: AskContext,
): Promise<Answer> {
  if (question.approval) {
    const { call_id, name, arguments: args, folder = "" } = question.approval;
    if (approve === undefined) throw new Error("there is no function `approve`");
    return answerOf(await approve({ callId: call_id, name, arguments: args, folder }, context));
  }
  if (ask === undefined) throw new Error("there is no function `ask`");
  const { question: asked, elicitation } = question;
  const told = asked ?? { text: elicitation?.message ?? "", schema: elicitation?.schema };
  const answer: unknown = await ask(told, context);
  if (typeof answer === "string") return { text: answer };
  throw new Error(`\`ask\` must return a text, not a value of type ${typeof answer}`);
}

function answerOf(approval: Approval): Answer {
  if (approval === true) return { allow: null };
  if (approval === false) return { deny: { reason: "a person has denied this call" } };
  if (approval === "always") return { allow_always: null };
  if (approval === "abort") return { abort: null };
  if (typeof approval === "object" && approval !== null) {
    if ("deny" in approval) return { deny: { reason: String(approval.deny) } };
    if ("arguments" in approval) return { allow_edited: approval.arguments };
    if ("rule" in approval) return { allow_rule: approval.rule };
  }
  throw new Error("`approve` returned what says neither yes nor no");
}

/** Runs the hook of a point; rejects if there is none or its reply does not fit. */
export async function runHook(
  hooks: AgentOptions["hooks"],
  hook: { point: HookPoint; payload: unknown },
  context: AskContext,
): Promise<HookReply> {
  const names = Object.keys(HOOK_POINTS) as HookName[];
  const name = names.find((name) => HOOK_POINTS[name] === hook.point);
  const run = name && (hooks?.[name] as Hook | undefined);
  if (run === undefined) throw new Error("this host has no such hook");
  const said = hook.point === "compact" ? hook.payload : saidOf(hook.payload);
  return replyOf(await run(said, context));
}

type Hook = (
  said: unknown,
  context: AskContext,
) => HookResult<unknown> | Promise<HookResult<unknown>>;

// A hook's payload in camelCase, as in the rest of the public interface.
function saidOf(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return payload;
  const {
    call_id,
    name,
    arguments: args,
    folder,
    text,
    is_error,
  } = payload as Record<string, unknown>;
  const call = { callId: call_id, name, arguments: args, folder: folder ?? "" } as HookedCall;
  if (typeof text === "string") call.text = text;
  if (typeof is_error === "boolean") call.isError = is_error;
  return call;
}

function replyOf(result: HookResult<unknown>): HookReply {
  // A hook that only looks on returns nothing; for approvals that would be no answer.
  if (result === undefined || result === true) return { allow: null };
  if (result === false) return { deny: { reason: "a hook has denied this" } };
  if (typeof result === "object" && result !== null) {
    if ("deny" in result) return { deny: { reason: String(result.deny) } };
    if ("replace" in result) return { replace: result.replace };
  }
  throw new Error("it returned what says neither yes nor no");
}

// The reader of a request to the demo: the newest input, the steers since, and the result of each
// call. The demo keeps nothing between requests, so that a reload or an undo changes nothing for
// it.

import type { ToolUse } from "./wire.js";

/** A call of the demo and its result. */
export interface Done {
  input: Record<string, unknown>;
  text: string;
  failed: boolean;
  denied: boolean;
}

/** The part of a conversation that follows the newest input. */
export interface Conversation {
  /** The number of inputs before this one. */
  earlier: number;
  input: string;
  /** The user's steers since. */
  steers: string[];
  /** The demo's finished calls, by the names that it gave them. */
  done: Map<string, Done>;
}

interface Block {
  type: string;
  text?: string;
  id?: string;
  input?: Record<string, unknown>;
  tool_use_id?: string;
  content?: string | Block[];
  is_error?: boolean;
}
interface Message {
  role: string;
  content: string | Block[];
}

const DENIED = /^The call was denied/;

/** Reads a request of Anthropic's Messages API. */
export function conversationOf(body: string): Conversation {
  const { messages } = JSON.parse(body) as { messages: Message[] };
  let earlier = -1;
  let current: Conversation = { earlier: 0, input: "", steers: [], done: new Map() };
  let calls = new Map<string, Record<string, unknown>>();
  let isAnswered = true;
  for (const { role, content } of messages) {
    const blocks: Block[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (role === "assistant") {
      const uses = blocks.filter(({ type }) => type === "tool_use");
      isAnswered = uses.length === 0;
      for (const { id = "", input = {} } of uses) calls.set(id, input);
      continue;
    }
    const texts = blocks.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
    // Texts of the session to the model, such as reminders, stand in tags and are not the user's.
    const said = texts.filter((text) => !text.startsWith("<"));
    if (isAnswered && said.length > 0) {
      earlier += 1;
      current = { earlier, input: said.join("\n"), steers: [], done: new Map() };
      calls = new Map();
      isAnswered = false;
      continue;
    }
    current.steers.push(...said);
    for (const { type, tool_use_id = "", content: result, is_error } of blocks) {
      if (type !== "tool_result") continue;
      const text = textOf(result);
      const done = { input: calls.get(tool_use_id) ?? {}, text, failed: is_error === true };
      current.done.set(nameOf(tool_use_id), { ...done, denied: DENIED.test(text) });
    }
  }
  return current;
}

/** Returns a call whose id holds a name, under which its result is found again. */
export function call(
  { earlier }: Conversation,
  name: string,
  tool: string,
  input: object,
): ToolUse {
  return { id: `toolu_demo_${earlier}_${name}`, name: tool, input };
}

function nameOf(id: string): string {
  return id.replace(/^toolu_demo_\d+_/, "");
}

function textOf(content: string | Block[] | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

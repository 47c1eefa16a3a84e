// Replies as Anthropic's Messages API streams them. The demo speaks this protocol, so that its
// replies go through the package's own decoder like a real provider's.

/** A reply of the model. */
export interface Said {
  text?: string;
  calls?: ToolUse[];
}

/** A call of a tool. */
export interface ToolUse {
  id: string;
  name: string;
  input: object;
}

/** The characters of a piece of streamed text. */
const PIECE = 12;

/** Returns the events of a reply, each as the server sends it. */
export function eventsOf(said: Said, inputTokens: number): string[] {
  const { text = "", calls = [] } = said;
  const events: object[] = [startOf(inputTokens)];
  const blocks: [object, object[]][] = [];
  if (text !== "") {
    const deltas = pieces(text).map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push([{ type: "text", text: "" }, deltas]);
  }
  for (const { id, name, input } of calls) {
    const deltas = pieces(JSON.stringify(input)).map((piece) => {
      return { type: "input_json_delta", partial_json: piece };
    });
    blocks.push([{ type: "tool_use", id, name, input: {} }, deltas]);
  }
  blocks.forEach(([content_block, deltas], index) => {
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  });
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const output_tokens = Math.ceil((text.length + JSON.stringify(calls).length) / 4);
  const delta = { stop_reason, stop_sequence: null };
  events.push({ type: "message_delta", delta, usage: { output_tokens } });
  events.push({ type: "message_stop" });
  return events.map((event) => {
    return `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
}

/** Returns a response that sends these events, one every `pace` milliseconds. */
export function respond(events: string[], pace: number, signal?: AbortSignal | null): Response {
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (pace > 0) await new Promise((resolve) => setTimeout(resolve, pace));
      if (signal?.aborted) return controller.error(signal.reason);
      const count = pace > 0 ? 1 : events.length;
      const next = events.slice(at, at + count).join("");
      at += count;
      controller.enqueue(encoder.encode(next));
      if (at >= events.length) controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function startOf(inputTokens: number): object {
  const message = {
    id: "msg_demo",
    type: "message",
    role: "assistant",
    model: "demo",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
  return { type: "message_start", message };
}

function pieces(text: string): string[] {
  // By characters, not UTF-16 units: a piece must not end in the middle of a pair.
  const all = [...text];
  const found: string[] = [];
  for (let at = 0; at < all.length; at += PIECE) found.push(all.slice(at, at + PIECE).join(""));
  return found;
}

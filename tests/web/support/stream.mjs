// Replies as Anthropic Messages streams them. Imports nothing: it runs wherever the package does.

/** The events of a streamed reply: thinking, text, then calls `[name, input]`. */
export function stream({ thinking, text, calls = [], usage = [10, 5] } = {}) {
  const blocks = [];
  if (thinking !== undefined) {
    blocks.push([
      { type: "thinking", thinking: "" },
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature: "c2lnbmVk" },
    ]);
  }
  if (text !== undefined) {
    const pieces = text.match(/[^]{1,7}/gu) ?? [];
    const deltas = pieces.map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push([{ type: "text", text: "" }, ...deltas]);
  }
  calls.forEach(([name, input], at) => {
    const start = { type: "tool_use", id: `toolu_${name}_${at}`, name, input: {} };
    blocks.push([start, { type: "input_json_delta", partial_json: JSON.stringify(input) }]);
  });
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "mock-1",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: usage[0], output_tokens: 1 },
  };
  const events = [{ type: "message_start", message }];
  blocks.forEach(([content_block, ...deltas], index) => {
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  });
  const delta = { stop_reason, stop_sequence: null };
  events.push({ type: "message_delta", delta, usage: { output_tokens: usage[1] } });
  events.push({ type: "message_stop" });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

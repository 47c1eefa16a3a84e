// A small server that speaks Anthropic Messages over real HTTP, by a script: one step a request.

import { createServer } from "node:http";

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

/** A step that answers with a streamed reply. */
export function reply(content) {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of stream(content)) response.write(piece);
    response.end();
  };
}

/** A step that answers with an error of the provider. */
export function failure(status, type, message, headers = {}) {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message } }));
  };
}

/**
 * A step that begins a reply and then stays silent; `come` resolves when the request is there,
 * `gone` when the client goes.
 */
export function hanging(text) {
  let arrive;
  let leave;
  const come = new Promise((resolve) => {
    arrive = resolve;
  });
  const gone = new Promise((resolve) => {
    leave = resolve;
  });
  const step = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = stream({ text });
    for (const piece of pieces.slice(0, 3)) response.write(piece);
    response.on("close", leave);
    arrive();
  };
  return Object.assign(step, { come, gone });
}

/**
 * A step that says the same again and again and never ends; `gone` resolves when the client goes, to
 * how many bytes it was sent.
 */
export function endless(text) {
  let leave;
  const gone = new Promise((resolve) => {
    leave = resolve;
  });
  const step = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of stream({ text: "" }).slice(0, 2)) response.write(piece);
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    const piece = `data: ${JSON.stringify(delta)}\n\n`;
    let sent = 0;
    const more = () => {
      while (!response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return response.once("drain", more);
      }
    };
    response.on("close", () => leave(sent));
    more();
  };
  return Object.assign(step, { gone });
}

/** Starts a server for the steps; it remembers the requests it got. */
export async function serve(...steps) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    // Pages come from another origin, and ask first.
    response.setHeader("access-control-allow-origin", "*");
    if (request.method === "OPTIONS") {
      const headers = request.headers["access-control-request-headers"] ?? "";
      return response.writeHead(204, { "access-control-allow-headers": headers }).end();
    }
    const { method, url, headers } = request;
    requests.push({ method, url, headers, text, body: JSON.parse(text) });
    const step = steps.shift();
    if (step !== undefined) return step(request, response);
    return failure(500, "api_error", "the script is over")(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails before it closes its server must not keep the process alive.
  server.unref();
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close };
}

/** What the requests' newest turn says to the model: the texts of its tool results. */
export function toolResults(request) {
  const { content } = request.body.messages.at(-1);
  return content
    .filter((block) => block.type === "tool_result")
    .map(({ content: said, is_error }) => ({
      text: typeof said === "string" ? said : said.map((part) => part.text ?? "").join("\n"),
      isError: is_error === true,
    }));
}

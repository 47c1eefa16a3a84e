// A small server that speaks Anthropic Messages over real HTTP, by a script: one step a request.

import { createServer } from "node:http";
import { stream } from "./stream.mjs";

export { stream };

/** A step that answers with a streamed reply. */
export function reply(content) {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of stream(content)) response.write(piece);
    response.end();
  };
}

/** A step that answers with a streamed text, which ends for that reason. */
export function ending(text, reason) {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = stream({ text });
    for (const piece of pieces) response.write(piece.replace('"end_turn"', JSON.stringify(reason)));
    response.end();
  };
}

/**
 * A step that streams one call, whose arguments come `size` characters at a time; the last `held`
 * events never come.
 */
export function typed(name, input, { size, ms, held = 0 }) {
  const json = JSON.stringify(input);
  const events = stream({ calls: [[name, input]] }).flatMap((event) => {
    if (!event.includes("input_json_delta")) return [event];
    const pieces = json.match(new RegExp(`[^]{1,${size}}`, "gu"));
    return pieces.map((piece) => event.replace(JSON.stringify(json), () => JSON.stringify(piece)));
  });
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = () => {
      if (held > 0 && events.length <= held) return;
      const event = events.shift();
      if (event === undefined) return response.end();
      response.write(event);
      setTimeout(send, ms);
    };
    send();
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

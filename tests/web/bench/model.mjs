// A model in the process: a `fetch` that answers Chat Completions by a script, in the pieces in
// which a network would bring them.

/** A chunk of the protocol. */
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "mock-1",
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const usage = `data: ${JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "mock-1",
  choices: [],
  usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 },
})}\n\ndata: [DONE]\n\n`;

/** A reply that says `text`, in so many pieces. */
export function says(text, pieces = 20) {
  const size = Math.ceil(text.length / pieces);
  const events = [chunk({ role: "assistant", content: "" })];
  for (let at = 0; at < text.length; at += size) {
    events.push(chunk({ content: text.slice(at, at + size) }));
  }
  return [...events, chunk({}, "stop"), usage];
}

let calls = 0;

/** A reply that calls a tool, its arguments in pieces of so many characters. */
export function calling(name, args, size = 16) {
  const json = JSON.stringify(args);
  const begun = { name, arguments: "" };
  const call = { index: 0, id: `call_${++calls}`, type: "function", function: begun };
  const events = [chunk({ role: "assistant", content: null, tool_calls: [call] })];
  for (let at = 0; at < json.length; at += size) {
    const piece = { index: 0, function: { arguments: json.slice(at, at + size) } };
    events.push(chunk({ tool_calls: [piece] }));
  }
  return [...events, chunk({}, "tool_calls"), usage];
}

const encoder = new TextEncoder();

/**
 * A `fetch` that gives the next reply of `script` to each request, so many events in one piece of
 * the body. `onRequest` sees each request's body.
 */
export function model(script, { together = 1, onRequest } = {}) {
  return async (_url, init) => {
    onRequest?.(init.body);
    const events = script.next().value;
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (at >= events.length) return controller.close();
        controller.enqueue(encoder.encode(events.slice(at, at + together).join("")));
        at += together;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

/** A system prompt of 4 KB. */
export const PROMPT = "You are an agent that works on the files of one workspace. ".repeat(70);

/** Six tools, as JSON Schema. */
export const TOOLS = ["look", "find", "change", "make", "drop", "count"].map((name) => ({
  name,
  description: `Use ${name} to ${name} what the user asks for; it answers with a short text.`,
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "The path of the file, from the workspace's root on" },
      limit: { type: "integer", description: "Most lines to read" },
      content: { type: "string", description: "The new content" },
    },
    required: ["path"],
    additionalProperties: false,
  },
}));

/** What a tool answers: 200 bytes. */
export const ANSWER = "12: export const sum = (a, b) => a + b;\n".repeat(5);

// A model to try the examples with: it speaks OpenAI's chat completions, asks for the weather with
// the first tool that it is given, and says what came of it.

import { createServer } from "node:http";
import { text } from "node:stream/consumers";

const stream = (...choices) => {
  const events = choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  return `${events.join("")}data: [DONE]\n\n`;
};

/** What it says to a conversation. */
function reply({ messages, tools = [] }) {
  const [last] = messages.slice(-1);
  if (last.role !== "tool") {
    const called = { name: tools[0].function.name, arguments: '{"city":"Lima"}' };
    const call = { index: 0, id: "call_1", type: "function", function: called };
    return stream({ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" });
  }
  const words = `In Lima: ${last.content}`.match(/\S+\s*/g);
  const pieces = words.map((content) => ({ index: 0, delta: { content }, finish_reason: null }));
  return stream(...pieces, { index: 0, delta: {}, finish_reason: "stop" });
}

/** Serves the model; comes to its address and to what ends it. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    response.writeHead(200, { "content-type": "text/event-stream" }).end(reply(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

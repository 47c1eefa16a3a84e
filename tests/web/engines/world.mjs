// What the agents of the engines' examples reach: a model that plays a journey, and the service for
// travellers that their tools call. It counts what it is asked for, and can fall silent in the
// middle of an answer.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { stream } from "../support/stream.mjs";

/** What the person says. */
export const SAID = "Book a flight to where it is warmer, Lima or Oslo";
/** What the model says, by how often it has spoken. */
const REPLIES = [
  {
    text: "I ask.",
    calls: [
      ["weather", { city: "Lima" }],
      ["weather", { city: "Oslo" }],
    ],
  },
  { text: "I book.", calls: [["book_flight", { city: "Lima" }]] },
  { text: "I call a taxi.", calls: [["call_taxi", { city: "Lima" }]] },
  { text: "You fly to Lima." },
];
/** What the service answers. */
const ANSWERS = {
  "/weather/Lima": "31 °C",
  "/weather/Oslo": "4 °C",
  "/flights": "booked",
  "/taxis": "called",
};

/** How often a journey asks for each thing if nothing comes between. */
const ONCE = [...Object.keys(ANSWERS), ...REPLIES.map((_, number) => `model ${number}`)];

/** What is to be cached is no part of what was said. */
function withoutMarks(key, value) {
  return key === "cache_control" ? undefined : value;
}

/** Starts the world: its address, what it has seen, and what disturbs its answers. */
export async function world() {
  /** How often each thing was asked for. */
  const asked = {};
  /** The keys under which flights were booked. */
  const keys = new Set();
  /** What the model was told last. */
  let heard = [];
  /** How the next answer of a name is given, if not as ever. */
  const disturbed = new Map();

  function reply(body) {
    heard = JSON.parse(body).messages;
    const number = heard.filter(({ role }) => role === "assistant").length;
    return { name: `model ${number}`, pieces: stream(REPLIES[number]) };
  }

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { url, headers } = request;
    const answer = ANSWERS[url];
    const { name, pieces } = answer === undefined ? reply(body) : { name: url, pieces: [answer] };
    if (name === "/flights") keys.add(headers["idempotency-key"]);
    asked[name] = (asked[name] ?? 0) + 1;
    if (answer === undefined) response.setHeader("content-type", "text/event-stream");
    const disturb = disturbed.get(name) ?? (() => response.end(pieces.join("")));
    disturbed.delete(name);
    disturb(response, pieces);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A test that fails must not keep the process alive.
  server.unref();
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Has the next answer of that name fall silent; resolves when it has. */
    stall: (name) =>
      new Promise((resolve) => {
        disturbed.set(name, (response, pieces) => {
          // The model has said half of it, the service nothing, although its work is done.
          response.write(pieces.slice(0, pieces.length / 2).join(""));
          resolve();
        });
      }),
    /** Has the model refuse its next answer of that name; resolves when it has. */
    refuse: (name) =>
      new Promise((resolve) => {
        disturbed.set(name, (response) => {
          const error = { type: "overloaded_error", message: "Overloaded" };
          response.writeHead(529, { "retry-after": "3" });
          response.end(JSON.stringify({ type: "error", error }), resolve);
        });
      }),
    /** The whole conversation, as the model was told it last. */
    heard: () => JSON.parse(JSON.stringify(heard, withoutMarks)),
    /** Fails unless each thing was asked for once, but for these, and one flight booked. */
    checkAsked(but = {}) {
      assert.deepEqual(asked, { ...Object.fromEntries(ONCE.map((name) => [name, 1])), ...but });
      assert.equal(keys.size, 1);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

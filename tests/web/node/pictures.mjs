// Pictures that are larger than the provider takes, where there is a canvas: one of our own here,
// which knows a picture as its size in words.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt } from "../support/installed.mjs";

const LIMIT = 5 * 2 ** 20;

class Canvas {
  constructor(width, height) {
    Object.assign(this, { width, height });
  }
  getContext() {
    return { drawImage() {} };
  }
  async convertToBlob({ type }) {
    return new Blob([`${this.width}x${this.height}`], { type });
  }
}

async function createImageBitmap(blob) {
  const size = /^(\d+)x(\d+)/.exec(await blob.text());
  if (size === null) throw new Error("it is no picture");
  return { width: Number(size[1]), height: Number(size[2]), close() {} };
}

const own = { OffscreenCanvas: Canvas, createImageBitmap };
before(() => Object.assign(globalThis, own));
after(() => Object.keys(own).forEach((name) => delete globalThis[name]));

function picture(words, bytes = 0) {
  const data = Buffer.from(words.padEnd(bytes, " ")).toString("base64");
  return { type: "image", media_type: "image/png", data };
}

/** The blocks of the newest turn of a request. */
function newest(request) {
  return request.body.messages.at(-1).content.map(({ text, source }) => {
    return text ?? Buffer.from(source.data, "base64").toString();
  });
}

test("pictures of an input are made smaller, and words say so", async () => {
  const server = await serve(reply({ text: "One." }), reply({ text: "Two." }));
  const agent = await agentAt(server);
  const run = agent.run([picture("4000x1000"), { type: "text", text: "See" }]);
  assert.equal(agent.current, run);
  assert.throws(() => agent.run("Meanwhile"), { code: "busy" });
  assert.equal((await run.result()).text, "One.");
  const told = "[The picture has 4000 × 1000 pixels and is shown with 2000 × 500.]";
  assert.deepEqual(newest(server.requests[0]), ["2000x500", told, "See"]);
  const small = await agent.run([picture("300x200")]).result();
  assert.equal(small.text, "Two.");
  assert.deepEqual(newest(server.requests[1]), ["300x200"]);
  await agent.close();
  await server.close();
});

test("inputs keep their order, and a word waits for the picture before it", async () => {
  const replies = ["One.", "Two.", "Three."].map((text) => reply({ text }));
  const server = await serve(...replies);
  const agent = await agentAt(server);
  const run = agent.run([picture("4000x1000")]);
  agent.followUp([picture("5000x1000")]);
  agent.followUp("And this?");
  await run.result();
  const said = agent.history().filter(({ type }) => type === "user");
  const texts = said.map(({ parts }) => parts.filter(({ type }) => type === "text"));
  assert.match(texts[0][0].text, /4000 × 1000/);
  assert.deepEqual(
    texts
      .slice(1)
      .flat()
      .map(({ text }) => text.slice(0, 21)),
    ["[The picture has 5000", "And this?"],
  );
  await agent.close();
  await server.close();
});

test("a run is stopped and an agent closed while a picture is made smaller", async () => {
  const server = await serve(reply({ text: "One." }));
  const agent = await agentAt(server);
  const stopped = agent.run([picture("4000x1000")]);
  stopped.interrupt();
  assert.equal((await stopped.result()).status, "interrupted");
  const next = await agent.run("Go").result();
  assert.equal(next.text, "One.", "the agent stays usable");
  const cut = agent.run([picture("4000x1000")]);
  await agent.close();
  assert.equal((await cut.result()).status, "interrupted");
  await assert.rejects(async () => agent.run([picture("4000x1000")]), { code: "closed" });
  await server.close();
});

test("what the session refuses late is the run's failure", async () => {
  const server = await serve(reply({ text: "One." }));
  const agent = await agentAt(server);
  const { status, error } = await agent.run([picture("4000x1000"), { type: "odd" }]).result();
  assert.equal(status, "failed");
  assert.match(error.message, /odd/);
  assert.equal((await agent.run("Go").result()).text, "One.");
  await agent.close();
  await server.close();
});

test("what can't be made smaller and is larger than any is left out with words", async () => {
  const server = await serve(reply({ text: "One." }));
  const agent = await agentAt(server);
  await agent.run([picture("broken", LIMIT)]).result();
  assert.match(
    newest(server.requests[0])[0],
    /^\[The picture has 5242\d{3} bytes, of which at most/,
  );
  await agent.close();
  await server.close();
});

test("files hold pictures of up to 30 MiB, which a model is shown smaller", async () => {
  const png = (size) => {
    const bytes = Buffer.alloc(size, 32);
    bytes.write("\x89PNG\r\n\x1a\n", "latin1");
    return bytes;
  };
  const agent = await Agent.create({
    provider: "ollama",
    model: "m",
    files: { "large.png": png(6 * 2 ** 20), "huge.png": png(31 * 2 ** 20) },
  });
  const read = (path) => agent.files.perform({ action: "read", path });
  assert.equal(read("large.png").parts[1].type, "image");
  assert.match(read("huge.png").parts[0].text, /it is made smaller here up to 30 MiB/);
  await agent.close();
});

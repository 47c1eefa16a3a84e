// The core without imports, as any WebAssembly runtime loads it: it says what the documentation
// shows, and what is no request does not trap.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/package.mjs";

const module = new WebAssembly.Module(readFileSync(join(ROOT, "target/core/innerloop_core.wasm")));

/** A host of one instance: takes a request and gives the answer. */
function host() {
  const { memory, innerloop_room, innerloop_call } = new WebAssembly.Instance(module).exports;
  return (request) => {
    const bytes = typeof request === "string" ? new TextEncoder().encode(request) : request;
    const room = innerloop_room(bytes.length);
    new Uint8Array(memory.buffer, room, bytes.length).set(bytes);
    const answer = innerloop_call(bytes.length);
    const place = Number(BigInt.asUintN(32, answer >> 32n));
    const length = Number(BigInt.asUintN(32, answer));
    return new TextDecoder().decode(new Uint8Array(memory.buffer, place, length));
  };
}

/** The documentation's conversation: requests, and the lines of their answers. */
function conversation() {
  const document = readFileSync(join(ROOT, "docs/protocol.md"), "utf8");
  const [told] = document.split("```transcript\n")[1].split("\n```");
  const exchanges = [];
  for (const line of told.split("\n")) {
    const [mark, text] = [line.slice(0, 1), line.slice(2)];
    if (mark === "→") exchanges.push({ request: text, answer: [] });
    else if (mark === "·") exchanges.at(-1).request += `\n${text}`;
    else exchanges.at(-1).answer.push(text);
  }
  return exchanges;
}

/** What a line of the documentation stands for. */
function pattern(shown) {
  const pieces = shown.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`^${pieces.join(".*")}$`);
}

test("the module imports nothing and exports its memory and three functions", () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const exported = WebAssembly.Module.exports(module).map(({ name, kind }) => `${name} ${kind}`);
  assert.deepEqual(exported.sort(), [
    "innerloop_abi function",
    "innerloop_call function",
    "innerloop_room function",
    "memory memory",
  ]);
  assert.equal(new WebAssembly.Instance(module).exports.innerloop_abi(), 1);
});

test("the module says what the documentation shows", () => {
  const call = host();
  for (const { request, answer } of conversation()) {
    const lines = call(request).split("\n").slice(0, -1);
    assert.equal(lines.length, answer.length, request);
    for (const [at, line] of lines.entries()) assert.match(line, pattern(answer[at]));
  }
});

test("what is no request is told so, and room that there is no memory for is none", () => {
  const { innerloop_room } = new WebAssembly.Instance(module).exports;
  assert.equal(innerloop_room(-1), 0);
  assert.notEqual(innerloop_room(5_000_000), 0);
  const call = host();
  for (const request of ["", "\n", "null", "{", '{"open":{}}', new Uint8Array([0xff, 0x0a])]) {
    assert.match(call(request), /^{"error":{"code":"bad_request",/);
  }
});

// The workspace as its user handles it: what is at a path, moving, watching, taking it out and
// putting it in.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { reply, serve } from "../support/anthropic.mjs";
import { agentAt, Files, init } from "../support/installed.mjs";
import { qjs } from "../support/package.mjs";

await init();

const BINARY = new Uint8Array([0, 255, 254, 10]);
const GIVEN = { "a.txt": "a\n", "d/b.bin": BINARY, "d/e/c.txt": "ü\ufeff", "d/e/empty": "" };
const bad = (message) => ({ name: "AgentError", code: "bad_path", message });

test("what is at a path is a file with its bytes, a folder or nothing", () => {
  const files = new Files(GIVEN);
  assert.deepEqual(files.stat("/d/b.bin"), { type: "file", size: 4 });
  assert.deepEqual(files.stat("./d/../d/e/empty"), { type: "file", size: 0 });
  for (const folder of ["d", "d/e/", "", "/"]) {
    assert.deepEqual(files.stat(folder), { type: "folder" }, folder);
  }
  for (const nothing of ["b", "d/b", "a.txt/x", "d/b.binary"]) {
    assert.equal(files.stat(nothing), undefined, nothing);
  }
  assert.deepEqual(new Files().stat(""), { type: "folder" });
  assert.throws(() => files.stat("../x"), bad(/leads out of the workspace/));
});

test("a file or a folder is moved, and what cannot go there stays", () => {
  const files = new Files(GIVEN);
  files.rename("a.txt", "x/y.txt");
  files.rename("d/e", "f");
  assert.deepEqual(files.list(), ["d/b.bin", "f/c.txt", "f/empty", "x/y.txt"]);
  assert.deepEqual(files.read("d/b.bin"), BINARY);
  files.rename("x/y.txt", "d/b.bin");
  assert.equal(files.readText("d/b.bin"), "a\n", "a file is replaced");
  files.rename("f", "f");
  const before = files.export();
  for (const [from, to, message] of [
    ["nowhere", "x", /there is no `nowhere`/],
    ["f", "f/g", /cannot go into itself/],
    ["f", "d", /`d` is there already/],
    ["f", "d/b.bin", /is there already/],
    ["d/b.bin", "f", /folder/],
    ["d/b.bin", "f/c.txt/x", /./],
    ["d/b.bin", "../out", /leads out/],
  ]) {
    assert.throws(() => files.rename(from, to), bad(message), `${from} to ${to}`);
    assert.deepEqual(files.export(), before);
  }
});

test("who watches the files hears of each change, by the user and by the agent, once", async () => {
  const write = (file_path, content) => ["write_file", { file_path, content }];
  const server = await serve(
    reply({ calls: [write("made.txt", "1"), write("made.txt", "2")] }),
    reply({
      calls: [
        ["save", {}],
        ["run_program", { program: "qjs", args: ["-m", "p.mjs"] }],
      ],
    }),
    reply({ text: "Done." }),
  );
  const save = {
    name: "save",
    description: "Saves",
    execute: () => agent.files.write("saved.txt", "x"),
  };
  const script = 'import * as std from "std"; std.open("out.txt", "w").close();';
  const files = { "p.mjs": script.replaceAll('"std"', '"qjs:std"') };
  const config = { guard: { read_before_write: false } };
  const agent = await agentAt(server, { files, tools: [save], programs: { qjs: qjs() }, config });
  const heard = [];
  const stop = agent.files.watch(({ path, kind }) => heard.push(`${kind} ${path}`));
  agent.files.write("/a/../a/x.txt", "1");
  agent.files.write("a/x.txt", "2");
  agent.files.rename("a/x.txt", "b.txt");
  agent.files.remove("b.txt");
  agent.files.remove("b.txt");
  const byUser = ["created a/x.txt", "modified a/x.txt", "created b.txt", "deleted a/x.txt"];
  assert.deepEqual(heard.splice(0), [...byUser, "deleted b.txt"]);
  await agent.run("Go").result();
  const byAgent = ["created made.txt", "modified made.txt", "created saved.txt", "created out.txt"];
  assert.deepEqual(heard.splice(0), byAgent);
  stop();
  agent.files.write("c.txt", "");
  assert.deepEqual(heard, []);
  assert.throws(() => agent.files.watch("x"), { code: "bad_option", message: /function/ });
  await agent.close();
  await server.close();
});

test("all files come out as a plain object, and go in again", async () => {
  const files = new Files(GIVEN);
  assert.deepEqual(files.export(), GIVEN);
  const other = new Files({ "a.txt": "old", "stays.txt": "" });
  const paths = await other.import(files.export());
  assert.deepEqual(paths, Object.keys(GIVEN));
  assert.deepEqual(other.export(), { ...GIVEN, "stays.txt": "" });
  assert.throws(() => files.export("tar"), { code: "bad_option", message: /"zip"/ });
});

test("all files come out as an archive that others read, and go in again", async (t) => {
  const files = new Files(GIVEN);
  const archive = await files.export("zip");
  assert.deepEqual(archive, await new Files(files).export("zip"), "the same makes the same");
  const other = new Files();
  assert.deepEqual(await other.import(archive), Object.keys(GIVEN));
  assert.deepEqual(other.export(), GIVEN);
  await new Files().import(archive.buffer.slice(archive.byteOffset, archive.byteLength));
  const place = mkdtempSync(join(tmpdir(), "innerloop-zip-"));
  t.after(() => rmSync(place, { recursive: true }));
  writeFileSync(join(place, "a.zip"), archive);
  execFileSync("python3", ["-m", "zipfile", "-e", "a.zip", "out"], { cwd: place });
  assert.deepEqual(new Uint8Array(readFileSync(join(place, "out/d/b.bin"))), BINARY);
  const more =
    "import zipfile; z = zipfile.ZipFile('b.zip', 'w'); z.writestr('f/', '');" +
    "z.writestr('f/x', 'x' * 9, zipfile.ZIP_DEFLATED); z.writestr('y', 'y')";
  execFileSync("python3", ["-c", more], { cwd: place });
  const theirs = new Files();
  await theirs.import(readFileSync(join(place, "b.zip")));
  assert.deepEqual(theirs.export(), { "f/x": "xxxxxxxxx", y: "y" });
});

test("an archive or object that does not fit writes nothing", async (t) => {
  const place = mkdtempSync(join(tmpdir(), "innerloop-zip-"));
  t.after(() => rmSync(place, { recursive: true }));
  const zip = (...entries) => {
    const begin = "import zipfile; z = zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED)";
    const script = [begin, "z.writestr('fine', '1')", ...entries, "z.close()"].join("; ");
    execFileSync("python3", ["-c", script], { cwd: place });
    return readFileSync(join(place, "a.zip"));
  };
  const archive = zip();
  const odd = [
    [zip("z.writestr('../out', '2')"), "bad_path", /leads out/],
    [zip("z.writestr('here/x', '2')"), "bad_path", /here\/x/],
    [zip("[z.writestr(str(n), b'0' * 2**26) for n in range(5)]"), "bad_option", /256 MiB/],
    [archive.subarray(0, archive.length - 30), "bad_option", /archive cannot be read/],
    [new Uint8Array(9), "bad_option", /archive cannot be read/],
    [{ fine: "1", bad: 7 }, "bad_option", /content of `bad`/],
    [
      [
        ["fine", "1"],
        ["../x", ""],
      ],
      "bad_path",
      /leads out/,
    ],
  ];
  for (const [given, code, message] of odd) {
    const files = new Files({ here: "a file" });
    await assert.rejects(files.import(given), { name: "AgentError", code, message });
    assert.deepEqual(files.list(), ["here"]);
  }
});

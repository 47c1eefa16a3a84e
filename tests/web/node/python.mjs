// Python: the package `innerloop-python` in a worker thread, alone and as a command of the shell.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { reply, serve } from "../support/anthropic.mjs";
import { Agent, agentAt, eventsOf, folder, python, qjs, shell } from "../support/installed.mjs";
import { printed, runLines, programs as shellPrograms } from "../support/shell.mjs";

const SHA_256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763";
const unpacked = gunzipSync(readFileSync(python.wasm()));
// Compiled once for all tests but those of its loading.
const compiled = { ...python, wasm: await WebAssembly.compile(unpacked) };
const programs = [...shellPrograms, compiled];

const FILES = {
  "shop.py": "def total(prices):\n    return sum(prices)\n",
  "main.py": "import sys\nfrom shop import total\nprint(total(map(int, sys.argv[1:])))\n",
  "tests/__init__.py": "",
  "tests/test_shop.py": `import unittest
from shop import total

class Shop(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)

    def test_nothing(self):
        self.assertEqual(total([]), 1)
`,
  "run.py": "#!/usr/bin/env python3\nprint('a script')\n",
};

test("c11 python runs code, scripts and tests, under each of its names", async () => {
  const lines = [
    "python -c 'print(6 * 7)'; a=thon3; py$a --version; echo 'print(1)' | python -; which python3",
    "python main.py 1 2 3; cd tests; python ../main.py 4 é; echo $?; cd ..; ./run.py",
    "python -m unittest; echo $?",
    "sed -i 's/, 1)/, 0)/' tests/*.py; python3 -m unittest -v 2>&1 | tail -1; ls -A . tests",
  ];
  const { outcomes, agent } = await runLines(lines, { programs, files: FILES });
  const [plain, scripts, red, green] = outcomes.map(({ parts }) => parts.map(({ text }) => text));
  assert.deepEqual(plain, ["42\nPython 3.12.0\n1\n/usr/bin/python3\n", ""]);
  assert.match(scripts[0], /^6\n1\na script\n$/);
  assert.match(scripts[1], /ValueError: invalid literal for int\(\) with base 10: 'é'\n$/);
  assert.equal(red[0], "1\n");
  assert.match(red[1], /FAIL: test_nothing .*AssertionError: 0 != 1\n.*Ran 2 tests/s);
  const names = ".:\nmain.py\nrun.py\nshop.py\ntests\n\ntests:\n__init__.py\ntest_shop.py\n";
  assert.deepEqual(green, [`OK\n${names}`, ""]);
  assert.deepEqual(agent.files.list(), Object.keys(FILES).sort(), "nothing compiled is left");
});

test("c11 python takes part in pipelines, with the shell's files and variables", async () => {
  const lines = [
    "python -c 'for n in (3, 1, 2): print(n)' | sort | head -2; echo ${PIPESTATUS[@]}",
    'tr " " "\\n" <<< "a b" | python -c "import sys; print(sys.stdin.read().upper())" | paste -sd+',
    'X=5 python -c \'import os; print(os.environ["X"], os.environ["HOME"])\'',
    "x=$(python -c 'print(7)'); echo $((x * 6)); python -c 'import sys; sys.exit(200)'; echo $?",
    "python - <<'END' > made.json\nimport json\nprint(json.dumps({'a': 1}))\nEND\njq .a made.json",
    `python -c 'import sqlite3, tempfile, shutil, os
with tempfile.TemporaryDirectory() as d:
    c = sqlite3.connect(d + "/a.db"); c.execute("create table t(n)"); c.commit()
    shutil.copy(d + "/a.db", "kept.db"); print(d.startswith("/tmp/"), os.listdir(d))'; ls /tmp`,
  ];
  const texts = await printed(lines, { programs });
  const expected = ["1\n2\n0 0 0\n|", "A+B+\n|", "5 /\n|", "42\n200\n|", "1\n|"];
  assert.deepEqual(texts, [...expected, "True ['a.db']\n|"]);
});

test("c11 python is a program without the shell, too, and reads what it is given", async () => {
  const call = { program: "python3", args: ["-c", "print(input() + '!')"], stdin: "hé\n" };
  const server = await serve(reply({ calls: [["run_program", call]] }), reply({ text: "Done." }));
  const agent = await agentAt(server, { programs: [compiled] });
  const events = await eventsOf(agent.run("Go"));
  const { outcome } = events.find(({ type }) => type === "tool_call_end");
  assert.equal(outcome.parts[0].text, "hé!\n", JSON.stringify(outcome));
  const told = JSON.stringify(server.requests[0].body.system);
  assert.match(told, /python.*runs Python 3\.12.*python3.*the same as `python`/);
  await agent.close();
  await server.close();
});

test("c11 endless python is ended with its worker, and the shell lives on", async () => {
  const endless = { command: "x=2; python -c 'while True: pass'", timeout_ms: 1500 };
  const deep = "python -c 'def f(): f()\nf()' 2>&1 | tail -1; python -c 'print(\"x\" * 2 ** 31)'";
  const { outcomes } = await runLines(["x=1; cd tests", endless, "echo $x $PWD", deep], {
    programs,
    files: FILES,
  });
  assert.equal(outcomes[1].timed_out, true);
  assert.equal(outcomes[2].parts[0].text, "1 /tests\n");
  assert.match(outcomes[3].parts[0].text, /^RecursionError: maximum recursion depth exceeded/);
  assert.match(outcomes[3].parts[1].text, /MemoryError|OverflowError/);
});

test("c11 python is loaded when it is first used, once for its names, and unpacked", async () => {
  const asked = [];
  const wasm = () => {
    asked.push("python");
    return python.wasm();
  };
  const lazy = [...shellPrograms, { ...python, wasm }];
  const texts = await printed(["echo 1", "python3 -c 'print(2)'; python -c 'print(3)'"], {
    programs: lazy.map((program) => ({ ...program })),
  });
  assert.deepEqual([texts, asked], [["1\n|", "2\n3\n|"], ["python"]]);
  await printed(["echo pythonic a-python python-x > python.md"], { programs: lazy });
  assert.deepEqual(asked, ["python"]);
  const broken = { ...python, wasm: () => new Uint8Array([0x1f, 0x8b, 8, 0]) };
  const { outcomes } = await runLines(["python3 -V"], { programs: [...shellPrograms, broken] });
  assert.match(
    outcomes[0].parts[1].text,
    /^python3: can't be run: the program `python` could not be loaded: /,
  );
});

test("c11 a program has 1 GiB of memory at most, and the shell lives on", async () => {
  const packaged = [shell, qjs, python];
  const lines = [
    "python -c 'print(len(bytearray(600 * 2 ** 20)))'; python -c 'bytearray(1030 * 2 ** 20)'",
    "qjs -e 'const all = []; for (;;) all.push(new Uint8Array(2 ** 24))'; echo $?",
    "python -c 'all = []\nwhile True: all.append(bytes(2 ** 24))' | cat; echo ${PIPESTATUS[@]}",
  ];
  const { outcomes } = await runLines(lines, { programs: packaged });
  const told = outcomes.map(({ parts }) => parts.map(({ text }) => text));
  assert.equal(told[0][0], "629145600\n");
  assert.match(told[0][1], /\nMemoryError\n$/);
  assert.deepEqual([told[1][0], told[2][0]], ["1\n", "1 0\n"]);
  assert.match(told[1][1], /out of memory/);
  assert.match(told[2][1], /\nMemoryError\n$/);
});

test("c11 names and variables of a program that do not fit are refused", async () => {
  const common = { provider: "anthropic", model: "m", apiKey: "k" };
  const wrong = [
    { aliases: "python3" },
    { aliases: [""] },
    { env: [] },
    { env: { A: 1 } },
    { env: { "A=B": "c" } },
  ];
  for (const part of wrong) {
    const options = { ...common, programs: [{ ...qjs, ...part }] };
    const message = /`(aliases|env)` of the program `qjs` must be/;
    await assert.rejects(Agent.create(options), { code: "bad_option", message });
  }
});

test("c11 the package of python holds the pinned module and its licences", () => {
  assert.equal(createHash("sha256").update(unpacked).digest("hex"), SHA_256);
  const at = (file) => readFileSync(join(folder, "node_modules/innerloop-python", file), "utf8");
  assert.match(at("NOTICE"), new RegExp(`${SHA_256}[^]*Copyright 2022 VMware, Inc\\.`));
  assert.match(at("THIRD-PARTY.txt"), /PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2/);
  for (const part of ["zlib", "bzip2", "libmpdec", "Expat", "musl"]) {
    assert.match(at("THIRD-PARTY.txt"), new RegExp(`^${part}[^\\n]*\\n\\nCopyright`, "m"));
  }
  assert.match(at("LICENSE-APACHE"), /Apache License/);
});

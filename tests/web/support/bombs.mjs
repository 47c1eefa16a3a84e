// Command lines without end and without measure, and what is said of each: in Node and in a page.

import assert from "node:assert/strict";

/**
 * The bombs: `line`, its `timeout_ms` if it takes that long, and what is to be told: `error`,
 * `exit`, a pattern for what it says.
 */
const BOMBS = [
  { line: "yes | head -2; echo ${PIPESTATUS[@]}", exit: 0, says: /^y\ny\n141 0\n$/ },
  {
    line: "cat /dev/zero | sort | wc -c",
    exit: 0,
    says: /^67108865\n.*cat: \/dev\/zero: stopped after 64 MiB of what has no end\n$/s,
  },
  { line: "yes", error: "limit", says: /^y\n.*\[it was stopped because it printed too much\]$/s },
  {
    line: "yes | cat > f",
    error: "limit",
    says: /^\[it was stopped because it wrote too much to files\]$/,
  },
  { line: "x=$(yes)", exit: 1, says: /^bash: resource limit exceeded: .*intermediate bytes/ },
  { line: "x=a; while :; do x=$x$x; done", exit: 1, says: /^bash: resource .*: memory limit/ },
  { line: ":() { : | : & }; :", timeout_ms: 1000, error: "timeout", says: /^$/ },
  { line: "yes | tail -1", timeout_ms: 1000, error: "timeout", says: /^$/ },
  { line: "yes | while :; do :; done", timeout_ms: 1000, error: "timeout", says: /^$/ },
  { line: "awk 'BEGIN { while (1); }'", timeout_ms: 1000, error: "timeout", says: /^$/ },
  { line: "qjs -e 'for (;;);' | cat", timeout_ms: 1000, error: "timeout", says: /^$/ },
  {
    line: "qjs -e 'for (;;) print(1)' | tail -1",
    exit: 0,
    says: /^\d+\nqjs: it was stopped because it printed more than 16 MiB/,
  },
];

/** The lines to carry out one after the other: after each bomb, a look at the shell. */
export const BOMB_LINES = [
  "mkdir d; cd d; v=1",
  ...BOMBS.flatMap(({ line, timeout_ms = 300_000 }) => [
    { command: `v=2; ${line}`, timeout_ms },
    "echo $((v > 0)) $PWD; v=1; rm -f f",
  ]),
];

/** Fails unless each bomb ended as it is to end, and the shell lived on after it. */
export function checkBombs(outcomes) {
  assert.equal(outcomes.length, BOMB_LINES.length);
  BOMBS.forEach(({ line, error, exit, says }, at) => {
    const [ended, after] = outcomes.slice(1 + 2 * at);
    const said = ended.parts.map(({ text }) => text).join("");
    assert.match(said.length > 1000 ? said.slice(0, 100) + said.slice(-300) : said, says, line);
    assert.deepEqual([ended.error, ended.exit], [error ?? (exit ? "exit" : undefined), exit], line);
    assert.equal(after.parts[0].text, "1 /d\n", `after ${line}`);
  });
}

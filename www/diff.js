// The difference between two texts as a unified diff: lines, in hunks with context.

const CONTEXT = 3;

/** Larger middles are shown as removed and added whole: the table would not fit the page. */
const LARGEST_TABLE = 4_000_000;

/**
 * The hunks between two texts: `{header, lines: [{kind, text}]}` with kind `same`, `removed` or
 * `added`.
 */
export function hunks(before, after) {
  const steps = compare(linesOf(before), linesOf(after));
  const result = [];
  let from = 0;
  while (from < steps.length) {
    const first = steps.findIndex((step, at) => at >= from && step.kind !== "same");
    if (first < 0) break;
    let last = first;
    for (let at = first; at < steps.length && at <= last + 2 * CONTEXT; at += 1) {
      if (steps[at].kind !== "same") last = at;
    }
    const start = Math.max(from, first - CONTEXT);
    const end = Math.min(steps.length, last + CONTEXT + 1);
    result.push({ header: header(steps, start, end), lines: steps.slice(start, end) });
    from = end;
  }
  return result;
}

function linesOf(text) {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function header(steps, start, end) {
  const count = (part, skipped) => part.filter((step) => step.kind !== skipped).length;
  const [before, part] = [steps.slice(0, start), steps.slice(start, end)];
  const place = (skipped) => {
    const length = count(part, skipped);
    return `${count(before, skipped) + (length > 0 ? 1 : 0)},${length}`;
  };
  return `@@ -${place("added")} +${place("removed")} @@`;
}

function compare(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const same = (text) => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a, b) {
  const removed = (text) => ({ kind: "removed", text });
  const added = (text) => ({ kind: "added", text });
  if (a.length * b.length > LARGEST_TABLE) return [...a.map(removed), ...b.map(added)];
  const longest = commonLengths(a, b);
  const steps = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      steps.push({ kind: "same", text: a[i] });
      i += 1;
      j += 1;
    } else if (longest[i + 1][j] >= longest[i][j + 1]) {
      steps.push(removed(a[i]));
      i += 1;
    } else {
      steps.push(added(b[j]));
      j += 1;
    }
  }
  return [...steps, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

// How long the longest common subsequence of the rests behind each pair of places is.
function commonLengths(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [down, right] = [table[i + 1][j], table[i][j + 1]];
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(down, right);
    }
  }
  return table;
}

// Which calls of programs and command lines leave the files alone, as far as their words say. What
// is not surely so counts as a change.

/** Commands that write nothing, whatever is said to them beside what `FORBIDDEN` names. */
const READERS = new Set(
  (
    "[ basename cat cd cmp comm cut date diff dirname du echo egrep false fgrep file find grep head " +
    "jq ls md5sum nl printf pwd realpath rg seq sha256sum sleep sort stat tail test tr tree true " +
    "type uname wc which"
  ).split(" "),
);
/** What has one of them write or run something all the same. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  find: /^-(?:delete|exec|ok|fprint|fls)/,
  sort: /^(?:-[a-zA-Z]*o|--output|--compress-program)/,
  tree: /^-[a-zA-Z]*o/,
  rg: /^--pre/,
};
/** Programs that run a file of the workspace. */
const RUNNERS = new Set(["qjs", "python", "python3"]);
/** The parts of Python that run tests. */
const TESTS = new Set(["unittest", "pytest", "doctest"]);

/** Whether a call may change files by more than a program of the workspace that it runs. */
export function mayEdit(args: unknown): boolean {
  const { program, command, args: given } = (args ?? {}) as Record<string, unknown>;
  if (typeof program === "string") return !runsFile([program, ...(areWords(given) ? given : [])]);
  if (typeof command === "string") return !onlyReads(command);
  if (!areWords(command)) return true;
  const [shell, flag, line, ...more] = command;
  const isLine = /^(?:ba)?sh$/.test(shell ?? "") && /^-l?c$/.test(flag ?? "") && more.length === 0;
  return isLine && line !== undefined ? !onlyReads(line) : !isHarmless(command);
}

/** Whether a command line only reads, or runs programs of the workspace. */
export function onlyReads(line: string): boolean {
  const plain = line.replaceAll(/[12&]?>{1,2}\s*(?:&[12](?!\d)|\/dev\/null(?![\w/.]))/g, " ");
  // Redirections, substitutions, groups, functions, escapes.
  if (/[<>`(){}\\]/.test(plain)) return false;
  const commands = plain.split(/\|\|?|&&?|;|\n/).map((one) => one.trim());
  return commands.every((one) => one === "" || isHarmless(one.split(/\s+/)));
}

function isHarmless([name = "", ...rest]: string[]): boolean {
  if (RUNNERS.has(name)) return runsFile([name, ...rest]);
  const forbidden = FORBIDDEN[name];
  return READERS.has(name) && !rest.some((word) => forbidden?.test(word.replaceAll(/["']/g, "")));
}

// Code that is given in the call itself is not of the workspace.
function runsFile([name = "", ...rest]: string[]): boolean {
  if (!RUNNERS.has(name)) return false;
  const [first = "", second = ""] = rest;
  if (name !== "qjs" && first === "-m") return TESTS.has(second);
  const file = name === "qjs" && ["-m", "--module"].includes(first) ? second : first;
  return file !== "" && !file.startsWith("-");
}

function areWords(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((word) => typeof word === "string");
}

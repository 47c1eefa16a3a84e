// The judgement of calls of programs and command lines: whether they leave the files alone. It is
// made from their words, so that everything that is not certain counts as a change.

/** The commands that write nothing, unless they get an argument of `FORBIDDEN`. */
const READERS = new Set(
  (
    "[ basename cat cd cmp comm cut date diff dirname du echo egrep false fgrep file find grep head " +
    "jq ls md5sum nl printf pwd realpath rg seq sha256sum sleep sort stat tail test tr tree true " +
    "type uname wc which"
  ).split(" "),
);
/** The arguments with which one of them writes or runs something all the same. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  find: /^-(?:delete|exec|ok|fprint|fls)/,
  sort: /^(?:-[a-zA-Z]*o|--output|--compress-program)/,
  tree: /^-[a-zA-Z]*o/,
  rg: /^--pre/,
};
/** The programs that run a file of the workspace. */
const RUNNERS = new Set(["qjs", "python", "python3"]);
/** The modules of Python that run tests. */
const TESTS = new Set(["unittest", "pytest", "doctest"]);

/** Returns whether a call may change files other than by a program of the workspace. */
export function mayEdit(args: unknown): boolean {
  const { program, command, args: given } = (args ?? {}) as Record<string, unknown>;
  if (typeof program === "string") return !runsFile([program, ...(areWords(given) ? given : [])]);
  if (typeof command === "string") return !onlyReads(command);
  if (!areWords(command)) return true;
  const [shell, flag, line, ...more] = command;
  const isLine = /^(?:ba)?sh$/.test(shell ?? "") && /^-l?c$/.test(flag ?? "") && more.length === 0;
  return isLine && line !== undefined ? !onlyReads(line) : !isHarmless(command);
}

/** Returns whether a command line only reads, or runs programs of the workspace. */
export function onlyReads(line: string): boolean {
  // Redirections between descriptors and to `/dev/null` write no file.
  const plain = line.replaceAll(/[12&]?>{1,2}\s*(?:&[12](?!\d)|\/dev\/null(?![\w/.]))/g, " ");
  // Other redirections, substitutions, groups, functions and escapes are not analysed but refused.
  if (/[<>`(){}\\]/.test(plain)) return false;
  const commands = plain.split(/\|\|?|&&?|;|\n/).map((one) => one.trim());
  return commands.every((one) => one === "" || isHarmless(one.split(/\s+/)));
}

function isHarmless([name = "", ...rest]: string[]): boolean {
  if (RUNNERS.has(name)) return runsFile([name, ...rest]);
  // Quotation marks are removed first: the shell reads `"-delete"` as `-delete`.
  const forbidden = FORBIDDEN[name];
  return READERS.has(name) && !rest.some((word) => forbidden?.test(word.replaceAll(/["']/g, "")));
}

// True if a file of the workspace is run. Code in the call itself, as behind `-c`, is not a file
// that the person has seen.
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

// The rules of `.gitignore`: gitignore(5). A name is matched in time that grows with its length and
// that of the rule, whatever a hostile rule looks like; hence no regular expressions.

/** A test of one character, by its code; none stands for any number of characters. */
type Token = ((code: number) => boolean) | undefined;

/** A part of a rule between slashes; none stands for any number of folders. */
type Segment = readonly Token[] | undefined;

/** A rule. */
export interface Rule {
  /** The folder below which it holds: empty, or ending with a slash. */
  folder: string;
  /** True if it takes back what earlier rules ignore. */
  isNegative: boolean;
  /** True if it is about folders only. */
  isOfFolders: boolean;
  /** True if it is about the whole path below its folder, not about names alone. */
  isAnchored: boolean;
  segments: readonly Segment[];
}

const SLASH = "/".charCodeAt(0);
/** The classes of characters with names. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
};

/**
 * Returns the rules of a file in that folder.
 *
 * @throws Error if a rule is of a kind that is not known here.
 */
export function rulesOf(text: string, folder: string): Rule[] {
  const lines = text.replace(/^\u00ef\u00bb\u00bf/, "").split("\n");
  return lines.flatMap((line) => ruleOf(line.replace(/\r$/, ""), folder) ?? []);
}

/** Returns whether the last rule that fits says so. The folders above are not looked at. */
export function isIgnored(path: string, isFolder: boolean, rules: readonly Rule[]): boolean {
  for (let at = rules.length - 1; at >= 0; at -= 1) {
    const rule = rules[at];
    if (rule && fits(rule, path, isFolder)) return !rule.isNegative;
  }
  return false;
}

function ruleOf(line: string, folder: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  const isNegative = line.startsWith("!");
  let text = trimmed(line.slice(isNegative ? 1 : 0));
  const isOfFolders = text.endsWith("/");
  if (isOfFolders) text = text.slice(0, -1);
  const isAnchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return undefined;
  const segments: Segment[] = [];
  for (const part of text.split("/")) {
    const segment = isAnchored && part === "**" ? undefined : tokensOf(part);
    // A rule that cannot be read fits nothing, but for one whose set of characters goes on behind
    // a slash.
    if (segment === null && part.includes("[") && text.includes("]"))
      throw new Error("an odd rule");
    if (segment === null) return undefined;
    segments.push(segment);
  }
  return { folder, isNegative, isOfFolders, isAnchored, segments };
}

// Blanks at the end count only behind a backslash.
function trimmed(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === "\\") at += 1;
    else if (line[at] === " ") continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function tokensOf(part: string): Token[] | null {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; at += 1) {
    let char = part.charAt(at);
    if (char === "*") {
      tokens.push(undefined);
    } else if (char === "?") {
      tokens.push(() => true);
    } else if (char === "[") {
      const found = setOf(part, at + 1);
      if (found === undefined) return null;
      tokens.push(found.has);
      at = found.end;
    } else {
      if (char === "\\") {
        at += 1;
        if (at === part.length) return null;
        char = part.charAt(at);
      }
      const own = char.charCodeAt(0);
      tokens.push((code) => code === own);
    }
  }
  return tokens;
}

/** Reads a set of characters, from behind its bracket to the one that closes it. */
function setOf(part: string, from: number): { has: Token; end: number } | undefined {
  const tests: ((code: number) => boolean)[] = [];
  let at = from;
  const isNot = part[at] === "!" || part[at] === "^";
  if (isNot) at += 1;
  for (const first = at; at === first || part[at] !== "]"; at += 1) {
    if (at >= part.length) return undefined;
    const named = /^\[:(\w+):\]/.exec(part.slice(at, at + 12));
    if (named !== null) {
      const known = CLASSES[named[1] ?? ""];
      if (known === undefined) return undefined;
      tests.push((code) => known.test(String.fromCharCode(code)));
      at += named[0].length - 1;
      continue;
    }
    if (part[at] === "\\") at += 1;
    const low = part.charCodeAt(at);
    let high = low;
    const isRange = part[at + 1] === "-" && at + 2 < part.length && part[at + 2] !== "]";
    if (isRange) {
      at += part[at + 2] === "\\" ? 3 : 2;
      high = part.charCodeAt(at);
    }
    if (Number.isNaN(low) || Number.isNaN(high)) return undefined;
    tests.push((code) => low <= code && code <= high);
  }
  const has = (code: number): boolean => {
    return code !== SLASH && tests.some((test) => test(code)) !== isNot;
  };
  return { has, end: at };
}

function fits(rule: Rule, path: string, isFolder: boolean): boolean {
  if ((rule.isOfFolders && !isFolder) || !path.startsWith(rule.folder)) return false;
  if (rule.isAnchored) return fitsPath(rule.segments, path.slice(rule.folder.length).split("/"));
  return fitsName(rule.segments[0] ?? [], path.slice(path.lastIndexOf("/") + 1));
}

// Only the last of several stars is ever tried again: if a later one fits, the earlier ones do.
function fitsPath(segments: readonly Segment[], names: readonly string[]): boolean {
  let [at, name, star, tried] = [0, 0, -1, 0];
  while (name < names.length) {
    const segment = segments[at];
    if (at < segments.length && segment === undefined) {
      [star, tried] = [at, name];
      at += 1;
      // At the end it stands for all that is inside.
      if (at === segments.length) return true;
    } else if (segment !== undefined && fitsName(segment, names[name] ?? "")) {
      [at, name] = [at + 1, name + 1];
    } else if (star >= 0) {
      tried += 1;
      [at, name] = [star + 1, tried];
    } else {
      return false;
    }
  }
  return at === segments.length;
}

function fitsName(tokens: readonly Token[], name: string): boolean {
  let [at, place, star, tried] = [0, 0, -1, 0];
  while (place < name.length) {
    const token = tokens[at];
    if (at < tokens.length && token === undefined) {
      [star, tried] = [at, place];
      at += 1;
    } else if (token?.(name.charCodeAt(place))) {
      [at, place] = [at + 1, place + 1];
    } else if (star >= 0) {
      tried += 1;
      [at, place] = [star + 1, tried];
    } else {
      return false;
    }
  }
  while (at < tokens.length && tokens[at] === undefined) at += 1;
  return at === tokens.length;
}

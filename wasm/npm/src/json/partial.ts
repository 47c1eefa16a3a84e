// A call's arguments while the model writes them.

/** Where a string ends, or an escape begins. */
const STOP = /["\\]/g;
/** Most characters of a number that is waited for. */
const LONGEST_WORD = 400;
/** What ends a number or a word. */
const DELIMITER = /[\s,:{}[\]"]/g;

type Holder = Record<string, unknown> | unknown[];

/** An object or an array that is not whole. */
interface Open {
  holder: Holder;
  /** Where the next value goes; of an object none before its name has come. */
  key: string | number | undefined;
}

/**
 * Reads the arguments of a call while they come: `add` takes the `text` of each of its
 * `tool_call_delta` events, and `value` is what has come so far. It never throws: what is no JSON
 * is left out.
 */
export class PartialArguments {
  /** The arguments. The last string may become longer; all other values are whole. */
  readonly value: Record<string, unknown> = {};
  readonly #open: Open[] = [];
  /** What is being read: a name, a string, or neither. */
  #reads: "name" | "string" | undefined;
  #text = "";
  /** What can't be read before more has come. */
  #rest = "";
  #isBegun = false;

  /** Takes the next piece of the JSON text, cut anywhere. */
  add(text: string): this {
    const json = this.#rest + text;
    this.#rest = "";
    let at = 0;
    while (at < json.length) {
      const end = this.#reads === undefined ? this.#structure(json, at) : this.#string(json, at);
      if (end === undefined) {
        this.#rest = json.slice(at);
        break;
      }
      at = end;
    }
    if (this.#reads === "string") this.#put(this.#text);
    return this;
  }

  /** Reads a string as far as it goes, or an escape; nothing if that is cut. */
  #string(json: string, at: number): number | undefined {
    STOP.lastIndex = at;
    const end = STOP.exec(json)?.index ?? json.length;
    this.#text += json.slice(at, end);
    if (end > at || end === json.length) return end;
    if (json[at] === '"') {
      if (this.#reads === "name") this.#name(this.#text);
      else this.#put(this.#text);
      this.#reads = undefined;
      return at + 1;
    }
    const after = at + (json[at + 1] === "u" ? 6 : 2);
    if (after > json.length) return undefined;
    this.#text += (parsed(`"${json.slice(at, after)}"`) as string | undefined) ?? "";
    return after;
  }

  /** Reads what stands outside of strings; nothing if it is cut. */
  #structure(json: string, at: number): number | undefined {
    const top = this.#open.at(-1);
    switch (json[at]) {
      case "{":
        this.#begin(this.#isBegun ? {} : this.value, undefined);
        return at + 1;
      case "[":
        this.#begin([], 0);
        return at + 1;
      case "}":
      case "]":
        this.#open.pop();
        return at + 1;
      case ",":
        if (top) top.key = Array.isArray(top.holder) ? top.holder.length : undefined;
        return at + 1;
      case '"':
        this.#reads = top?.key === undefined ? "name" : "string";
        this.#text = "";
        return at + 1;
    }
    DELIMITER.lastIndex = at;
    const end = DELIMITER.exec(json)?.index;
    if (end === at) return at + 1;
    // No number that means anything is that long.
    if (end === undefined) return json.length - at > LONGEST_WORD ? json.length : undefined;
    const value = parsed(json.slice(at, end));
    if (value !== undefined) this.#put(value);
    return end;
  }

  #begin(holder: Holder, key: number | undefined): void {
    if (this.#isBegun) this.#put(holder);
    this.#isBegun = true;
    this.#open.push({ holder, key });
  }

  #name(name: string): void {
    const top = this.#open.at(-1);
    if (top) top.key = name;
  }

  #put(value: unknown): void {
    const top = this.#open.at(-1);
    if (top?.key === undefined) return;
    // A name such as `__proto__` is one like any other.
    const own = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(top.holder, top.key, own);
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

// The key of an agent: given once, given anew, or asked for with each request.

import { AgentError, messageOf } from "../errors.js";

/** What a header can hold of a key, as the driver has it. */
const FITS = /^[!#-[\]-~]*$/;

/** A key, or who makes one for each request; what that throws fails the run. */
export type ApiKey = string | (() => string | Promise<string>);

/** Checks the option `apiKey`. */
export function checkKey(given: unknown): void {
  if (given === undefined || typeof given === "function") return;
  if (typeof given !== "string") {
    throw new AgentError("bad_option", "`apiKey` must be a text, or a function that returns one");
  }
  if (FITS.test(given)) return;
  const message = "`apiKey` has characters that no key has: a space or a line break, perhaps";
  throw new AgentError("bad_option", message);
}

/** Where the key of an agent comes from. */
export class KeySource {
  #given: ApiKey | undefined;

  constructor(given: ApiKey | undefined) {
    this.#given = given;
  }

  /** What the options of a further agent say. */
  get given(): ApiKey | undefined {
    return this.#given;
  }

  /** The key that is there before anything is asked. */
  get text(): string {
    return typeof this.#given === "string" ? this.#given : "";
  }

  /** Whether the key is asked for with each request. */
  get isAsked(): boolean {
    return typeof this.#given === "function";
  }

  /** Takes another one, which {@link checkKey} has seen. */
  take(given: ApiKey | undefined): void {
    this.#given = given;
  }

  /**
   * Asks for the key.
   *
   * @throws Error with a word on why there is none.
   */
  async ask(): Promise<string> {
    if (typeof this.#given !== "function") return this.text;
    let key: unknown;
    try {
      key = await this.#given();
    } catch (error) {
      throw new Error(`the function \`apiKey\` failed: ${messageOf(error)}`);
    }
    if (typeof key !== "string" || key.trim() === "") {
      throw new Error("the function `apiKey` returned no key");
    }
    // A function may read it from a file, with the line feed at its end.
    if (FITS.test(key.trim())) return key.trim();
    throw new Error("the function `apiKey` returned characters that no key has");
  }
}

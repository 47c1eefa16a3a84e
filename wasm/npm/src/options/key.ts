// The key of an agent: given at the start, changed later, or asked for with each request.

import { AgentError, messageOf } from "../errors.js";

// The driver's rule for characters of keys, checked here so that the error names the option.
const FITS = /^[!#-[\]-~]*$/;

/** A key, or a function that returns one for each request; if it throws, the run fails. */
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

/** The source of an agent's key. */
export class KeySource {
  #given: ApiKey | undefined;

  constructor(given: ApiKey | undefined) {
    this.#given = given;
  }

  /** The option as it was given, for a fork. */
  get given(): ApiKey | undefined {
    return this.#given;
  }

  /** The key, if it is a text; empty if it is asked for. */
  get text(): string {
    return typeof this.#given === "string" ? this.#given : "";
  }

  /** True if the key is asked for with each request. */
  get isAsked(): boolean {
    return typeof this.#given === "function";
  }

  /** Takes another key, which {@link checkKey} has checked. */
  take(given: ApiKey | undefined): void {
    this.#given = given;
  }

  /**
   * Asks for the key.
   *
   * @throws Error that tells why there is none; it never holds what was returned.
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

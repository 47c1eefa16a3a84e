// Inputs on their way to the agent: given at once, or once their pictures have been made smaller.
// Their order is kept: an input behind one that waits, waits as well.

import type { RawAgent } from "../binding/instance.js";
import type { Part } from "../json/data.js";
import { toJson } from "../json/encode.js";
import { givenJson } from "../options/given.js";
import { bad } from "../options/values.js";
import { fittedParts, mayNeedFitting } from "./pictures.js";

/** Gives the session an input, with its options as JSON. */
export function say(
  raw: RawAgent,
  word: "submit" | "follow_up",
  parts: string,
  options: string | undefined,
): void {
  if (options !== undefined) raw.tell(`{"${word}":{"parts":${parts},"options":${options}}}`);
  else if (word === "submit") raw.submit(parts);
  else raw.followUp(parts);
}

/** Returns an input as JSON of parts; throws `bad_option` if it is neither a text nor a list. */
export function rawParts(input: string | readonly Part[]): string {
  if (typeof input === "string") return givenJson([{ type: "text", text: input }]);
  if (Array.isArray(input)) return givenJson(input);
  throw bad("say a text, or a list of parts");
}

/** Returns whether an input may hold pictures that have to be made smaller first. */
export function maySayPictures(input: string | readonly Part[]): boolean {
  return typeof input !== "string" && mayNeedFitting(input);
}

/** A run that begins with one of the inputs. */
interface Begun {
  readonly done: boolean;
  interrupt(): void;
}

/** The functions that give an input, and that hear why this failed. */
interface Giving {
  give: (parts: string) => void;
  failed: (error: unknown) => void;
}

/** The queue of inputs whose pictures are being made smaller, and of those behind them. */
export class Waiting {
  #last: Promise<void> = Promise.resolve();
  #count = 0;
  /** The run whose input is in the queue, and whether it was stopped meanwhile. */
  #late: { run: Begun; isStopped: boolean } | undefined;

  /** True if any input waits. */
  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Gives an input, as JSON, once those before it are given and its pictures are small enough. */
  push(parts: string, provider: string | undefined, { give, failed }: Giving): void {
    this.#count += 1;
    // Pictures of all inputs are scaled at the same time; only the giving is in order. Parts that
    // cannot be scaled are given as they are, for the session to judge.
    const fitting = fittedParts(JSON.parse(parts) as Part[], provider).then(toJson, () => parts);
    this.#last = this.#last.then(async () => {
      const fit = await fitting;
      this.#count -= 1;
      try {
        give(fit);
      } catch (error) {
        failed(error);
      }
    });
  }

  /** Gives a run its input in the same way; if the run was stopped meanwhile, it is interrupted. */
  pushFor(run: Begun, parts: string, provider: string | undefined, giving: Giving): void {
    const late = { run, isStopped: false };
    this.#late = late;
    const give = (fit: string): void => {
      if (this.#late === late) this.#late = undefined;
      if (run.done) return;
      // Given even if the run was stopped: only the session can end the run with its events.
      giving.give(fit);
      if (late.isStopped) run.interrupt();
    };
    this.push(parts, provider, { ...giving, give });
  }

  /** True if a run's input is in the queue. */
  get hasRun(): boolean {
    return this.#late?.run.done === false;
  }

  /** Stops the run whose input is in the queue; returns whether there is one. */
  stopRun(): boolean {
    if (this.#late !== undefined) this.#late.isStopped = true;
    return this.#late !== undefined;
  }
}

// Giving the agent an input: at once, or when its pictures have been made smaller.

import type { RawAgent } from "../binding/instance.js";
import type { Part } from "../json/data.js";
import { toJson } from "../json/encode.js";
import { givenJson } from "../options/given.js";
import { bad } from "../options/values.js";
import { fittedParts, mayNeedFitting } from "./pictures.js";

/** Gives the agent an input, with its options as JSON. */
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

/** What the user says, as JSON. */
export function rawParts(input: string | readonly Part[]): string {
  if (typeof input === "string") return givenJson([{ type: "text", text: input }]);
  if (Array.isArray(input)) return givenJson(input);
  throw bad("say a text, or a list of parts");
}

/** Whether an input may have pictures that have to be made smaller first. */
export function maySayPictures(input: string | readonly Part[]): boolean {
  return typeof input !== "string" && mayNeedFitting(input);
}

/** A run that begins with one of the inputs. */
interface Begun {
  readonly done: boolean;
  interrupt(): void;
}

/** Gives an input, and hears why that failed. */
interface Giving {
  give: (parts: string) => void;
  failed: (error: unknown) => void;
}

/** Inputs whose pictures are being made smaller, and those that were given after them. */
export class Waiting {
  #last: Promise<void> = Promise.resolve();
  #count = 0;
  /** The run whose input is among them, and whether it is stopped already. */
  #late: { run: Begun; isStopped: boolean } | undefined;

  /** Whether there are any. */
  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Gives an input, as JSON, when those before it are given and its pictures fit. */
  push(parts: string, provider: string | undefined, { give, failed }: Giving): void {
    this.#count += 1;
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

  /** Gives a run its input like that; whoever has stopped the run has stopped that, too. */
  pushFor(run: Begun, parts: string, provider: string | undefined, giving: Giving): void {
    const late = { run, isStopped: false };
    this.#late = late;
    const give = (fit: string): void => {
      if (this.#late === late) this.#late = undefined;
      if (run.done) return;
      giving.give(fit);
      if (late.isStopped) run.interrupt();
    };
    this.push(parts, provider, { ...giving, give });
  }

  /** Whether a run's input is among them. */
  get hasRun(): boolean {
    return this.#late?.run.done === false;
  }

  /** Stops the run whose input is among them; whether there is one. */
  stopRun(): boolean {
    if (this.#late !== undefined) this.#late.isStopped = true;
    return this.#late !== undefined;
  }
}

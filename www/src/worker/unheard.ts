// What was said while the agent works, and it has not heard yet.

import type { AgentEvent } from "innerloop";
import type { Unheard } from "../shared/messages.js";

/** The words that wait, oldest first. */
export class Waiting {
  #list: Unheard[];
  readonly #changed: (list: Unheard[]) => void;

  constructor(list: Unheard[], changed: (list: Unheard[]) => void) {
    this.#list = list;
    this.#changed = changed;
  }

  get list(): Unheard[] {
    return [...this.#list];
  }

  /** Says something by `tell`, which throws where it cannot be said. */
  say(word: Unheard, tell: () => void): void {
    this.#set([...this.#list, word]);
    try {
      tell();
    } catch (error) {
      this.#set(this.#list.filter((one) => one !== word));
      throw error;
    }
  }

  /** What the agent has heard waits no longer. */
  on(event: AgentEvent): void {
    if (event.agent !== 0 || this.#list.length === 0) return;
    if (event.type === "processing_end") this.#set([]);
    if (event.type !== "steering_injected" && event.type !== "user_input") return;
    const text = event.parts.map((part) => ("text" in part ? part.text : "")).join("");
    const at = this.#list.findIndex((one) => one.text === text);
    if (at >= 0) this.#set(this.#list.toSpliced(at, 1));
  }

  #set(list: Unheard[]): void {
    this.#list = list;
    this.#changed(this.list);
  }
}

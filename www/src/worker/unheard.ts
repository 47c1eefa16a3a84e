// The messages of the user that a working agent has not read yet, for the page to show.

import type { AgentEvent } from "innerloop";
import type { Unheard } from "../shared/messages.js";

/** The waiting messages, oldest first. */
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

  /** Gives a message by `tell`; if that throws, the message does not wait, and this throws too. */
  say(word: Unheard, tell: () => void): void {
    // Added first: the agent may read the message within the call.
    this.#set([...this.#list, word]);
    try {
      tell();
    } catch (error) {
      this.#set(this.#list.filter((one) => one !== word));
      throw error;
    }
  }

  /** Removes the message that the agent has read with this event. */
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

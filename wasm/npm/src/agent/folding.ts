// A summary that the user asks for by `compact`, and the promise of its end.

import { AgentError } from "../errors.js";
import type { AgentEvent, Compacted, CompactionFailed } from "../json/events.js";
import { givenJson } from "../options/given.js";

/** The event that ends a summary. */
export type FoldingEnd = Compacted | CompactionFailed;

/** The summary under way; there is at most one. */
export class Folding {
  /** True while one is under way. */
  isOpen = false;
  #fail: ((error: AgentError) => void) | undefined;

  /** Gives the session the command by `tell`, and resolves to the event that ends the summary. */
  async run(
    instructions: string | undefined,
    subscribe: (listener: (event: AgentEvent) => void) => () => void,
    tell: (command: string) => void,
  ): Promise<FoldingEnd> {
    if (instructions !== undefined && typeof instructions !== "string") {
      throw new AgentError("bad_option", "`instructions` must be a text");
    }
    let end = (): void => {};
    // Subscribed before the command is given: it may end within that call.
    const told = new Promise<FoldingEnd>((resolve, reject) => {
      this.#fail = reject;
      end = subscribe((event) => {
        const isOver = event.type === "compacted" || event.type === "compaction_failed";
        if (isOver && event.agent === 0 && event.why === "asked") resolve(event);
      });
    });
    try {
      tell(givenJson({ compact: { instructions } }));
      this.isOpen = true;
      return await told;
    } finally {
      this.isOpen = false;
      end();
    }
  }

  /** Rejects the summary under way, since its session broke. */
  break(message: string): void {
    if (this.isOpen) this.#fail?.(new AgentError("internal", message));
  }
}

// A conversation that is summed up because the user asked for it: what came of it.

import { AgentError } from "../errors.js";
import type { AgentEvent, Compacted, CompactionFailed } from "../json/events.js";
import { givenJson } from "../options/given.js";

/** What came of a summary. */
export type FoldingEnd = Compacted | CompactionFailed;

/** The summary that was asked for. */
export class Folding {
  /** Whether one is under way. */
  isOpen = false;
  #fail: ((error: AgentError) => void) | undefined;

  /** Gives the session the word by `tell`, and hears from `subscribe` how it went. */
  async run(
    instructions: string | undefined,
    subscribe: (listener: (event: AgentEvent) => void) => () => void,
    tell: (command: string) => void,
  ): Promise<FoldingEnd> {
    if (instructions !== undefined && typeof instructions !== "string") {
      throw new AgentError("bad_option", "`instructions` must be a text");
    }
    let end = (): void => {};
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

  /** The session broke. */
  break(message: string): void {
    if (this.isOpen) this.#fail?.(new AgentError("internal", message));
  }
}

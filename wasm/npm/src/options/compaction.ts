// When the conversation is made shorter, as an option.

import type { Fullness } from "../json/config.js";
import type { FoldKind } from "../json/data.js";

/** When the conversation is made shorter, and how. */
export interface Compaction {
  /** How full the context window must be. */
  at?: Fullness | undefined;
  /** How full it is to be afterwards; two thirds of that if left out. */
  to?: Fullness | undefined;
  /** What is done; a summary if left out. */
  step?: FoldKind | undefined;
  /** Another model of the provider that sums up. */
  model?: string | undefined;
  /** What a summary is to look at. */
  instructions?: string | undefined;
}

// The limits of a run in a worker, besides time and memory, and the messages for runs that they
// end. Both are the same on the native host.

/** The most bytes printed, and written to files. */
export const LIMITS = { printed_too_much: 64 * 2 ** 20, wrote_too_much: 256 * 2 ** 20 };

/** The name of a limit that a run has exceeded. */
export type LimitName = keyof typeof LIMITS;

/** The messages for exceeded limits. */
export const LIMIT_WORDS: Readonly<Record<LimitName, string>> = {
  printed_too_much: "it was stopped because it printed too much",
  wrote_too_much: "it was stopped because it wrote too much to files",
};

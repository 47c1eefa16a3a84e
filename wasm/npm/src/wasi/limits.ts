// The limits of a run in a worker beside time and memory, and what is said of one that they end.

/** The native host's: bytes printed, and bytes written to files. */
export const LIMITS = { printed_too_much: 64 * 2 ** 20, wrote_too_much: 256 * 2 ** 20 };

/** What a run did too much of. */
export type LimitName = keyof typeof LIMITS;

/** The same in words, which are the native host's. */
export const LIMIT_WORDS: Readonly<Record<LimitName, string>> = {
  printed_too_much: "it was stopped because it printed too much",
  wrote_too_much: "it was stopped because it wrote too much to files",
};

// What a run and a session may spend, as an option.

/** What may be spent; what is left out has no limit. */
export interface Spending {
  /** US dollars; needs a model whose price is known. */
  costUsd?: number | undefined;
  /** Tokens, in and out. */
  tokens?: number | undefined;
  /** Milliseconds of runs. */
  ms?: number | undefined;
}

/** What a run may spend, that of the agents included that it starts. */
export interface Budget extends Spending {
  /** What all runs together may spend. */
  session?: Spending | undefined;
}

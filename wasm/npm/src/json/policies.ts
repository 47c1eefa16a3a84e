// The policies of a session, which its configuration holds, as its log has them (snake_case). Made
// of the core's types, whose words these are: see CONTRIBUTING.md#generated-files.

import type { FoldKind } from "./history.js";

/** The calls that a person must approve before they run (`Ask` effects). */
export interface ApprovalPolicy {
  /** The kinds of calls that are asked about. */
  ask: "nothing" | "programs" | "changes" | "everything";
  /** Calls that are never asked about. */
  allow: ApprovalRule[];
}

/** A rule for calls that need no approval: all calls of a tool, or only some of them. */
export interface ApprovalRule {
  /** The name of the tool. */
  tool: string;
  /**
   * The texts with which its arguments must begin, by the argument's name; empty for every call.
   */
  starting: Record<string, string>;
}

/**
 * The rules for shortening the conversation: when, how, and which part stays. Unless the host
 * requests it, that happens only if a tier or `on_overflow` says so.
 */
export interface CompactionPolicy {
  /**
   * The tiers that apply before a model call; if several are reached, the one with the highest
   * start applies.
   */
  auto: {
    /** The fullness of the window from which the tier applies. */
    from: Fullness;
    /** The fullness of the window to reach. */
    to: Fullness;
    /** The step to take. */
    step: FoldKind;
    /**
     * The maximum number of the user's inputs that are kept with everything that followed them; all
     * that fit if absent.
     */
    inputs?: number;
  }[];
  /** The reaction when the conversation no longer fits the model. */
  on_overflow: "warn" | "compact_retry_once";
  /**
   * True if the oldest turns are left out when the conversation does not fit and nothing else
   * shortens it; otherwise the run ends.
   */
  truncate_if_needed: boolean;
  /** The part of the conversation that stays. */
  keep: {
    /**
     * The maximum number of tokens of the newest turns that are kept if the host requests a shorter
     * conversation.
     */
    tokens: number;
    /**
     * The number of the newest replies that are always kept, each with its calls and their results.
     */
    rounds: number;
    /**
     * The maximum number of tokens of the user's inputs that follow a summary unchanged, newest
     * first.
     */
    words_of_user: number;
    /** True if the user's first input stays. */
    first_input: boolean;
  };
  /** The rules for a summary by the model. */
  summary: {
    /** Another model of the same endpoint; the agent's own if absent. */
    model: string | null;
    /** The maximum number of tokens of the summary. */
    max_tokens: number;
    /** The maximum number of characters that it reads of a tool's result. */
    result_chars: number;
    /** Additional instructions for the summary. */
    instructions: string | null;
  };
  /** The number of turns above which the first tier applies, whatever their length; 0 for never. */
  max_messages: number;
  /**
   * The number of failures in a row after which there are no automatic attempts, until a request of
   * the host succeeds.
   */
  max_failures: number;
  /** The maximum number of tokens that count as the context window; 0 for all of it. */
  max_window: number;
}

/**
 * The fullness of a context window, in percent, in tokens used or in tokens left. If several values
 * are given, the one that is reached last counts.
 */
export interface Fullness {
  /** The part that is used, in percent. */
  percent?: number;
  /** The number of tokens that are used. */
  used?: number;
  /** The number of tokens that are left. */
  left?: number;
}

/** The rules about secrets and about text that nobody has checked. */
export interface FirewallPolicy {
  /** The handling of secrets in what tools return, in the facts and in the instructions. */
  secrets: SecretHandling;
  /** The handling of secrets in what the user says; `warn` is not possible. */
  user: SecretHandling;
  /**
   * The handling of text that comes from elsewhere: pages of the web, and results of tools that are
   * `untrusted`.
   */
  untrusted: UntrustedText;
  /**
   * True if the tools that write files put a secret in the place of its mask, where the file has
   * that secret.
   */
  unmask: boolean;
  /** Texts that are no secrets: what contains one of them is never masked. */
  allow: string[];
  /**
   * The salt of the masks; if absent, the driver makes one of the session's id. A fork keeps it,
   * since its history has masks that were made with it.
   */
  salt?: number;
}

/** The handling of secrets in a text. */
export type SecretHandling =
  /** They are not looked for. */
  | "off"
  /** The text stays; the outcome names the kinds of secrets. */
  | "warn"
  /** Each secret is replaced by a mask such as `‹secret:github:3f9a2c›`. */
  | "mask"
  /** A result is withheld, and what the user says is refused. */
  | "block";

/** The handling of text that comes from elsewhere. */
export type UntrustedText =
  /** It stays as it is. */
  | "off"
  /**
   * It stands between two lines that no such text can contain, with a sentence that says that it is
   * information and not instructions.
   */
  | "wrap";

/** The rules for calls that repeat themselves: their detection, and the reactions. */
export interface LoopPolicy {
  /** True if repeating calls are detected. */
  detect: boolean;
  /** The number of the newest calls that must follow one pattern. */
  window: number;
  /** The longest cycle of calls that counts as a pattern. */
  max_period: number;
  /** The number of rounds in a row with the same calls at which a step is taken; 0 for never. */
  same_args: number;
  /**
   * The number of rounds in a row that call the same tools, whatever the arguments, at which a step
   * is taken; 0 for never.
   */
  same_name: number;
  /**
   * The number of further such rounds after which the next step of the ladder follows; 0 for the
   * same number again.
   */
  again_after: number;
  /** True if only calls that failed count. */
  only_if_failed: boolean;
  /** Tools whose calls do not count. */
  ignore_tools: string[];
  /** True if times, UUIDs and hashes in arguments and results are ignored in comparisons. */
  mask_volatile: boolean;
  /**
   * The steps to take the first time, the second time and so on, until the pattern breaks; the last
   * step applies to all further times.
   */
  ladder: LoopStep[];
}

/** The reaction to calls that repeat themselves. */
export type LoopStep =
  /** The model gets a warning. */
  | "warn"
  /** The model summarises its findings without tools, and the run ends. */
  | "summarize"
  /** The user is asked whether to go on. */
  | "ask_user"
  /** The run ends at once. */
  | "stop";

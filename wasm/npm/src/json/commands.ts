// What people type, as commands, answers and texts. Made of the core's types, whose words these
// are: see CONTRIBUTING.md#generated-files.

/** The word that a text is read as. */
export type CommandWord =
  /** A text for the model: as it was typed, or made of a template. */
  | {
      type: "text";
      /** The text. */
      text: string;
    }
  /**
   * The credential that is pending. It holds no text, so that a log of words holds no secret; the
   * caller has the text and must not log it either.
   */
  | {
      type: "secret";
    }
  /**
   * A command that is not known, or a known one with wrong arguments. Its answer goes to the person
   * and never to the model.
   */
  | {
      type: "unknown";
      /** The command's name in small letters, without the slash. */
      name: string;
      /** The known name that is most like it, if one is. */
      near?: string;
      /** How the command is used, such as `/undo [N] | /undo files`, if it is known. */
      usage?: string;
    }
  /** Undo that many steps. */
  | {
      type: "undo";
      /** The number of steps, at least one. */
      steps: number;
    }
  /** Undo the changes of undone steps to files. */
  | {
      type: "undo_files";
    }
  /** Redo that many steps. */
  | {
      type: "redo";
      /** The number of steps, at least one. */
      steps: number;
    }
  /** Have the agent forget what was said. */
  | {
      type: "clear";
    }
  /** Sum the conversation up. */
  | {
      type: "compact";
      /** What matters in it. */
      instructions?: string;
    }
  /** Stop what goes on. */
  | {
      type: "interrupt";
    }
  /** Look at once whether there is something to do. */
  | {
      type: "heartbeat";
    }
  /** Summarize the thread for the person. */
  | {
      type: "summarize";
    }
  /** Suggest what to do next. */
  | {
      type: "suggest";
    }
  /** Begin another thread. */
  | {
      type: "new_thread";
    }
  /** Go to a thread. */
  | {
      type: "thread";
      /** Its UUID, or four or more characters that it begins with, in small letters. */
      id: string;
    }
  /** List the threads. */
  | {
      type: "list_threads";
    }
  /** Go on with a stored thread. */
  | {
      type: "resume_thread";
      /** Its UUID, or four or more characters that it begins with, in small letters. */
      id: string;
    }
  /** Begin a job. */
  | {
      type: "create_job";
      /** What is to be done. */
      text: string;
    }
  /** Tell how a job stands, or how all does. */
  | {
      type: "job_status";
      /** The job; none where the whole is meant. */
      id?: string;
    }
  /** List the jobs. */
  | {
      type: "list_jobs";
      /** The words that they are chosen by. */
      filter?: string;
    }
  /** Cancel a job. */
  | {
      type: "cancel_job";
      /** The job. */
      id: string;
    }
  /** Help a job that is stuck. */
  | {
      type: "help_job";
      /** The job. */
      id: string;
    }
  /** A question to the program itself. It is answered in any state, whatever is pending. */
  | {
      type: "system";
      /** `help`, `version`, `tools`, `skills`, `ping`, `debug` or `model`. */
      name: string;
      /** The text behind it; empty if there is none. */
      args: string;
    }
  /** A command of the host's own. */
  | {
      type: "own";
      /** The command's name, as the host has given it. */
      name: string;
      /** The text behind it; empty if there is none. */
      args: string;
    }
  /** Allow the call that waits for it. Without one the person is told so. */
  | {
      type: "approve";
      /** True if calls like it are allowed from now on. */
      always: boolean;
    }
  /** Deny the call that waits for an approval. Without one the person is told so. */
  | {
      type: "deny";
    }
  /** Leave. */
  | {
      type: "quit";
    };

/** A command that a host or a user adds. */
export interface CustomCommand {
  /** The name without the slash. */
  name: string;
  /**
   * The text that it becomes, with `$ARGUMENTS`, `$1` to `$9`, and `$$` for a dollar sign. The
   * table's own words go before a command with a template. Without one it is the host's own word,
   * `own`, and goes before the table.
   */
  template?: string | null;
}

/** What waits for an answer of the person. */
export interface PendingAsks {
  /** True if a call waits for an approval: bare words such as `yes` then answer it. */
  approval?: boolean;
  /**
   * True if the model waits for the answer to a question. Bare words may be meant for that, so that
   * they approve nothing: `/yes` does.
   */
  question?: boolean;
  /** True if a credential is wanted: all but commands is taken for it. */
  credential?: boolean;
  /**
   * The answers that a question names. A text that is one of them, in any case, is a text as the
   * question spells it.
   */
  choices?: string[];
}

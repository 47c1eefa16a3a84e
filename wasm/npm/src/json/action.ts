// What built-in tools do, as the session's log has it (snake_case). Made of the core's types, whose
// words these are: see CONTRIBUTING.md#generated-files.

/** An action of a built-in tool. */
export type Action =
  /** Reads a text file's lines, or an image whole. */
  | {
      action: "read";
      /** The path of the file. */
      path: string;
      /** The first line to read, counted from 1. */
      offset?: number;
      /** The maximum number of lines to read; all if absent. */
      limit?: number;
      /** The way in which lines are numbered in the outcome's text. */
      numbering: "none" | "pipe" | "tab";
      /** The maximum number of characters shown of a line; all if absent. */
      line_chars?: number;
      /** The position of the notice that the file goes on. */
      notice?: "below" | "above";
    }
  /** Reads an image, and nothing else. */
  | {
      action: "view_image";
      /** The path of the image. */
      path: string;
    }
  /** Reads all text files that match some patterns, one after the other. */
  | {
      action: "read_many";
      /** Files, folders and patterns of paths, for example `src/**\/*.ts`. */
      include: string[];
      /** Patterns of paths that are left out. */
      exclude?: string[];
      /** True if only the files directly in a folder are read, not those below. */
      flat?: boolean;
      /** The files that the search skips. */
      hidden?: "ignored" | "nothing";
    }
  /** Writes a file, with the folders above it. */
  | {
      action: "write";
      /** The path of the file. */
      path: string;
      /** Its whole new content. */
      content: string;
      /**
       * The salt of the masks in the content, if it has masks: the secrets that the file has take
       * their places.
       */
      salt?: number;
    }
  /** Replaces text in a file. */
  | {
      action: "edit";
      /** The path of the file. */
      path: string;
      /** The text to find; it must occur once unless `all` is set. */
      old: string;
      /** The replacement text. */
      new: string;
      /** True if each occurrence is replaced. */
      all: boolean;
      /** The salt of the masks in its texts, as for `Write`. */
      salt?: number;
    }
  /** Applies a patch to any number of files: all of it or nothing. */
  | {
      action: "patch";
      /** The patch's text, which `parse` reads. */
      patch: string;
      /** The salt of the masks in the patch, as for `Write`. */
      salt?: number;
    }
  /** Lists a folder, folders first, sorted by name. */
  | {
      action: "list";
      /** The folder; the agent's own if absent. */
      path?: string;
      /** The number of levels to go down, from 1. */
      depth: number;
      /** Patterns of entries that are left out. */
      ignore?: string[];
      /** The further entries that are left out. */
      hidden?: "ignored" | "nothing";
      /** The way in which folders are distinguished from files. */
      style?: "slash" | "tag";
    }
  /** Finds files by the pattern of their path, newest first. */
  | {
      action: "glob";
      /** The pattern, for example `**\/*.ts`. */
      pattern: string;
      /** The folder to search; the agent's own if absent. */
      path?: string;
      /** True if case is ignored. */
      ignore_case?: boolean;
      /** The maximum number of files to name; 1,000 if absent. */
      max_results?: number;
      /** The files that the search skips. */
      hidden?: "ignored" | "nothing";
    }
  /** Searches files by a regular expression. */
  | {
      action: "grep";
      /** The regular expression to search for. */
      pattern: string;
      /** The file or folder to search; the agent's own folder if absent. */
      path?: string;
      /** Only files whose path or name matches this pattern. */
      glob?: string;
      /** Only files of this type, for example `rust`. */
      file_type?: string;
      /** A regular expression; lines that match it as well are left out. */
      unless?: string;
      /** The kind of result to report. */
      mode: "content" | "files_with_matches" | "count";
      /** The layout of the results. */
      layout?: "lines" | "by_file";
      /** The number of lines to show before a match. */
      before?: number;
      /** The number of lines to show after a match. */
      after?: number;
      /** The number of results to skip at the start. */
      offset?: number;
      /** The maximum number of results; 100 if absent. */
      max_results?: number;
      /** The maximum number of results per file. */
      max_per_file?: number;
      /** The files that the search skips. */
      hidden?: "ignored" | "nothing";
      /** True if case is ignored. */
      ignore_case: boolean;
      /** True if the pattern is plain text, not a regular expression. */
      literal?: boolean;
      /** True if a match may span lines; `.` then matches line ends, too. */
      multiline?: boolean;
      /** True if only the matching part of a line is shown. */
      only_matching?: boolean;
      /** True if line numbers are left out. */
      unnumbered?: boolean;
    }
  /** Runs a WASI program of the host's registry over the workspace. */
  | {
      action: "run_program";
      /** The program's name in the registry. */
      program: string;
      /** Its arguments, without the program's own name. */
      args: string[];
      /** The text that it reads from standard input. */
      stdin?: string;
    }
  /**
   * Runs a command line in the agent's shell, which keeps variables, functions and its current
   * folder from one to the next.
   */
  | {
      action: "shell";
      /** The command line to run. */
      command: string;
      /**
       * The folder in which this command runs, relative to the agent's own; the shell's current
       * folder if absent.
       */
      folder?: string;
    }
  /** Reads web pages, if the host offers that. */
  | {
      action: "fetch";
      /** The addresses of the pages, in the order in which they are named. */
      urls: string[];
      /** The information that is wanted from the pages, in words. */
      prompt?: string;
    };

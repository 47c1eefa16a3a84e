// A file system of the user's: what an agent needs of it, and what its failures are called. The
// ready ones (`files.node.ts`, `files.opfs.ts`, `files.durable.ts`) need nothing else of the
// package.

/** What is at a path of a file system. */
export type FileSystemStat =
  | {
      type: "file";
      /** In bytes. */
      size: number;
      /**
       * Another one whenever the content is another: a time of change, a counter, a digest. A file
       * without one is read again each time that a tool may use it.
       */
      version?: string | number | undefined;
    }
  | { type: "folder" };

/** An entry of a folder. */
export type FileSystemEntry = FileSystemStat & { name: string };

/**
 * Files that are kept elsewhere: on a disk, in a database, on a server. Paths begin at its root,
 * which is the empty path; they use `/`, and no step of them is empty, `.` or `..`.
 *
 * What fails rejects with an error that has a POSIX `code`: `ENOENT`, `EEXIST`, `EISDIR`,
 * `ENOTDIR`, `EACCES`, `ENOSPC` and the like. The model reads the code and the message.
 */
export interface FileSystem {
  /** The whole content of a file. */
  read(path: string): Promise<Uint8Array>;
  /** Makes this the whole content of a file, all of it or nothing, with the folders above. */
  write(path: string, content: Uint8Array): Promise<void>;
  /** What is at a path; `ENOENT` if there is nothing. */
  stat(path: string): Promise<FileSystemStat>;
  /** The entries of a folder, without those that the agent is not to see. */
  list(path: string): Promise<readonly FileSystemEntry[]>;
  /** Removes a file. */
  remove(path: string): Promise<void>;
  /** Moves a file to where nothing is. */
  rename(from: string, to: string): Promise<void>;
  /** How long each of these may take, after which it has failed; 30 seconds if left out. */
  readonly timeoutMs?: number | undefined;
}

/** What has become of a file. */
export interface Changed {
  /** Its path in the workspace. */
  path: string;
  kind: "created" | "modified" | "deleted";
}

const METHODS = ["read", "write", "stat", "list", "remove", "rename"] as const;

/** Whether that is a file system, not files by path, as `Files` are. */
export function isFileSystem(given: object): given is FileSystem {
  const methods = given as Partial<Record<(typeof METHODS)[number], unknown>>;
  const hasAll = METHODS.every((name) => typeof methods[name] === "function");
  return hasAll && !(Symbol.iterator in given);
}

/** An error as file systems throw it. */
export function failure(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code });
}

/**
 * The steps of a path of a file system.
 *
 * @throws `EINVAL` for what is none, which keeps `..` in.
 */
export function stepsOf(path: string): string[] {
  if (path === "") return [];
  const steps = path.split("/");
  const isOdd = (step: string): boolean => /^\.{0,2}$|\0/.test(step);
  if (steps.some(isOdd)) throw failure("EINVAL", `${JSON.stringify(path)} is no path here`);
  return steps;
}

// `innerloop/files/opfs`: a folder in a browser as a file system, either the origin's private one
// or one that the visitor has picked. It imports nothing else of the package.

import type { DirectoryHandle } from "./platform/globals.js";
import {
  type FileSystem,
  type FileSystemEntry,
  type FileSystemStat,
  failure,
  stepsOf,
} from "./workspace/filesystem.js";

/** The POSIX codes of browsers' errors, by their names. */
const CODES: Readonly<Record<string, string>> = {
  NotFoundError: "ENOENT",
  NotAllowedError: "EACCES",
  SecurityError: "EACCES",
  QuotaExceededError: "ENOSPC",
  NoModificationAllowedError: "EBUSY",
  InvalidModificationError: "ENOTEMPTY",
  InvalidStateError: "ESTALE",
  NotReadableError: "EIO",
};

/**
 * Returns a folder of the browser as a file system for an agent: the origin's private file system,
 * or the folder of a handle.
 *
 * ```js
 * const agent = await Agent.create({ provider, apiKey, files: opfsFiles() });
 * ```
 */
export function opfsFiles(folder?: DirectoryHandle): FileSystem {
  return new OpfsFiles(folder as FileSystemDirectoryHandle | undefined);
}

class OpfsFiles implements FileSystem {
  constructor(readonly folder: FileSystemDirectoryHandle | undefined) {}

  read(path: string): Promise<Uint8Array> {
    return this.#does(path, "EISDIR", async (above, name) => {
      const file = await (await above.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    });
  }

  write(path: string, content: Uint8Array): Promise<void> {
    return this.#does(
      path,
      "EISDIR",
      async (above, name) => {
        const isNew = await above.getFileHandle(name).then(
          () => false,
          () => true,
        );
        const handle = await above.getFileHandle(name, { create: true });
        try {
          // The browser swaps the content in when the stream is closed, so that a failed write
          // leaves the file as it was.
          const stream = await handle.createWritable();
          try {
            await stream.write(content as Uint8Array<ArrayBuffer>);
          } catch (error) {
            await stream.abort().catch(() => {});
            throw error;
          }
          await stream.close();
        } catch (error) {
          // The handle has created an empty file, which must not stay.
          if (isNew) await above.removeEntry(name).catch(() => {});
          throw error;
        }
      },
      true,
    );
  }

  stat(path: string): Promise<FileSystemStat> {
    if (path === "") return Promise.resolve({ type: "folder" });
    return this.#does(path, "ENOTDIR", async (above, name) => {
      try {
        return await statOf(await above.getFileHandle(name));
      } catch (error) {
        if ((error as Partial<Error>).name !== "TypeMismatchError") throw error;
        return { type: "folder" };
      }
    });
  }

  list(path: string): Promise<FileSystemEntry[]> {
    return this.#within(async () => {
      const folder = await this.#folder(stepsOf(path));
      const entries: Promise<FileSystemEntry>[] = [];
      for await (const [name, handle] of folder.entries()) {
        entries.push(statOf(handle).then((stat) => ({ name, ...stat })));
      }
      return Promise.all(entries);
    }, "ENOTDIR");
  }

  remove(path: string): Promise<void> {
    return this.#does(path, "EISDIR", async (above, name) => {
      // Throws for a folder, since `removeEntry` would remove an empty one.
      await above.getFileHandle(name);
      await above.removeEntry(name);
    });
  }

  async rename(from: string, to: string): Promise<void> {
    const isThere = await this.stat(to).then(
      () => true,
      () => false,
    );
    if (isThere) throw failure("EEXIST", `${to} is there already`);
    // Copied: not all browsers can move a file. A failure leaves both, never neither.
    await this.write(to, await this.read(from));
    await this.remove(from);
  }

  // Calls `does` with the folder above an entry and the entry's name.
  #does<T>(
    path: string,
    mismatch: string,
    does: (above: FileSystemDirectoryHandle, name: string) => Promise<T>,
    create = false,
  ): Promise<T> {
    return this.#within(async () => {
      const steps = stepsOf(path);
      const name = steps.pop();
      if (name === undefined) throw failure("EISDIR", "it is the workspace itself");
      const above = await this.#within(() => this.#folder(steps, create), "ENOTDIR");
      return does(above, name);
    }, mismatch);
  }

  async #folder(steps: readonly string[], create = false): Promise<FileSystemDirectoryHandle> {
    let folder = this.folder ?? (await navigator.storage.getDirectory());
    for (const step of steps) folder = await folder.getDirectoryHandle(step, { create });
    return folder;
  }

  async #within<T>(does: () => Promise<T>, mismatch: string): Promise<T> {
    try {
      return await does();
    } catch (error) {
      const { name = "", message, code } = error as Partial<Error & { code: unknown }>;
      if (typeof code === "string") throw error;
      const isMismatch = name === "TypeMismatchError";
      // Browsers throw a `TypeError` for a name that no file may have.
      const other = name === "TypeError" ? "EINVAL" : "EIO";
      throw failure(isMismatch ? mismatch : (CODES[name] ?? other), message ?? name);
    }
  }
}

async function statOf(handle: FileSystemHandle): Promise<FileSystemStat> {
  if (handle.kind === "directory") return { type: "folder" };
  const { size, lastModified } = await (handle as FileSystemFileHandle).getFile();
  return { type: "file", size, version: lastModified };
}

// Zip archives: a file of its own in the package, so that it is loaded only when one is used.

import { unzipSync, zipSync } from "fflate";

/** The most bytes of all files of an archive, as much as programs may write. */
const MOST_BYTES = 256 * 2 ** 20;
/** The earliest time that an archive can hold, so that equal files make equal archives. */
const NO_TIME = new Date(1980, 0, 1);

/** Returns an archive of files. */
export function zipped(files: Iterable<[string, Uint8Array]>): Uint8Array {
  return zipSync(Object.fromEntries(files), { mtime: NO_TIME });
}

/**
 * Returns the files of an archive, without entries for folders.
 *
 * @throws Error if it is no archive, or holds too much.
 */
export function unzipped(archive: Uint8Array): [string, Uint8Array][] {
  let total = 0;
  const files = unzipSync(archive, {
    filter: ({ originalSize }) => {
      // Before anything is unpacked: a small archive can hold gigabytes of zeros.
      total += originalSize;
      if (total > MOST_BYTES) throw new Error("it holds more than 256 MiB");
      return true;
    },
  });
  return Object.entries(files).filter(([path]) => !path.endsWith("/"));
}

// Archives: a file of its own in the package, loaded where one is made or read.

import { unzipSync, zipSync } from "fflate";

/** What all files of an archive may have together, as programs may write. */
const MOST_BYTES = 256 * 2 ** 20;
/** The earliest time that an archive can hold: the same files make the same archive. */
const NO_TIME = new Date(1980, 0, 1);

/** An archive of these files. */
export function zipped(files: Iterable<[string, Uint8Array]>): Uint8Array {
  return zipSync(Object.fromEntries(files), { mtime: NO_TIME });
}

/**
 * The files of an archive; its folders are none.
 *
 * @throws Error where it is none, or holds too much.
 */
export function unzipped(archive: Uint8Array): [string, Uint8Array][] {
  let total = 0;
  const files = unzipSync(archive, {
    filter: ({ originalSize }) => {
      total += originalSize;
      if (total > MOST_BYTES) throw new Error("it holds more than 256 MiB");
      return true;
    },
  });
  return Object.entries(files).filter(([path]) => !path.endsWith("/"));
}

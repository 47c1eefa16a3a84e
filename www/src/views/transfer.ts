// The transfer of files into the page, by dropping, and out of it, by downloading.

/** Returns the files of a drop; folders with all that is in them. */
export async function filesOf(transfer: DataTransfer): Promise<[string, File][]> {
  // Before the first wait: the browser empties the list when the event is over.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
  if (entries.some((entry) => entry === null)) {
    return [...transfer.files].map((file) => [file.name, file]);
  }
  const found: [string, File][] = [];
  for (const entry of entries) if (entry !== null) await collect(entry, found);
  return found;
}

async function collect(entry: FileSystemEntry, found: [string, File][]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    found.push([entry.fullPath, file]);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // Chromium returns at most 100 entries at a time, and an empty list at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return;
    for (const inside of some) await collect(inside, found);
  }
}

/** Offers content to the person as a download. */
export function download(name: string, content: Uint8Array | string, type: string): void {
  const url = URL.createObjectURL(new Blob([content as BlobPart], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Later: the browser reads the address after the click, and large files take their time.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns a file's text, or `undefined` for a binary file. */
export function textOf(content: Uint8Array): string | undefined {
  // A zero byte is valid UTF-8, and yet a sure sign of a binary file.
  if (content.subarray(0, 8_000).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

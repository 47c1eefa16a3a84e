// Files into the page and out of it.

/** Files of a drop, folders with all that is in them. */
export async function filesOf(transfer: DataTransfer): Promise<[string, File][]> {
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
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return;
    for (const inside of some) await collect(inside, found);
  }
}

/** Hands bytes to the person as a file. */
export function download(name: string, content: Uint8Array | string, type: string): void {
  const url = URL.createObjectURL(new Blob([content as BlobPart], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A file's text, or `undefined` if it is none. */
export function textOf(content: Uint8Array): string | undefined {
  if (content.subarray(0, 8_000).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

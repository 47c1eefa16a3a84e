// What every file system does, whatever it is made of. Runs anywhere, and imports nothing.

const encoder = new TextEncoder();
const LARGE = encoder.encode("0123456789".repeat(40_000));

/** Tries all of it on a file system with nothing in it: what went otherwise, as texts. */
export async function contract(files) {
  const odd = [];
  const is = (what, found, expected) => {
    const [one, other] = [found, expected].map((value) => JSON.stringify(value));
    if (one !== other) odd.push(`${what}: ${one}, not ${other}`);
  };
  const fails = async (what, code, doing) => {
    const error = await doing().then(
      () => ({ code: "nothing" }),
      (error) => error,
    );
    is(`${what} fails`, error.code, code);
    if (!(error instanceof Error) || error.message === "") odd.push(`${what}: no words`);
  };
  const textAt = async (path) => new TextDecoder().decode(await files.read(path));
  const names = async (path) => {
    const entries = await files.list(path);
    return entries.map(({ name, type, size }) => [name, type, size].join(" ").trim()).sort();
  };
  await files.write("a.txt", encoder.encode("one"));
  await files.write("d/e/f.txt", new Uint8Array());
  await files.write("d/large", LARGE);
  is("a text", await textAt("a.txt"), "one");
  is("an empty file", (await files.read("d/e/f.txt")).length, 0);
  is("a large file", (await textAt("d/large")) === new TextDecoder().decode(LARGE), true);
  is("the root", await files.stat(""), { type: "folder" });
  is("a folder", await files.stat("d/e"), { type: "folder" });
  is("the root's entries", await names(""), ["a.txt file 3", "d folder"]);
  is("a folder's entries", await names("d"), ["e folder", `large file ${LARGE.length}`]);
  const { type, size, version } = await files.stat("a.txt");
  is("a file", [type, size, version === undefined], ["file", 3, false]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await files.write("a.txt", encoder.encode("two"));
  is("what was written over", await textAt("a.txt"), "two");
  is("another version", (await files.stat("a.txt")).version === version, false);
  await files.rename("a.txt", "n/b.txt");
  is("what was moved", await textAt("n/b.txt"), "two");
  await fails("what was moved away", "ENOENT", () => files.stat("a.txt"));
  await fails("to read nothing", "ENOENT", () => files.read("none"));
  await fails("to read below nothing", "ENOENT", () => files.read("none/x"));
  await fails("to read a folder", "EISDIR", () => files.read("d"));
  await fails("to write a folder", "EISDIR", () => files.write("d", LARGE));
  await fails("to write the root", "EISDIR", () => files.write("", LARGE));
  await fails("to write below a file", "ENOTDIR", () => files.write("n/b.txt/x", LARGE));
  await fails("to list a file", "ENOTDIR", () => files.list("n/b.txt"));
  await fails("to list nothing", "ENOENT", () => files.list("none"));
  await fails("to remove a folder", "EISDIR", () => files.remove("d"));
  await fails("to remove nothing", "ENOENT", () => files.remove("none"));
  await fails("to move onto a file", "EEXIST", () => files.rename("n/b.txt", "d/large"));
  await fails("to move nothing", "ENOENT", () => files.rename("none", "x"));
  for (const path of ["../x", "/x", "a//b", "./x", "d/..", "x\0"]) {
    await fails(`to read ${path}`, "EINVAL", () => files.read(path));
    await fails(`to write ${path}`, "EINVAL", () => files.write(path, LARGE));
  }
  for (const path of ["d/e/f.txt", "d/large", "n/b.txt"]) await files.remove(path);
  const left = (await names("")).filter((name) => name.includes("file"));
  is("what is left", left, []);
  return odd;
}

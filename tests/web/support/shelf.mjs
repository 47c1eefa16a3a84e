// A file system of a test's own: in memory, as slow as it is told, and as broken. Runs anywhere.

/** An error as file systems throw it. */
export function failure(code, message = "so it is") {
  return Object.assign(new Error(message), { code });
}

/**
 * A file system over a map of paths and contents. `did` has what was done, in order; `before` is
 * called with the name of each method and its arguments, may throw or wait, and what it returns is
 * returned in place of what there is.
 */
export function shelf(given = {}) {
  const encoder = new TextEncoder();
  let version = 0;
  const files = new Map();
  const did = [];
  const put = (path, content) => {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    files.set(path, { bytes, version: (version += 1) });
  };
  for (const [path, content] of Object.entries(given)) put(path, content);
  const below = (path) => (path === "" ? "" : `${path}/`);
  const isFolder = (path) => [...files.keys()].some((each) => each.startsWith(below(path)));
  const fileAt = (path) => {
    const file = files.get(path);
    if (file !== undefined) return file;
    throw isFolder(path) ? failure("EISDIR") : failure("ENOENT");
  };
  const statOf = ({ bytes, version }) => ({ type: "file", size: bytes.length, version });
  const methods = {
    read: (path) => fileAt(path).bytes,
    write: put,
    stat: (path) => {
      if (path === "" || (!files.has(path) && isFolder(path))) return { type: "folder" };
      return statOf(fileAt(path));
    },
    list: (path) => {
      const prefix = below(path);
      const entries = new Map();
      for (const [each, file] of files) {
        if (!each.startsWith(prefix)) continue;
        const [name, ...more] = each.slice(prefix.length).split("/");
        entries.set(name, { name, ...(more.length > 0 ? { type: "folder" } : statOf(file)) });
      }
      return [...entries.values()];
    },
    remove: (path) => {
      fileAt(path);
      files.delete(path);
    },
    rename: (from, to) => {
      put(to, fileAt(from).bytes);
      files.delete(from);
    },
  };
  const system = { did, put, before: () => undefined };
  system.text = (path) => {
    const file = files.get(path);
    return file && new TextDecoder().decode(file.bytes);
  };
  system.all = () =>
    Object.fromEntries([...files.keys()].sort().map((path) => [path, system.text(path)]));
  system.drop = (path) => files.delete(path);
  for (const [name, method] of Object.entries(methods)) {
    system[name] = async (...args) => {
      const instead = await system.before(name, ...args);
      did.push([name, ...args.filter((arg) => typeof arg === "string")].join(" "));
      return instead === undefined ? method(...args) : instead;
    };
  }
  return system;
}

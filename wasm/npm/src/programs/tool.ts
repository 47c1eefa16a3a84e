// The function `wasiTool`, which makes a tool from a folder with a `tool.toml` and a WASI module.

import { bytesOf } from "../bytes.js";
import { AgentError, messageOf } from "../errors.js";
import { TextDecoder } from "../platform/coders.js";
import type { Address } from "../platform/globals.js";
import { isBuffer, isUrl } from "../platform/kinds.js";
import { platform } from "../platform/platform.js";
import { readDefinition } from "./definition.js";
import { compile, MOST_MODULE, readUrl } from "./modules.js";
import type { WasiTool } from "./sources.js";

/** The content of a tool's folder, for places without folders. */
export interface ToolParts {
  /** The text of its `tool.toml`. */
  definition: string;
  /** The bytes of the module that it names. */
  module: Uint8Array | ArrayBuffer;
}

const FILE = "tool.toml";
/** The longest definition in bytes. */
const MOST_BYTES = 2 ** 20;
const PREVIEW_1 = "wasi_snapshot_preview1";
/** The default limit of memory, as on the native host. */
const MEMORY_MIB = 512;

/**
 * Makes a tool from a folder with a `tool.toml` and a WASI module (preview 1), as
 * `innerloop run --tool` does natively. Each call runs in a worker, over the agent's files.
 *
 * ```js
 * const tools = [await wasiTool("tools/count-lines")];
 * const agent = await Agent.create({ provider: "anthropic", apiKey, files, tools });
 * ```
 *
 * @param source The folder, or the `tool.toml` in it: a `URL`, in Node also a path, in a page also
 *   a relative address. Or the folder's content.
 * @throws AgentError `bad_tool` with the file and the field if it makes no tool; `unsupported` if
 *   the platform has no workers.
 */
export async function wasiTool(source: string | Address | ToolParts): Promise<WasiTool> {
  if (platform().startWorker === undefined) {
    throw new AgentError("unsupported", "WASI tools run in workers, and this platform has none");
  }
  if (typeof source === "string" || isUrl(source)) return toolAt(placeOf(source));
  const { definition, module } = (source ?? {}) as Partial<ToolParts>;
  const isBytes = ArrayBuffer.isView(module) || isBuffer(module);
  if (typeof definition === "string" && isBytes) {
    return toolOf(definition, FILE, async () => bytesOf(module));
  }
  throw bad("give the place of a tool's folder, or `definition` (a text) and `module` (bytes)");
}

// The address of the definition.
function placeOf(source: string | URL): URL {
  try {
    const place = new URL(typeof source === "string" ? platform().locate(source) : source);
    const isFile = place.pathname.endsWith(`/${FILE}`);
    if (!isFile && !place.pathname.endsWith("/")) place.pathname += "/";
    return new URL(FILE, place);
  } catch (error) {
    throw bad(`${JSON.stringify(String(source))} is no place: ${messageOf(error)}`);
  }
}

async function toolAt(url: URL): Promise<WasiTool> {
  const bytes = await read(url, MOST_BYTES);
  return toolOf(new TextDecoder().decode(bytes), shown(url), (module) => {
    const path = module.split("/").map(encodeURIComponent).join("/");
    return read(new URL(path, url), MOST_MODULE);
  });
}

async function read(url: URL, most: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readUrl(url, most);
  } catch (error) {
    const what = "a tool's folder has a `tool.toml`, and the module that it names";
    throw bad(`cannot read ${shown(url)}: ${messageOf(error)}; ${what}`);
  }
}

async function toolOf(
  text: string,
  place: string,
  load: (module: string) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<WasiTool> {
  const definition = await readDefinition(text, place);
  const { name, description, parameters, paths, args, limits } = definition;
  const { timeoutMs, memoryMib = MEMORY_MIB, outputMib, diskMib } = limits;
  const bytes = await load(definition.module);
  const module = await checked(bytes, memoryMib).catch((error: unknown) => {
    throw bad(`${place}: module: ${definition.module}: ${messageOf(error)}`);
  });
  return {
    name,
    description,
    parameters,
    readOnly: definition.readOnly,
    untrusted: definition.untrusted,
    paths,
    timeoutMs,
    module,
    args,
    limits: { outputMib, diskMib },
  };
}

async function checked(
  bytes: Uint8Array<ArrayBuffer>,
  memoryMib: number,
): Promise<WebAssembly.Module> {
  const module = await compile(bytes, memoryMib * 2 ** 20);
  const other = WebAssembly.Module.imports(module).find((each) => each.module !== PREVIEW_1);
  if (other !== undefined) {
    const what = `\`${other.module}.${other.name}\``;
    throw new Error(`it imports ${what}, which is no function of WASI preview 1`);
  }
  const exports = WebAssembly.Module.exports(module);
  const has = (kind: string, name: string): boolean =>
    exports.some((each) => each.kind === kind && each.name === name);
  if (!has("function", "_start")) {
    throw new Error("it has no function `_start`: a tool is a program, not a library");
  }
  if (!has("memory", "memory")) throw new Error("it does not export its memory");
  return module;
}

// A place in a message, as the user gave it.
function shown(url: URL): string {
  return url.protocol === "file:" ? url.pathname : url.href;
}

function bad(message: string): AgentError {
  return new AgentError("bad_tool", message);
}

// Calls of the supervisor's module: a request as JSON goes into its memory, and a line of JSON comes
// out. It is a small module of its own, without imports, so that it needs neither glue nor agent.

import type { CommandWord, CustomCommand, PendingAsks } from "../json/commands.js";

/** The options of {@link ParseCommand}. */
export interface ParseCommandOptions {
  /** What waits for an answer of the person; nothing if left out. */
  pending?: PendingAsks | undefined;
  /** Commands that your program adds. Of equal names the first counts. */
  custom?: readonly CustomCommand[] | undefined;
  /** Names of the table that your program does not have: they are unknown there. */
  without?: readonly string[] | undefined;
}

/** Reads what a person has typed: a command, an answer to what is pending, or text for the model. */
export type ParseCommand = (text: string, options?: ParseCommandOptions) => Promise<CommandWord>;

/** The module's functions; addresses and lengths are unsigned. */
interface SupervisorExports {
  memory: { buffer: ArrayBuffer };
  innerloop_abi(): number;
  innerloop_room(length: number): number;
  innerloop_call(length: number): bigint;
}

/** An answer of the module. */
type SupervisorAnswer = { word: CommandWord } | { error: { message: string } };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the function of a platform that loads the module this way. */
export function parser(load: () => Promise<WebAssembly.Module>): ParseCommand {
  let loaded: Promise<SupervisorExports> | undefined;
  const exports = async () => {
    const { exports } = await WebAssembly.instantiate(await load(), {});
    return exports as unknown as SupervisorExports;
  };
  return async (text, { pending = {}, custom = [], without = [] } = {}) => {
    if (typeof text !== "string") throw new TypeError("the text of a command is a string");
    loaded ??= exports();
    // A page may be offline for a while: the next call tries again.
    loaded.catch(() => {
      loaded = undefined;
    });
    const command = { text, pending, commands: { custom, without } };
    const answer = exchange(await loaded, JSON.stringify({ command }, wellFormed));
    if ("error" in answer) throw new TypeError(`parseCommand: ${answer.error.message}`);
    return answer.word;
  };
}

function exchange(module: SupervisorExports, request: string): SupervisorAnswer {
  const bytes = encoder.encode(request);
  const address = module.innerloop_room(bytes.length) >>> 0;
  if (address === 0) throw new RangeError(`there is no memory for ${bytes.length} bytes`);
  new Uint8Array(module.memory.buffer, address, bytes.length).set(bytes);
  const packed = BigInt.asUintN(64, module.innerloop_call(bytes.length));
  // The memory may have grown, which detaches earlier views of it.
  const { buffer } = module.memory;
  const line = new Uint8Array(buffer, Number(packed >> 32n), Number(packed & 0xffffffffn));
  return JSON.parse(decoder.decode(line));
}

/** Replaces lone surrogates, for which UTF-8 has no bytes. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? decoder.decode(encoder.encode(value)) : value;
}

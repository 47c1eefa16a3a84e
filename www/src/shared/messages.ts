// The messages between the page and its worker: calls of the page with their answers, and notices
// of the worker. Both sides compile against this file, which is the whole of their interface.

import type { ContextUsage, ProviderInfo } from "innerloop";
import type { Told } from "./told.js";

/** One session in the list of those that are kept. */
export interface SessionInfo {
  id: string;
  name: string;
  /** When it was last changed, in Unix milliseconds. */
  changed: number;
}

/** A file of the workspace. */
export interface FileInfo {
  path: string;
  size: number;
  /** The mark of a file that differs from the beginning, or that is being written. */
  badge?: "new" | "changed" | "writing";
}

/** The kinds of calls that a person is asked about. */
export type ApprovalMode = "changes" | "files" | "nothing";

/** The source of replies: the script in this page, or a model of a provider. */
export interface Connection {
  provider: string;
  model: string;
  baseUrl: string;
}

/** The name of the script in place of a provider's. */
export const DEMO = "demo";

/** A connection that is to be made: the key stays in the worker. */
export interface ConnectionDraft extends Connection {
  /** A new key; the one that the worker has if left out. */
  key?: string;
  /** True to keep the key on this device. */
  remember: boolean;
}

/** A connection as the page may know it: without its key. */
export interface ConnectionInfo extends Connection {
  hasKey: boolean;
  remembered: boolean;
}

/** The result of trying a connection. */
export interface Tried {
  ok: boolean;
  message: string;
  models: string[];
}

/** A call that waits for a person. */
export interface Asked {
  id: number;
  callId: string;
  name: string;
  arguments: unknown;
}

/** A person's decision about a call. */
export type Verdict =
  | { type: "once" }
  | { type: "always" }
  | { type: "edited"; arguments: object }
  | { type: "denied"; reason: string };

/** A state of the workspace to compare with: the beginning, and each input since. */
export interface Checkpoint {
  /** The number of events before it. */
  at: number;
  name: string;
}

/** A file that differs from a checkpoint; `undefined` where it is not there. */
export interface FileDifference {
  path: string;
  before?: Uint8Array;
  after?: Uint8Array;
}

/** A file that the model is writing, as far as it has been streamed. */
export interface Draft {
  path: string;
  text: string;
}

/** The state in which a file of the device's folder was last seen. */
export interface KnownFile {
  /** The time of its last change, in Unix milliseconds. */
  time: number;
  /** A digest of its content. */
  digest: string;
}

/** The folder of this device that a session's files came from. */
export interface Folder {
  handle: FileSystemDirectoryHandle;
  /** The state of each file when this page last read or wrote it, by path. */
  known: Map<string, KnownFile>;
}

/** A message of the user that a working agent has not read yet. */
export interface Unheard {
  text: string;
  how: "steer" | "followUp";
}

/** All that the page shows of a session when it is opened. */
export interface SessionView {
  info: SessionInfo;
  events: Told[];
  files: FileInfo[];
  checkpoints: Checkpoint[];
  running: boolean;
  asked: Asked[];
  unheard: Unheard[];
  /** The number of undos that can be redone. */
  undone: number;
  draft?: Draft | undefined;
  folder?: Folder | undefined;
  approval: ApprovalMode;
  connection: ConnectionInfo;
  /** True if everything is stored and would survive a reload. */
  kept: boolean;
}

/** The result of adding files. */
export interface Added {
  /** The paths of files that were there before. */
  taken: string[];
  /** The contents before at all paths, if the files were added. */
  before: [string, Uint8Array | undefined][];
}

/** The result of a command line in the terminal. */
export interface LineResult {
  output: string;
  exit?: number;
  error?: string;
}

/** The methods of the worker that the page may call. */
export interface WorkerApi {
  /** Starts the worker. If the browser `keeps` nothing, sessions end with the page. */
  begin(options: { pace: number | null }): {
    sessions: SessionInfo[];
    view: SessionView;
    keeps: boolean;
  };
  open(id: string): SessionView;
  create(kind: "example" | "empty"): SessionView;
  adopt(files: [string, Uint8Array][], folder: Folder): SessionView;
  setFolder(folder: Folder): Folder;
  rename(id: string, name: string): void;
  remove(id: string): SessionView;
  sessions(): SessionInfo[];
  run(text: string): void;
  steer(text: string): void;
  followUp(text: string): void;
  stop(): void;
  answer(id: number, verdict: Verdict): void;
  undo(checkpoint: number): SessionView;
  redo(): SessionView;
  setApproval(mode: ApprovalMode): void;
  providers(): ProviderInfo[];
  connect(draft: ConnectionDraft): ConnectionInfo;
  forgetKey(): ConnectionInfo;
  tryConnection(draft: ConnectionDraft): Tried;
  read(path: string): Uint8Array | undefined;
  write(path: string, content: Uint8Array): void;
  move(from: string, to: string): void;
  erase(path: string): void;
  add(files: [string, Uint8Array][], replace: boolean): Added;
  unzip(archive: Uint8Array): [string, Uint8Array][];
  zip(): Uint8Array;
  contents(): [string, Uint8Array][];
  differences(checkpoint: number): FileDifference[];
  revert(files: [string, Uint8Array | undefined][]): void;
  filesAt(event: number): FileInfo[];
  readAt(event: number, path: string): Uint8Array | undefined;
  line(command: string): LineResult;
  stopLine(): void;
  context(): ContextUsage | undefined;
  log(): string;
  keep(): void;
  warm(): void;
}

/** A message of the worker that answers no call. */
export type Notice =
  | { type: "events"; events: Told[] }
  | { type: "files"; changed: FileInfo[]; removed: string[] }
  | { type: "checkpoints"; checkpoints: Checkpoint[] }
  | { type: "draft"; draft: Draft | undefined }
  | { type: "asked"; asked: Asked[] }
  | { type: "unheard"; unheard: Unheard[] }
  | { type: "undone"; count: number }
  | { type: "running"; running: boolean }
  | { type: "session"; info: SessionInfo }
  | { type: "line"; text: string }
  | { type: "kept"; kept: boolean }
  | { type: "note"; text: string; bad: boolean };

/** A call as it is posted. */
export interface Call {
  id: number;
  method: keyof WorkerApi;
  args: unknown[];
}

/** Its answer, or a notice. */
export type Reply =
  | { id: number; value: unknown }
  | { id: number; error: string }
  | { notice: Notice };

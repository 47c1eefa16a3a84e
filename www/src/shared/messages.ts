// What the page and its worker say to each other. The page calls, the worker answers; what happens
// in between comes as notices.

import type { ProviderInfo } from "innerloop";
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
  /** Whether it differs from the state that changes are shown against, or is being written. */
  badge?: "new" | "changed" | "writing";
}

/** What the agent is asked about before it changes something. */
export type ApprovalMode = "changes" | "files" | "nothing";

/** Who answers: the script in this page, or a model. */
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
  /** Whether the key is to be kept on this device. */
  remember: boolean;
}

/** What is known of a connection without its key. */
export interface ConnectionInfo extends Connection {
  hasKey: boolean;
  remembered: boolean;
}

/** What trying a connection has shown. */
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

/** What a person says to it. */
export type Verdict =
  | { type: "once" }
  | { type: "always" }
  | { type: "edited"; arguments: object }
  | { type: "denied"; reason: string };

/** A state of the workspace to compare with: the beginning, and each input since. */
export interface Checkpoint {
  /** How many events had been told when it was taken. */
  at: number;
  name: string;
}

/** A file that differs from a checkpoint; `undefined` where it is not there. */
export interface FileDifference {
  path: string;
  before?: Uint8Array;
  after?: Uint8Array;
}

/** A file that the model is writing, as far as it has come. */
export interface Draft {
  path: string;
  text: string;
}

/** What is known of a file of a folder. */
export interface KnownFile {
  /** When it was last written, in Unix milliseconds. */
  time: number;
  /** Tells contents apart. */
  digest: string;
}

/** The folder of this device that a session's files came from. */
export interface Folder {
  handle: FileSystemDirectoryHandle;
  /** What each file was when this page has read or written it last, by path. */
  known: Map<string, KnownFile>;
}

/** What was said while the agent works, and it has not heard yet. */
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
  /** How many undos can be redone. */
  undone: number;
  draft?: Draft | undefined;
  folder?: Folder | undefined;
  approval: ApprovalMode;
  connection: ConnectionInfo;
  /** Whether all of it outlasts a reload by now. */
  kept: boolean;
}

/** What came of adding files. */
export interface Added {
  /** Those that were there before. */
  taken: string[];
  /** What stood in the place of all of them, if they were added. */
  before: [string, Uint8Array | undefined][];
}

/** What came of a command line of the terminal. */
export interface LineResult {
  output: string;
  exit?: number;
  error?: string;
}

/** What the page may ask of the worker. */
export interface WorkerApi {
  /** Begins; where the browser `keeps` nothing, sessions last as long as the page is open. */
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
  log(): string;
  keep(): void;
  warm(): void;
}

/** What happens without being asked for. */
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

// The transcript: events become entries for people. An entry is made once; the parts of it that
// grow are signals, so that a new piece of text renders nothing else.

import { batch, type Signal, signal } from "@preact/signals";
import type {
  Compacted,
  Outcome,
  Part,
  ProcessingEnd,
  ToolCallDelta,
  ToolCallEnd,
  ToolCallStart,
} from "innerloop";
import type { Told } from "../shared/told.js";

/** A message of the user. */
export interface SaidEntry {
  kind: "said";
  key: number;
  text: string;
  /** The number of the input, from 0; absent for a steer. */
  input?: number;
}
/** A text or a thought of the model. */
export interface TextEntry {
  kind: "text" | "thinking";
  key: number;
  text: Signal<string>;
}
/** A call of a tool, from its first streamed piece on. */
export interface CallEntry {
  kind: "call";
  key: number;
  agent: number;
  callId: string;
  name: string;
  arguments: Signal<string>;
  at: number;
  /** True once it is whole and carried out; before, the model is writing it. */
  isBegun: Signal<boolean>;
  output: Signal<string>;
  ended: Signal<{ outcome: Outcome; ms: number } | undefined>;
}
/** A message about the run. */
export interface NoteEntry {
  kind: "note";
  key: number;
  text: string;
  bad: boolean;
}
/** A fold: turns that the model no longer reads as they were. */
export interface FoldEntry {
  kind: "fold";
  key: number;
  title: string;
  /** The text that the model reads instead. */
  text: string;
}
/** One entry of the transcript. */
export type Entry = SaidEntry | TextEntry | CallEntry | NoteEntry | FoldEntry;

/** The most characters shown of one text: a page that lays out megabytes stands still. */
export const MOST_SHOWN = 200_000;

/** The transcript of a session. */
export class Transcript {
  readonly entries = signal<Entry[]>([]);
  /** True while a text is growing: screen readers wait for its end. */
  readonly isSpeaking = signal(false);
  /** Tokens and cost so far. */
  readonly totals = signal({ input: 0, output: 0, nanoUsd: 0 });
  /** The size of the context window in tokens, and the tokens in use. */
  readonly window = signal({ size: 0, used: 0 });
  #new: Entry[] = [];
  #reply: TextEntry | undefined;
  #thinking: TextEntry | undefined;
  #calls = new Map<string, CallEntry>();
  /** The calls that the model is writing. */
  #written = new Map<string, CallEntry>();
  #inputs = 0;
  #keys = 0;

  constructor(told: readonly Told[] = []) {
    this.add(told);
  }

  /** Adds entries for what was told. */
  add(told: readonly Told[]): void {
    batch(() => {
      for (const each of told) this.#take(each);
      if (this.#new.length === 0) return;
      this.entries.value = [...this.entries.value, ...this.#new];
      this.#new = [];
    });
  }

  #take(told: Told): void {
    if (told.type === "note") return this.#note(told.text, told.bad);
    if (told.type === "resumed") return this.#resume();
    // Of agents that the session's own has started, people see the calls, not the texts.
    if (told.agent !== 0 && !/^tool_call/.test(told.type)) return;
    switch (told.type) {
      case "user_input":
        this.#said(told.parts, this.#inputs);
        this.#inputs += 1;
        return;
      case "steering_injected":
        return this.#said(told.parts, undefined);
      case "assistant_reasoning_delta":
        this.#thinking ??= this.#text("thinking");
        return grow(this.#thinking.text, told.text);
      case "assistant_text_delta":
        this.#reply ??= this.#text("text");
        return grow(this.#reply.text, told.text);
      case "session_start":
        return this.#fill(this.window.value.used, told.context_window);
      case "compacted":
        this.#count(told.usage, told.cost_nano_usd);
        this.#fill(told.after);
        return this.#fold(told);
      case "compaction_failed":
        this.#count(told.usage, told.cost_nano_usd);
        return this.#note(`The conversation stays as it is: ${told.message}.`, false);
      case "assistant_text_end":
        this.#count(told.usage, told.cost_nano_usd);
        if (told.usage) this.#fill(told.usage.input_total + told.usage.output_total);
        return this.#endReply();
      case "text_reset":
        return this.#takeBack();
      case "request_start":
        return this.#dropWritten();
      case "tool_call_delta":
        return this.#write(told);
      case "tool_call_start":
        return this.#begin(told);
      case "tool_call_output_delta":
        return this.#grow(told.call_id, told.text);
      case "tool_call_end":
        this.#end(told);
        return this.#found(told.outcome.secrets);
      case "retry":
        return this.#note(`${told.message}; trying again in ${seconds(told.delay_ms)}.`, false);
      case "turn_limit":
        return this.#note(`The limit ${told.limit} of ${told.value} is reached.`, false);
      case "warning":
      case "loop_detection":
        return this.#note(told.message, false);
      case "rerouted":
        return this.#note(`${told.to.model} takes over: ${told.message}`, false);
      case "corrected":
        return this.#note(`The model was told: ${told.text}`, false);
      case "error":
        return this.#note(told.message + adviceOn(told.kind), true);
      case "processing_end":
        this.#endReply();
        this.#dropWritten();
        return this.#note(summary(told), false);
    }
  }

  #add<T extends Entry>(entry: T): T {
    this.#new.push(entry);
    return entry;
  }

  #key(): number {
    this.#keys += 1;
    return this.#keys;
  }

  #said(parts: Part[], input: number | undefined): void {
    const entry: SaidEntry = { kind: "said", key: this.#key(), text: textOf(parts) };
    this.#add(input === undefined ? entry : { ...entry, input });
  }

  #note(text: string, bad: boolean): void {
    this.#add({ kind: "note", key: this.#key(), text, bad });
  }

  #found(secrets: readonly string[] = []): void {
    if (secrets.length > 0) this.#note(`Secrets were found in it: ${secrets.join(", ")}.`, false);
  }

  #fill(used: number, size = this.window.value.size): void {
    this.window.value = { size, used };
  }

  #fold({ kind, turns, before, after, text = "" }: Compacted): void {
    const what = kind === "stub" ? "Old results are" : `${counted(turns, "turn")} are`;
    const done = kind === "summary" ? "summed up" : "left out";
    const [from, to] = [before, after].map((tokens) => tokens.toLocaleString("en"));
    const title = `${what} ${done}: the model reads ${to} tokens in place of ${from}`;
    this.#add({ kind: "fold", key: this.#key(), title, text });
  }

  #text(kind: "text" | "thinking"): TextEntry {
    this.isSpeaking.value = true;
    return this.#add({ kind, key: this.#key(), text: signal("") });
  }

  #endReply(): void {
    this.isSpeaking.value = false;
    this.#reply = undefined;
    this.#thinking = undefined;
  }

  #takeBack(): void {
    this.#remove([this.#reply, this.#thinking]);
    this.#endReply();
    this.#dropWritten();
  }

  // Removes calls that never became whole, since their reply was cut or is asked for again.
  #dropWritten(): void {
    this.#remove([...this.#written.values()]);
    this.#written.clear();
  }

  #remove(entries: (Entry | undefined)[]): void {
    if (entries.every((entry) => entry === undefined)) return;
    this.#new = this.#new.filter((entry) => !entries.includes(entry));
    this.entries.value = this.entries.value.filter((entry) => !entries.includes(entry));
  }

  // After a reload the request is sent again, so that the text of the cut reply comes again.
  #resume(): void {
    this.#takeBack();
    this.#note("The page was loaded again; the run goes on.", false);
  }

  #write({ agent, call_id, name, at, text }: ToolCallDelta): void {
    let entry = this.#written.get(call_id);
    if (entry === undefined) {
      entry = this.#call({ agent, callId: call_id, name, at });
      this.#written.set(call_id, entry);
    }
    entry.name = name;
    grow(entry.arguments, text);
  }

  #begin({ agent, call_id: callId, name, arguments: args, at }: ToolCallStart): void {
    if (this.#calls.get(callId)?.ended.value === undefined && this.#calls.has(callId)) return;
    // The session replaces a missing or repeated id of a call, so that the started call may have
    // another id than the written one: then the name tells them to be the same.
    const like = [...this.#written].find(([, one]) => one.agent === agent && one.name === name);
    const id = this.#written.has(callId) ? callId : (like?.[0] ?? callId);
    const entry = this.#written.get(id) ?? this.#call({ agent, callId, name, at });
    this.#written.delete(id);
    Object.assign(entry, { callId, at });
    entry.arguments.value = args;
    entry.isBegun.value = true;
    this.#calls.set(callId, entry);
  }

  #call(call: Pick<CallEntry, "agent" | "callId" | "name" | "at">): CallEntry {
    return this.#add({
      ...call,
      kind: "call",
      key: this.#key(),
      arguments: signal(""),
      isBegun: signal(false),
      output: signal(""),
      ended: signal(undefined),
    });
  }

  #grow(callId: string, text: string): void {
    const entry = this.#calls.get(callId);
    if (entry !== undefined) grow(entry.output, text);
  }

  #end({ call_id, outcome, at }: ToolCallEnd): void {
    const entry = this.#calls.get(call_id);
    if (entry === undefined) return;
    entry.ended.value = { outcome, ms: outcome.duration_ms ?? at - entry.at };
    entry.output.value = shortened(outputOf(outcome));
  }

  #count(usage: ProcessingEnd["usage"] | undefined, nanoUsd = 0): void {
    const { input, output, nanoUsd: before } = this.totals.value;
    this.totals.value = {
      input: input + (usage?.input_total ?? 0),
      output: output + (usage?.output_total ?? 0),
      nanoUsd: before + nanoUsd,
    };
  }
}

function grow(text: Signal<string>, more: string): void {
  const left = MOST_SHOWN - text.peek().length;
  if (left > 0) text.value = shortened(text.peek() + more);
}

function shortened(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)} … The rest is not shown.`;
}

// The text of an outcome; for a program standard output, then standard error.
function outputOf({ parts, streams }: Outcome): string {
  if (!streams) return textOf(parts);
  const [out = "", err = "", ...rest] = parts.map((part) => textOf([part]));
  const texts = [out, err && `standard error:\n${err}`, ...rest].filter((text) => text !== "");
  return texts.reduce((all, text) => (/[^\n]$/.test(all) ? `${all}\n${text}` : all + text), "");
}

/** Returns the text of parts; other parts are named. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

/** Returns a duration as text. */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function adviceOn(kind: string): string {
  if (kind === "authentication") return " Check the key under Model.";
  if (kind === "quota" || kind === "rate_limit") return " Wait, or choose another under Model.";
  return "";
}

const ENDS: Record<string, string> = {
  completed: "Done",
  limit: "Stopped at a limit",
  loop: "Stopped: its calls repeated themselves",
  interrupted: "Stopped",
  denied: "Stopped: denied",
  incomplete: "Not finished: the reply was cut",
  refused: "Refused",
  failed: "Failed",
};

/** Returns the message for the end of a run. */
export function summary({ end, replies, tool_calls, usage, cost_nano_usd }: ProcessingEnd): string {
  const [into, out] = [usage.input_total, usage.output_total].map((n) => n.toLocaleString("en"));
  const tokens = `${into} tokens in, ${out} out`;
  const counts = `${counted(replies, "reply", "replies")}, ${counted(tool_calls, "tool call")}`;
  const cost = cost_nano_usd === undefined ? "" : `, ${dollars(cost_nano_usd)}`;
  // A stored session may be of a later version of the package, with ends unknown here.
  return `${ENDS[end] ?? end}: ${counts}, ${tokens}${cost}.`;
}

/** Returns an amount in nano-dollars as text. */
export function dollars(nanoUsd: number): string {
  return `$${(nanoUsd / 1e9).toFixed(4)}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

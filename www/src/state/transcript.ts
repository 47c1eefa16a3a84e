// The transcript: what was told becomes entries for people. An entry is made once; what grows in
// it is a signal, so that a new piece of text touches nothing else.

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

/** What the user said. */
export interface SaidEntry {
  kind: "said";
  key: number;
  text: string;
  /** Which input it is, counted from 0; steers are none. */
  input?: number;
}
/** What the model says or thinks. */
export interface TextEntry {
  kind: "text" | "thinking";
  key: number;
  text: Signal<string>;
}
/** A call of a tool, from the first piece of it that the model writes. */
export interface CallEntry {
  kind: "call";
  key: number;
  agent: number;
  callId: string;
  name: string;
  arguments: Signal<string>;
  at: number;
  /** Whether it is whole and carried out; before, the model writes it. */
  isBegun: Signal<boolean>;
  output: Signal<string>;
  ended: Signal<{ outcome: Outcome; ms: number } | undefined>;
}
/** A word about the run. */
export interface NoteEntry {
  kind: "note";
  key: number;
  text: string;
  bad: boolean;
}
/** Turns that the model no longer reads as they were. */
export interface FoldEntry {
  kind: "fold";
  key: number;
  title: string;
  /** What it reads in their place. */
  text: string;
}
/** One entry of the transcript. */
export type Entry = SaidEntry | TextEntry | CallEntry | NoteEntry | FoldEntry;

/** No more of one text is shown: a page that lays out megabytes stands still. */
export const MOST_SHOWN = 200_000;

/** What was told, for people. */
export class Transcript {
  readonly entries = signal<Entry[]>([]);
  /** Whether a text is growing: readers of the screen wait for its end. */
  readonly isSpeaking = signal(false);
  /** Tokens and cost so far. */
  readonly totals = signal({ input: 0, output: 0, nanoUsd: 0 });
  /** How many tokens the model can read, and how many it has read last. */
  readonly window = signal({ size: 0, used: 0 });
  #new: Entry[] = [];
  #reply: TextEntry | undefined;
  #thinking: TextEntry | undefined;
  #calls = new Map<string, CallEntry>();
  /** Those that are being written. */
  #written = new Map<string, CallEntry>();
  #inputs = 0;
  #keys = 0;

  constructor(told: readonly Told[] = []) {
    this.add(told);
  }

  /** Adds what was told. */
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
        return this.#end(told);
      case "retry":
        return this.#note(`${told.message}; trying again in ${seconds(told.delay_ms)}.`, false);
      case "turn_limit":
        return this.#note(`The limit ${told.limit} of ${told.value} is reached.`, false);
      case "warning":
      case "loop_detection":
        return this.#note(told.message, false);
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

  // A call that did not become whole is none.
  #dropWritten(): void {
    this.#remove([...this.#written.values()]);
    this.#written.clear();
  }

  #remove(entries: (Entry | undefined)[]): void {
    if (entries.every((entry) => entry === undefined)) return;
    this.#new = this.#new.filter((entry) => !entries.includes(entry));
    this.entries.value = this.entries.value.filter((entry) => !entries.includes(entry));
  }

  // What the reload has cut comes again, or its end does.
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
    // One that had no id of its own, or not the only one, has got another.
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

// Of a program both outputs, standard error below.
function outputOf({ parts, streams }: Outcome): string {
  if (!streams) return textOf(parts);
  const [out = "", err = "", ...rest] = parts.map((part) => textOf([part]));
  const texts = [out, err && `standard error:\n${err}`, ...rest].filter((text) => text !== "");
  return texts.reduce((all, text) => (/[^\n]$/.test(all) ? `${all}\n${text}` : all + text), "");
}

/** The texts among parts. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

/** A duration. */
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

/** What is said of a run that has ended. */
export function summary({ end, replies, tool_calls, usage, cost_nano_usd }: ProcessingEnd): string {
  const [into, out] = [usage.input_total, usage.output_total].map((n) => n.toLocaleString("en"));
  const tokens = `${into} tokens in, ${out} out`;
  const counts = `${counted(replies, "reply", "replies")}, ${counted(tool_calls, "tool call")}`;
  const cost = cost_nano_usd === undefined ? "" : `, ${dollars(cost_nano_usd)}`;
  // A later version may know other ends.
  return `${ENDS[end] ?? end}: ${counts}, ${tokens}${cost}.`;
}

/** An amount in nano-dollars. */
export function dollars(nanoUsd: number): string {
  return `$${(nanoUsd / 1e9).toFixed(4)}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

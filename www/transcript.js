// The transcript: each event becomes what a person wants to see of it, as it comes.

import { byId, element } from "./dom.js";

/** How many characters of one text are shown: a page that lays out megabytes stands still. */
const MOST_SHOWN = 200_000;

/** A transcript in the page's log. */
export class Transcript {
  #log = byId("log");
  #reply;
  #thinking;
  #cards = new Map();

  /** Takes everything away. */
  clear() {
    this.#log.replaceChildren();
    this.#cards.clear();
    this.#endReply();
  }

  /** Adds a line of the page's own. */
  note(text, bad = false) {
    this.#add(element("p", { class: bad ? "note bad" : "note" }, text));
  }

  /** Shows an event of the agent. */
  show(event) {
    switch (event.type) {
      case "user_input":
      case "steering_injected":
        return this.#add(element("p", { class: "said" }, textOf(event.parts)));
      case "assistant_reasoning_delta":
        return this.#think(event.text);
      case "assistant_text_delta":
        return this.#speak(event.text);
      case "assistant_text_end":
        return this.#endReply();
      case "text_reset":
        return this.#takeBack();
      case "tool_call_start":
        return this.#startCard(event);
      case "tool_call_output_delta":
        return this.#cards.get(event.call_id)?.growing.add(event.text);
      case "tool_call_end":
        return this.#endCard(event);
      case "retry":
        return this.note(`${event.message}; trying again in ${event.delay_ms} ms`);
      case "turn_limit":
        return this.note(`The limit ${event.limit} of ${event.value} is reached.`);
      case "warning":
        return this.note(event.message);
      case "error":
        return this.note(event.message, true);
      case "processing_end":
        return this.note(summary(event));
    }
  }

  #add(child) {
    const atEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 40;
    this.#log.append(child);
    if (atEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }

  // While a text streams, screen readers wait for its end.
  #speak(text) {
    if (this.#reply === undefined) {
      this.#log.setAttribute("aria-busy", "true");
      const node = element("p", { class: "reply" });
      this.#reply = { node, growing: new Growing(node) };
      this.#add(node);
    }
    if (this.#reply.growing.add(text)) this.#follow();
  }

  #think(text) {
    if (this.#thinking === undefined) {
      const pre = element("pre");
      const title = element("summary", {}, "Thinking");
      const card = element("details", { class: "thinking" }, title, pre);
      this.#thinking = { card, growing: new Growing(pre) };
      this.#add(card);
    }
    this.#thinking.growing.add(text);
  }

  #endReply() {
    this.#reply = undefined;
    this.#thinking = undefined;
    this.#log.setAttribute("aria-busy", "false");
  }

  #takeBack() {
    this.#reply?.node.remove();
    this.#thinking?.card.remove();
    this.#endReply();
  }

  #startCard({ call_id, name, arguments: args, at }) {
    const state = element("span", { class: "state" }, "running");
    const brief = element("span", { class: "args" }, ` ${briefly(args)} `);
    const title = element("summary", {}, element("span", { class: "tool" }, name), brief, state);
    const input = element("pre", { "aria-label": "Arguments", tabindex: "0" }, pretty(args));
    const output = element("pre", { "aria-label": "Output", tabindex: "0" });
    const card = element("details", { class: "call", "data-tool": name }, title, input, output);
    this.#cards.set(call_id, { card, state, output, growing: new Growing(output), at });
    this.#add(card);
  }

  #endCard({ call_id, outcome, at }) {
    const found = this.#cards.get(call_id);
    if (found === undefined) return;
    const { card, state, output } = found;
    const ms = at - found.at;
    const took = ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
    const exit = outcome.exit === undefined ? "" : `exit ${outcome.exit}, `;
    const failed = outcome.error !== undefined;
    card.classList.add(failed ? "failed" : "done");
    state.textContent = `${failed ? "✗" : "✓"} ${exit}${took}`;
    output.textContent = outputOf(outcome) || "(no output)";
    this.#follow();
  }

  #follow() {
    const rest = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight;
    if (rest < 80) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

/** A text that grows as long as there is room. */
class Growing {
  #node;
  #left = MOST_SHOWN;

  constructor(node) {
    this.#node = node;
  }

  /** Adds more; tells whether anything was added. */
  add(text) {
    if (this.#left <= 0) return false;
    this.#node.append(text.slice(0, this.#left));
    this.#left -= text.length;
    if (this.#left <= 0) this.#node.append(" … The rest is not shown.");
    return true;
  }
}

// Of a program both outputs, standard error below.
function outputOf({ parts, streams }) {
  if (!streams) return textOf(parts);
  const [{ text: out }, { text: err }, ...rest] = parts;
  const texts = [out, err && `standard error:\n${err}`, textOf(rest)];
  return texts
    .filter((text) => text !== "")
    .reduce((all, text) => (/[^\n]$/.test(all) ? `${all}\n${text}` : all + text), "");
}

function textOf(parts) {
  return parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

// The arguments' values in a few words, for the card's title.
function briefly(args) {
  const values = Object.values(parsed(args) ?? {});
  const text = values.map(plain).join(" ").replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

// The arguments one a line; what is no object stays as the model wrote it.
function pretty(args) {
  const fields = Object.entries(parsed(args) ?? {});
  return fields.map(([name, value]) => `${name}: ${plain(value)}`).join("\n") || args;
}

function parsed(args) {
  try {
    const value = JSON.parse(args);
    return typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const ENDS = {
  completed: "Done",
  limit: "Stopped at a limit",
  loop: "Stopped: its calls repeated themselves",
  interrupted: "Stopped",
  denied: "Stopped: denied",
  failed: "Failed",
};

/** What is said of a run that has ended. */
export function summary({ end, replies, tool_calls, usage }) {
  const tokens = `${usage.input_total} tokens in, ${usage.output_total} out`;
  const counts = `${counted(replies, "reply", "replies")}, ${counted(tool_calls, "tool call")}`;
  // A later version may know other ends.
  return `${ENDS[end] ?? end}: ${counts}, ${tokens}.`;
}

function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

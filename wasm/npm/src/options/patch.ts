// The conversion of options into a patch of the configuration. Only what the patch could not
// express is checked here; the driver checks the rest, once for all hosts.

import { endpointOf } from "../binding/providers.js";
import { AgentError } from "../errors.js";
import type { BuiltinTools } from "../json/config.js";
import type { Fullness } from "../json/policies.js";
import type {
  AnswerForm,
  Builtins,
  ConfigOptions,
  Fallback,
  NamedAgent,
  Skill,
  Spending,
  Subagents,
  ToolChoice,
} from "./config.js";
import { checkKey } from "./key.js";
import { answerSchemaOf } from "./schema.js";
import { type Fields, OPTIONS } from "./table.js";
import { areTexts, bad, checkFunction, checkKeys, count, isObject, text } from "./values.js";

/** The options of a model that takes over. */
const FALLBACK = [
  "provider",
  "model",
  "apiKey",
  "baseUrl",
  "cheap",
  "tasks",
] satisfies (keyof Fallback)[];

/** A patch of the configuration. */
export type ConfigPatch = { model: object } & Record<string, unknown>;

/** Checks the options of a configuration as far as it can be done before the module is loaded. */
export function checkConfigOptions(options: ConfigOptions): void {
  const { provider, model, vocabulary = "native", facts, config } = options;
  if (provider !== undefined && typeof provider !== "string") {
    throw new AgentError("unknown_provider", "`provider` must be a provider's name");
  }
  if (model !== undefined && (typeof model !== "string" || model === "")) {
    throw bad("`model` must be a model's name, as the provider knows it");
  }
  if (vocabulary !== "native" && vocabulary !== "seed") {
    throw bad('`vocabulary` must be "native" or "seed"');
  }
  if (facts !== undefined && (typeof facts !== "object" || facts === null)) {
    throw bad("`facts` must be an object: what is to be told of the place");
  }
  checkFallbacks(options.fallbacks);
  if (config !== undefined && !isObject(config)) {
    throw bad("`config` must be an object: a patch of the session's configuration");
  }
}

function checkFallbacks(fallbacks: unknown): void {
  if (fallbacks === undefined) return;
  if (!Array.isArray(fallbacks)) throw bad("`fallbacks` must be a list of models");
  for (const fallback of fallbacks as Fallback[]) {
    checkKeys(fallback, FALLBACK);
    checkKey(fallback.apiKey);
    if (typeof fallback.apiKey === "function") throw bad("`fallbacks`: `apiKey` must be a text");
    if (fallback.provider === undefined) throw bad("`fallbacks`: `provider` is missing");
  }
}

/**
 * Returns options as a patch of the configuration. Options that are left out are `undefined`, which
 * JSON drops.
 */
export function optionsPatch(options: ConfigOptions): ConfigPatch {
  return {
    model: {
      vocabulary: options.vocabulary,
      max_output_tokens: count("maxOutputTokens", options.maxOutputTokens),
      context_window: count("contextWindow", options.contextWindow),
      reasoning_effort: text("reasoningEffort", options.reasoningEffort),
      betas: options.betas,
      tool_choice: choiceOf(options.toolChoice),
      options: providerOptionsOf(options),
    },
    limits: limitsOf(options),
    retry: nested("retry", options.retry),
    timeouts: nested("timeouts", options.timeouts),
    loops: nested("loops", options.loops),
    compaction: compactionOf(options.compaction),
    corrections: correctionsOf(options.corrections),
    answer: answerOf(options.answer),
    subagents: options.subagents === undefined ? undefined : subagentsOf(options.subagents),
    agents: agentsOf(options.agents),
    skills: options.skills === false ? "off" : undefined,
    facts: options.facts,
    instructions: text("instructions", options.instructions),
    base_prompt: text("systemPrompt", options.systemPrompt),
    builtin_tools: builtinsOf(options.builtins),
    tools_shown: options.toolsShown,
    // `null` switches it off.
    results: options.results === false ? null : nested("results", options.results),
  };
}

function builtinsOf(builtins: Builtins | undefined): BuiltinTools | undefined {
  if (builtins === undefined || builtins === "all" || builtins === "none") return builtins;
  if (builtins === "read-only") return "read_only";
  if (areTexts(builtins)) return { only: [...builtins] };
  const { except, ...unknown } = isObject(builtins) ? (builtins as { except: unknown }) : {};
  if (areTexts(except) && Object.keys(unknown).length === 0) return { except };
  const known = '"all", "read-only", "none", a list of names, or `{ except: [names] }`';
  throw bad(`\`builtins\` must be ${known}`);
}

/** Returns a choice of tools, or throws `bad_option` if it is none. */
export function choiceOf(choice: ToolChoice | undefined): ToolChoice | undefined {
  if (choice === undefined || ["auto", "none", "required"].includes(choice as string))
    return choice;
  if (isObject(choice) && Object.keys(choice).join() === "tool") {
    if (typeof choice.tool === "string") return choice;
  }
  throw bad('`toolChoice` must be "auto", "none", "required", or `{ tool: name }`');
}

function answerOf(answer: AnswerForm | undefined): object | undefined {
  const raw = nested("answer", answer);
  if (raw === undefined || answer === undefined) return undefined;
  if (answer.toJsonSchema !== undefined) checkFunction("answer.toJsonSchema", answer.toJsonSchema);
  return { ...raw, schema: answerSchemaOf(answer), to_json_schema: undefined };
}

function limitsOf({ limits, budget }: ConfigOptions): object | undefined {
  const own = nested("limits", limits);
  if (budget === undefined) return own;
  const { session, ...run } = isObject(budget) ? budget : { session: budget };
  const all = session === undefined ? undefined : spendOf("budget.session", session);
  return { ...own, run: spendOf("budget", run), session: all };
}

function spendOf(name: string, spending: Spending): object {
  const known = "costUsd, tokens, ms";
  if (!isObject(spending)) throw bad(`\`${name}\` must be an object with ${known}`);
  const { costUsd, tokens, ms, ...unknown } = spending;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`${name}.${key}\`; there is ${known}`);
  if (costUsd !== undefined && !(costUsd > 0)) {
    throw bad(`\`${name}.costUsd\` must be a number of US dollars above 0`);
  }
  return {
    // Whole billionths of a dollar: the core counts costs without rounding.
    cost_nano_usd: costUsd === undefined ? undefined : Math.round(costUsd * 1e9),
    tokens: count(`${name}.tokens`, tokens),
    ms: count(`${name}.ms`, ms),
  };
}

// `false` switches it off; what an object leaves out stays as in the preset.
function compactionOf(compaction: ConfigOptions["compaction"]): object | undefined {
  if (compaction === undefined) return undefined;
  if (compaction === false) return { auto: [], on_overflow: "warn" };
  const known = "at, to, step, model, instructions";
  if (!isObject(compaction)) throw bad(`\`compaction\` must be false, or an object with ${known}`);
  const { at, to, step, model, instructions, ...unknown } = compaction;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`compaction.${key}\`; there is ${known}`);
  if (at === undefined && (to !== undefined || step !== undefined)) {
    throw bad("`compaction.at` is missing: how full the window must be, `{ percent: 75 }` say");
  }
  const tier = at && { from: at, to: to ?? below(at), step: step ?? "summary" };
  return {
    ...(tier && { auto: [tier], on_overflow: "compact_retry_once" }),
    summary: {
      model: text("compaction.model", model),
      instructions: text("compaction.instructions", instructions),
    },
  };
}

// `null` takes the faults back to the default, which is none.
function correctionsOf(corrections: ConfigOptions["corrections"]): object | undefined {
  return corrections === false ? { faults: null } : nested("corrections", corrections);
}

// The default of `to`: two thirds of a used amount, three times a free one. A fold must gain enough
// room that the next one does not follow at once.
function below({ percent, used, left }: Fullness): Fullness {
  const part = (of: number): number => Math.floor((of * 2) / 3);
  return {
    ...(percent !== undefined && { percent: part(percent) }),
    ...(used !== undefined && { used: part(used) }),
    ...(left !== undefined && { left: left * 3 }),
  };
}

export function subagentsOf(subagents: false | Subagents): object | undefined {
  if (subagents === false) return { max_depth: 0 };
  const { depth = 1, ...others } = subagents ?? {};
  if (isObject(subagents)) return nested("subagents", { depth, ...others });
  throw bad("`subagents` must be false, or an object with depth, open, batchMs, coordinate");
}

function agentsOf(agents: ConfigOptions["agents"]): object | undefined {
  if (agents === undefined) return undefined;
  if (!isObject(agents)) throw bad("`agents` must be an object of agents by name");
  const named = Object.entries(agents).map(([name, agent]) => [name, agentOf(name, agent)]);
  return Object.fromEntries(named) as object;
}

/** Returns skills as the binding takes them. */
export function skillsOf(skills: ConfigOptions["skills"]): object[] {
  if (skills === undefined || skills === false) return [];
  if (!Array.isArray(skills)) throw bad("`skills` must be false, or a list of skills");
  const all = skills as readonly Skill[];
  return all.map((skill) => ({ path: "", ...nested("skills", skill) }));
}

// `null` takes the name away, where the configuration is in force already.
function agentOf(name: string, agent: NamedAgent | null): object | null {
  if (agent === null) return null;
  const place = `agents.${name}`;
  const known = "description, prompt, model, tools, maxTurns";
  if (!isObject(agent)) throw bad(`\`${place}\` must be an object with ${known}`);
  const { maxTurns, description, prompt, model, tools, ...unknown } = agent;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw bad(`there is no option \`${place}.${key}\`; there is ${known}`);
  return { description, prompt, model, tools, max_turns: count(`${place}.maxTurns`, maxTurns) };
}

function providerOptionsOf(options: ConfigOptions): unknown {
  const { temperature, provider, providerOptions } = options;
  const own = temperatureOf(temperature, provider);
  if (own === undefined) return providerOptions;
  return isObject(providerOptions) ? merged(own, providerOptions) : (providerOptions ?? own);
}

// The temperature's field in the request, which each protocol has in another place.
function temperatureOf(temperature: unknown, provider: string | undefined): object | undefined {
  if (temperature === undefined) return undefined;
  const isNumber = typeof temperature === "number" && temperature >= 0 && temperature < Infinity;
  if (!isNumber && temperature !== null) throw bad("`temperature` must be a number, 0 or more");
  switch (endpointOf(provider)?.wire) {
    case "gemini":
      return { generationConfig: { temperature } };
    case "ollama":
      return { options: { temperature } };
    default:
      return { temperature };
  }
}

/**
 * Returns the fields of an option as the configuration names them. An unknown one is refused: if it
 * were ignored, it would seem to be in force.
 */
export function nested(name: Nested, value: object | undefined): object | undefined {
  if (value === undefined) return undefined;
  const fields: Fields = OPTIONS[name].fields;
  const known = Object.keys(fields).join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = name === "replay" ? "the recording's text, or an object" : "an object";
    throw bad(`\`${name}\` must be ${kind} with ${known}`);
  }
  const entries = Object.entries(value).map(([key, value]) => {
    const full = `${name}.${key}`;
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) throw bad(`there is no option \`${full}\`; there is ${known}`);
    return typeof field === "string" ? [field, count(full, value)] : [field.other, value];
  });
  return Object.fromEntries(entries) as object;
}

/** The options that have options of their own. */
type Nested = {
  [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name] extends { fields: object } ? Name : never;
}[keyof typeof OPTIONS];

/** Returns a patch with another one merged over it. */
export function merged(patch: object, over: object): object {
  const result: Record<string, unknown> = { ...patch };
  for (const [name, value] of Object.entries(over)) {
    const old = result[name];
    result[name] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

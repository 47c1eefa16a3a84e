// Changes of a configuration in force: by `configure`, and by the options with which a session is
// restored. Both become a patch. An option that is given replaces its part of the configuration;
// what is left out stays.

import { guarded } from "../binding/guard.js";
import { binding } from "../binding/instance.js";
import type { SessionConfig } from "../json/config.js";
import type { RegisteredProgram } from "../programs/registry.js";
import type { WasiTool } from "../programs/sources.js";
import type { AgentOptions, Changes, RestoreOptions } from "./agent.js";
import type { ConfigOptions } from "./config.js";
import { givenJson } from "./given.js";
import { hookPolicy } from "./hooks.js";
import { checkKey } from "./key.js";
import { checkConfigOptions, merged, optionsPatch } from "./patch.js";
import type { ProviderName } from "./provider.js";
import { rawConfig, rawProgram } from "./raw.js";
import { namesOf } from "./table.js";
import { rawTool, type Tool } from "./tool.js";
import { bad, checkFunction, checkTexts, isObject, text } from "./values.js";

/** The options that `configure` takes. */
const CHANGEABLE: readonly string[] = namesOf(({ changes }) => changes === true);
/** The options that the agent keeps, since the configuration does not hold them. */
const KEPT = ["provider", "fetch", "answer", ...namesOf(({ of }) => of !== undefined)];

/** The fields of a model's configuration that stay with another model: the user has set them. */
const OF_USER = ["vocabulary", "reasoning_effort", "tool_choice"];
/** The fields of the configuration that a preset sets. */
const OF_PRESET = [
  "limits",
  "retry",
  "loops",
  "guard",
  "repair",
  "estimator",
  "tool_output_percent",
] as const satisfies (keyof SessionConfig)[];

/** A function that returns the session's configuration. */
type Now = () => SessionConfig;

/** Checks the options of `configure`. */
export function checkChanges(changes: Changes): void {
  if (!isObject(changes)) throw bad("give an object of changes");
  for (const key of Object.keys(changes)) {
    if (!CHANGEABLE.includes(key)) throw bad(`there is no option \`${key}\` that can be changed`);
  }
  checkConfigOptions(changes as ConfigOptions);
  checkKey(changes.apiKey);
  text("baseUrl", changes.baseUrl);
  checkTexts("headers", changes.headers);
  checkTexts("query", changes.query);
  if (changes.fetch !== undefined) checkFunction("fetch", changes.fetch);
}

/** Returns whether requests go elsewhere, or with another key. */
export function concernsEndpoint({ provider, baseUrl, apiKey, fetch }: Changes): boolean {
  return [provider, baseUrl, apiKey, fetch].some((value) => value !== undefined);
}

/**
 * Returns an agent's options with changes. Options of the provider or model before are dropped: its
 * key must not go to another server.
 */
export function changed(options: AgentOptions, changes: Changes): AgentOptions {
  const { provider = options.provider, model } = changes;
  const isElsewhere = provider !== options.provider;
  const isOther = isElsewhere || (model !== undefined && model !== options.model);
  const kept: AgentOptions = { ...options };
  for (const name of namesOf(({ of }) => of === "provider" && isElsewhere)) delete kept[name];
  for (const name of namesOf(({ of }) => of === "model" && isOther)) delete kept[name];
  const given = Object.entries(changes).filter(([name, value]) => {
    return KEPT.includes(name) && value !== undefined;
  });
  return { ...kept, ...Object.fromEntries(given) };
}

/** Returns changes as a patch of the configuration; `options` already include the changes. */
export function patchOf(changes: Changes, options: AgentOptions, now: Now): string {
  const { reasoningEffort, systemPrompt, config, ...others } = changes;
  const { provider } = options;
  const plain = {
    ...others,
    provider,
    reasoningEffort: reasoningEffort ?? undefined,
    systemPrompt: systemPrompt ?? undefined,
  } as ConfigOptions;
  const patch = optionsPatch(plain);
  // `null` in a patch goes back to the default; the checks of options know only texts.
  if (reasoningEffort === null) patch.model = { ...patch.model, reasoning_effort: null };
  if (systemPrompt === null) patch.base_prompt = null;
  const isMoved = changes.provider !== undefined || changes.model !== undefined;
  const moved = isMoved ? modelPatch(options, now()) : {};
  return asPatch(merged({ model: moved }, withoutGaps(patch)), config);
}

/**
 * Returns the options of a restored session as a patch of its configuration.
 *
 * @throws AgentError `bad_option` for what contradicts the session.
 */
export function restorePatch(
  options: RestoreOptions,
  programs: readonly RegisteredProgram[],
  now: SessionConfig,
  isBusy: boolean,
): string {
  const { id, preset, fallbacks, approve, ask, webFetch, hooks, tools, config } = options;
  if (id !== undefined && id !== now.id) {
    throw bad(`\`id\`: this is the session \`${now.id}\`, which keeps its id: leave it out`);
  }
  const { provider = now.model.endpoint, model = now.model.name } = options;
  if (isBusy && provider !== now.model.endpoint) {
    const what = `a request to \`${now.model.endpoint}\` is under way`;
    throw bad(`\`provider\`: ${what}: restore with it, and change it by \`configure\``);
  }
  const moved = modelPatch({ ...options, provider: provider as ProviderName, model }, now);
  const presets = preset && configOf({ provider, model, preset } as ConfigOptions);
  const asked = approve ? "changes" : presets?.approval.ask;
  const routed = fallbacks && configOf({ provider, model, fallbacks } as ConfigOptions).routing;
  const more = {
    // Only if nothing was asked about before: a session with stricter rules keeps them.
    approval: now.approval.ask === "nothing" ? { ask: asked } : undefined,
    ask_user: ask && true,
    web_fetch: webFetch && true,
    hooks: hooks && hookPolicy(hooks),
    routing: routed && { models: routed.models },
    tools: tools && Array.from(tools, rawTool),
    facts: options.programs && { programs: programs.map(rawProgram) },
  };
  const ofPreset = OF_PRESET.map((name) => [name, presets?.[name]] as const);
  const patches = [{ model: moved }, Object.fromEntries(ofPreset), more];
  const own = withoutGaps(optionsPatch(options));
  return asPatch([...patches.map(withoutGaps), own].reduce(merged), config);
}

/** Returns a change of the user's tools as a patch. */
export function toolsPatch(tools: Iterable<Tool | WasiTool>): string {
  return givenJson({ tools: Array.from(tools, rawTool) });
}

// The patch for another model: its windows, prices and defaults. Empty if the model stays.
function modelPatch(options: AgentOptions, now: SessionConfig): object {
  const { provider = now.model.endpoint, model, models, preset, replay } = options;
  const { maxOutputTokens, contextWindow } = options;
  const isElsewhere = provider !== now.model.endpoint;
  const isOther = isElsewhere || model !== now.model.name;
  if (replay !== undefined || (!isOther && models === undefined)) return {};
  // Asked for even if the model stays: a catalogue that cannot be read is then refused.
  const asked = { provider, model, models, preset, maxOutputTokens, contextWindow };
  const { model: found } = configOf(asked as ConfigOptions);
  if (!isOther) return {};
  const stays = isElsewhere ? OF_USER : [...OF_USER, "options", "betas"];
  const fields = Object.entries(found).filter(([name]) => !stays.includes(name));
  const patch = Object.fromEntries(fields);
  if (!isElsewhere) return patch;
  // Patches merge objects, so that options of the provider before must be taken out by name.
  const gone = Object.keys(now.model.options).map((name) => [name, null]);
  return { ...patch, options: { ...Object.fromEntries(gone), ...found.options } };
}

function configOf(options: ConfigOptions): SessionConfig {
  const raw = givenJson(rawConfig(options), options.config);
  return JSON.parse(guarded(() => binding().configJson(raw), {})) as SessionConfig;
}

function asPatch(patch: object, config: unknown): string {
  const { model = {} } = (config ?? {}) as { model?: unknown };
  for (const name of ["endpoint", "wire"]) {
    const isGiven = isObject(model) && name in model;
    if (isGiven) throw bad(`\`config.model.${name}\` is the provider's: change \`provider\``);
  }
  const { model: own, ...others } = merged(patch, config ?? {}) as { model: unknown };
  const saysNothing = isObject(own) && Object.keys(own).length === 0;
  return givenJson(saysNothing ? others : { model: own, ...others }, config);
}

// Drops `undefined` by way of JSON: merged over another patch, it would replace a value there.
function withoutGaps(patch: object): object {
  return JSON.parse(givenJson(patch)) as object;
}

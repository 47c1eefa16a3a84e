// The types of the session's JSON are what the core makes, in both directions: its samples satisfy
// them, and no variant or field that they name is missing from the samples.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { folder } from "../support/installed.mjs";
import { ROOT } from "../support/package.mjs";

/** The core's samples, by its names of the types. */
const samples = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/samples.json"), "utf8"));

/** What the package calls them otherwise. */
const NAMES = {
  Event: "AgentEvent",
  NamedAgent: "AgentDefinition",
  Usage: "SessionUsage",
  Status: "SessionStatus",
  Turn: "SessionTurn",
  TurnOptions: "InputOptions",
  ToolCall: "SessionToolCall",
  ToolResult: "SessionToolResult",
  ToolError: "ToolErrorKind",
  ReportedChange: "FileChange",
  OutputBatch: "Output[]",
  Job: 'ToolRun["job"]',
  RequestPurpose: 'Extract<Effect, { http: unknown }>["http"]["purpose"]',
  HttpFailureKind: 'Extract<HttpInput, { failed: unknown }>["failed"]["kind"]',
  CallDetail: 'NonNullable<SessionToolCall["detail"]>',
  ReasoningBlock: 'Extract<Block, { reasoning: unknown }>["reasoning"]',
  MarkedText: 'Extract<Block, { marked_text: unknown }>["marked_text"]',
  WireKind: 'ModelConfig["wire"]',
  ProfileKind: 'ModelConfig["profile"]',
  VocabularyKind: 'ModelConfig["vocabulary"]',
  ToolChoice: "SessionToolChoice",
  TextCalls: 'ModelConfig["text_calls"]',
  TextFamily: 'ModelConfig["text_family"]',
  SystemRole: 'Compat["system_role"]',
  MaxTokensField: 'Compat["max_tokens_field"]',
  ThinkingFormat: 'Compat["thinking"]',
  ReplayReasoning: 'Compat["replay_reasoning"]',
  CallIds: 'Compat["call_ids"]',
  ExecMode: 'SessionConfig["exec_modes"][string]',
  TokenEstimator: 'SessionConfig["estimator"]',
  CompactionPolicy: "CompactionPolicy",
  OnOverflow: 'CompactionPolicy["on_overflow"]',
  AskAbout: 'ApprovalPolicy["ask"]',
  LineNumbering: 'Extract<Action, { action: "read" }>["numbering"]',
  GrepMode: 'Extract<Action, { action: "grep" }>["mode"]',
  GrepLayout: 'Required<Extract<Action, { action: "grep" }>>["layout"]',
  HiddenFiles: 'Required<Extract<Action, { action: "list" }>>["hidden"]',
  ListStyle: 'Required<Extract<Action, { action: "list" }>>["style"]',
  NoticePosition: 'Required<Extract<Action, { action: "read" }>>["notice"]',
  FinishReason: "Finish",
  HistoryFold: "Fold",
  RewindReason: "Why",
  LeftOutKind: "Leaving",
  VisibleTurn: "Said",
  EndpointCompat: "Compat",
  ConfigPreset: "Preset",
  EnvironmentFacts: "Facts",
  BodyBytes: "Bytes",
  RejectedInput: "Rejected",
};

/** Errors that the package tells as an `AgentError` with a code. */
const CODED = ["ConfigError", "RestoreError", "LogError"];

const wanted = Object.keys(samples).filter((name) => !CODED.includes(name));

function source() {
  const types = wanted.map((name) => NAMES[name] ?? name);
  const named = new Set(types.flatMap((type) => type.match(/\b[A-Z]\w+/gu)));
  for (const known of ["Extract", "NonNullable", "Required"]) named.delete(known);
  const lines = wanted.map((name, at) => {
    const list = JSON.stringify(samples[name], null, 1);
    return `export const sample_${name}: ${types[at]}[] = ${list};`;
  });
  return `import type { ${[...named].join(", ")} } from "innerloop";\n${lines.join("\n")}\n`;
}

const PLATFORM = ["dom", "dom.iterable", "esnext.disposable"];

function check(text, { name = "samples", libs = PLATFORM, ...more } = {}) {
  const path = join(folder, `${name}.ts`);
  writeFileSync(path, text);
  const program = ts.createProgram([path], {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["es2023", ...libs].map((lib) => `lib.${lib}.d.ts`),
    types: [],
    ...more,
  });
  const failures = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file?.text.slice(0, start).split("\n").length;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
  return { program, file: program.getSourceFile(path), failures };
}

/** What the types name and no value has: walks types and values together. */
class Coverage {
  #checker;
  /** For each part of a type that was come to: where, and whether a value has it. */
  #parts = new Map();

  constructor(checker) {
    this.#checker = checker;
  }

  /** Notes the values of a type; `path` says where it stands. */
  note(type, values, path) {
    // Any part of the configuration, which has a sample of its own.
    if (path.endsWith("configure.patch")) return;
    if (type.isUnion()) return this.#noteUnion(type, values, path);
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) {
      const elements = values.filter(Array.isArray).flat();
      const [element] = this.#checker.getTypeArguments(type);
      return this.note(element, elements, `${path}[]`);
    }
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return;
    const objects = values.filter((value) => typeof value === "object" && value !== null);
    const index = type.getStringIndexType();
    if (index)
      this.note(
        index,
        objects.flatMap((value) => Object.values(value)),
        `${path}{}`,
      );
    for (const property of type.getProperties()) {
      const { name } = property;
      const found = objects.filter((value) => Object.hasOwn(value, name));
      const isAbsent = this.#checker.getTypeOfSymbol(property).flags & ts.TypeFlags.Undefined;
      if (!isAbsent) this.#mark(property, `${path}.${name}`, found.length > 0);
      const inner = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property));
      this.note(
        inner,
        found.map((value) => value[name]),
        `${path}.${name}`,
      );
    }
  }

  #noteUnion(type, values, path) {
    for (const member of type.types) {
      const found = values.filter((value) => this.#fits(member, value));
      const isPlain = member.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.BooleanLike);
      const shown = this.#checker.typeToString(member).slice(0, 60);
      // One union may stand in many places; a value in one of them will do.
      if (!isPlain) this.#mark(`${type.id} ${member.id}`, `${path}: ${shown}`, found.length > 0);
      this.note(member, found, path);
    }
  }

  #fits(member, value) {
    if (member.isStringLiteral() || member.isNumberLiteral()) return member.value === value;
    if (member.flags & ts.TypeFlags.Null) return value === null;
    if (member.flags & ts.TypeFlags.String) return typeof value === "string";
    if (member.flags & ts.TypeFlags.Number) return typeof value === "number";
    if (this.#checker.isArrayType(member)) return Array.isArray(value);
    const isObject = member.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection);
    if (!isObject || typeof value !== "object" || value === null) {
      return false;
    }
    // Told apart by literals, as `type`, or by the fields that must be there.
    return member.getProperties().every((property) => {
      const of = this.#checker.getTypeOfSymbol(property);
      if (of.isStringLiteral()) return value[property.name] === of.value;
      return property.flags & ts.SymbolFlags.Optional || Object.hasOwn(value, property.name);
    });
  }

  #mark(key, path, isThere) {
    const part = this.#parts.get(key) ?? { path, isThere: false };
    part.isThere ||= isThere;
    this.#parts.set(key, part);
  }

  missing() {
    return [...this.#parts.values()].filter(({ isThere }) => !isThere).map(({ path }) => path);
  }
}

function missingFrom({ program, file }) {
  const checker = program.getTypeChecker();
  const coverage = new Coverage(checker);
  for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(file))) {
    const name = symbol.name.replace("sample_", "");
    const [element] = checker.getTypeArguments(checker.getTypeOfSymbol(symbol));
    coverage.note(element, samples[name], name);
  }
  return coverage.missing();
}

test("the samples of the core satisfy the types, and the types name nothing else", () => {
  const checked = check(source());
  assert.deepEqual(checked.failures, []);
  assert.deepEqual(missingFrom(checked), []);
});

test("a variant or field that only one of the two has is found", () => {
  const text = source();
  const more = text
    .replace('"type": "session_start"', '"type": "session_begin"')
    .replace('"type": "text_reset"', '"type": "text_reset", "colour": 1');
  const { failures } = check(more);
  assert.equal(failures.length, 2);
  assert.match(failures[0], /session_begin/);
  assert.match(failures[1], /colour/);
  const typed = text
    .replace("sample_ConfigPreset: Preset[]", 'sample_ConfigPreset: (Preset | "baroque")[]')
    .replace("sample_Deadline: Deadline[]", "sample_Deadline: (Deadline & { late?: true })[]");
  const checked = check(typed);
  assert.deepEqual(checked.failures, []);
  assert.deepEqual(missingFrom(checked), ['ConfigPreset: "baroque"', "Deadline.late"]);
});

/** Rules that are not part of `strict`, and the declarations themselves held to them. */
const STRICTEST = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
};
const fixture = (name) => readFileSync(new URL(`../fixtures/${name}.ts`, import.meta.url), "utf8");

test("the types hold under the strictest rules, with and without those of a platform", () => {
  for (const libs of [PLATFORM, ["dom", "dom.iterable"], []]) {
    const { failures } = check(fixture("bare"), { name: "bare", libs, ...STRICTEST });
    assert.deepEqual(failures, [], `with ${libs.join() || "none"}`);
  }
  const libs = ["dom", "dom.iterable"];
  const { failures } = check(fixture("consumer"), { name: "consumer", libs, ...STRICTEST });
  assert.deepEqual(failures, []);
});

test("where a platform's types are known, the package's are those", () => {
  const text = `import type { Address, HttpResponse, Signal, WasmModule } from "innerloop";
    type Same<A, B> = [A, B] extends [B, A] ? true : false;
    export const same: Same<
      [Address, HttpResponse, Signal, WasmModule],
      [URL, Response, AbortSignal, WebAssembly.Module]
    > = true;`;
  assert.deepEqual(check(text, { name: "same", ...STRICTEST }).failures, []);
});

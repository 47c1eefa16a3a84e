// The public types: the options that an agent takes and the values that it returns, in camelCase.
// Events and the data in them have the shapes of the session's log (snake_case).

export type {
  PendingInput,
  PendingInputs,
  Replayed,
  RunError,
  RunResult,
  SeenTurn,
  Status,
  SubagentInfo,
  ToolCall,
  ToolResult,
  Turn,
  UndoneFiles,
  Usage,
} from "./agent/results.js";
export type * from "./json/action.js";
export type * from "./json/config.js";
export type * from "./json/data.js";
export type * from "./json/events.js";
export type * from "./json/history.js";
export type * from "./json/model.js";
export type * from "./json/policies.js";
export type * from "./json/protocol.js";
export type * from "./json/shapes.js";
export type * from "./options/agent.js";
export type * from "./options/asked.js";
export type * from "./options/config.js";
export type { ApiKey } from "./options/key.js";
export type * from "./options/provider.js";
export type {
  AnswerOf,
  ArgumentsOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ToJsonSchema,
} from "./options/schema.js";
export type { Tool, ToolContext, ToolReply, WebFetch } from "./options/tool.js";
export type { RunOptions, TurnOptions } from "./options/turn.js";
export type * from "./platform/globals.js";
export type * from "./programs/sources.js";
export type {
  Changed,
  FileSystem,
  FileSystemEntry,
  FileSystemStat,
  SystemFacts,
} from "./workspace/filesystem.js";

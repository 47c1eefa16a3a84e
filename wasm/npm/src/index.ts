// The package's exports, the same on all platforms. The entries beside this file set the platform
// and re-export it.

export { Agent } from "./agent/agent.js";
export { Run } from "./agent/run.js";
export { Session, type Step } from "./agent/session.js";
export { Tools, tool } from "./agent/tools.js";
export { providers } from "./binding/providers.js";
export { AgentError, type AgentErrorCode, RejectedError } from "./errors.js";
export { PartialArguments } from "./json/partial.js";
export { init, type ModuleSource } from "./platform/platform.js";
export { type ToolParts, wasiTool } from "./programs/tool.js";
export type * from "./types.js";
export { type FileStat, Files } from "./workspace/files.js";

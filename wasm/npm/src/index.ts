// What the package exports, whatever the platform.

export { Agent } from "./agent.js";
export { Run } from "./run.js";
export { type FileStat, Files } from "./files.js";
export { Tools, tool } from "./tools.js";
export { type ToolParts, wasiTool } from "./wasi.js";
export { Session, type Step } from "./session.js";
export { AgentError, type AgentErrorCode, RejectedError } from "./errors.js";
export { PartialArguments } from "./partial.js";
export { providers } from "./providers.js";
export { init, type ModuleSource } from "./platform.js";
export type * from "./types.js";

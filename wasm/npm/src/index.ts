// What the package exports, whatever the platform.

export { Agent } from "./agent.js";
export { Run } from "./run.js";
export { Files } from "./files.js";
export { AgentError, type AgentErrorCode } from "./errors.js";
export { providers } from "./providers.js";
export { init, type ModuleSource } from "./platform.js";
export type * from "./types.js";

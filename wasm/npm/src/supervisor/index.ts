// What all entries of `innerloop/supervisor` have in common: the types of `parseCommand`.

export type { CommandWord, CustomCommand, PendingAsks } from "../json/commands.js";
export type { ParseCommand, ParseCommandOptions } from "./parser.js";

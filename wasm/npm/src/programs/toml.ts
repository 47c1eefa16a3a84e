// The reader of TOML: a file of its own in the package, so that it is loaded only for a
// `tool.toml`.

export { parse, TomlError } from "smol-toml";

// What reads TOML: a file of its own in the package, loaded where a `tool.toml` is read.

export { parse, TomlError } from "smol-toml";

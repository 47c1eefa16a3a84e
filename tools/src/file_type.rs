//! The types of files that a search can be narrowed to, by the endings of their names.

use crate::failure_texts;
use innerloop_json::{IntoList, joined, quoted};
use innerloop_types::action::{Outcome, ToolError};

/// A line for each type: its name, and the endings that belong to it.
// One text instead of tables, which take more of the page's module and are harder to read.
const TYPES: &str = "\
c: c h
cpp: cpp cc cxx hpp hh hxx h inl
cs: cs
css: css scss sass less
csharp: cs
csv: csv
dart: dart
elixir: ex exs eex heex
go: go
h: h hpp
haskell: hs lhs
html: html htm
java: java
js: js jsx mjs cjs vue
json: json
kotlin: kt kts
lua: lua
markdown: md markdown mdx
md: md markdown mdx
perl: pl pm t
php: php phtml
protobuf: proto
py: py pyi
python: py pyi
r: r R Rmd
ruby: rb gemspec rbw
rust: rs
scala: scala sbt
sh: sh bash zsh
sql: sql psql
svelte: svelte
swift: swift
toml: toml
ts: ts tsx mts cts
txt: txt
typescript: ts tsx mts cts
vue: vue
xml: xml xsd xsl svg
yaml: yaml yml
zig: zig";

/// The endings of the names of one type's files, with spaces between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileType(&'static str);

impl FileType {
    /// Returns the type of that name; the error lists all names.
    pub(crate) fn named(name: &str) -> Result<Self, Outcome> {
        let known = types().find(|(known, _)| *known == name);
        known.map(|(_, endings)| Self(endings)).ok_or_else(|| {
            let names: Vec<&str> = types().map(|(name, _)| name).into_list();
            let names = joined(&names, ", ");
            let message = format!(
                "There is no file type {}. There is: {names}. Or use a glob.",
                quoted(name)
            );
            failure_texts::error(ToolError::InvalidArguments, message)
        })
    }

    /// Returns whether a file of that name is of this type.
    pub(crate) fn has(self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| self.0.split(' ').any(|known| known == ending))
    }
}

fn types() -> impl Iterator<Item = (&'static str, &'static str)> {
    TYPES.lines().filter_map(|line| line.split_once(": "))
}

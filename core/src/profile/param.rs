//! The parameters of the built-in tools, and the JSON Schema that the model is shown of them. The
//! schema is written from the same lines in every build, so that a model's requests stay the same
//! byte for byte.
//!
//! Parameters are written as one text, a line for each: its name, its type, and its description for
//! the model, as in `depth?=1: 1..10 How many levels to list`. A `?` behind the name says that it
//! is optional, and `=` gives its default in JSON. The types are `text`, `nonempty` for a text of
//! one character or more, words such as `content|count`, whole numbers such as `0..` or `1..10`,
//! `number`, `boolean`, `{}` for an object, and any of them with `[]` for a list, with `[1..]` for
//! one that is not empty, or with `[1..10]` for one that is not too long either. An object's own
//! parameters are in the lines below it, each after a dash and a space. `agents` are the names of
//! the configuration's agents; where there are none, the parameter is left out.

use alloc::{borrow::Cow, string::ToString, vec::Vec};
use core::{iter::Peekable, str::Lines};
use innerloop_json::{IntoList, Map, ToJson, Writer};
use innerloop_types::config::NamedAgent;

/// The mark of lines that belong to the object above them.
const INNER: &str = "- ";
/// The type of a parameter that names an agent.
const AGENTS: &str = "agents";

/// Returns the name of a required parameter.
pub(super) fn name(line: &str) -> &str {
    line.split_once(':').map_or(line, |(name, _)| name)
}

/// The JSON Schema of an object with these parameters and no others. `{default_ms}` in descriptions
/// is replaced by the time limit.
// Lines of text instead of tables: a table takes a pointer and a length for each word, which hardly
// compress in the page's module (`docs/decisions.md#the-pages-module`).
pub(super) struct ParamSchema<'a> {
    pub(super) params: &'static str,
    pub(super) default_ms: u64,
    /// The agents that have a name; `None` for a schema that takes any name, and is not shown.
    pub(super) agents: Option<&'a Map<NamedAgent>>,
}

impl ToJson for ParamSchema<'_> {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        self.write_object(&mut self.params.lines().peekable(), "", writer);
        writer.end_object();
    }
}

impl ParamSchema<'_> {
    /// Writes the fields of an object's schema. Its parameters are the next lines that begin with
    /// `mark`.
    fn write_object(&self, lines: &mut Peekable<Lines<'static>>, mark: &str, writer: &mut Writer) {
        string("type", "object", writer);
        writer.key("properties");
        writer.object();
        let mut required = Vec::new();
        // Peeked, since the line that ends a nested object is the next parameter of the outer one.
        while let Some(line) = lines.peek().and_then(|line| line.strip_prefix(mark)) {
            lines.next();
            let (name, rest) = line.split_once(": ").unwrap_or((line, ""));
            let (kind, description) = rest.split_once(' ').unwrap_or((rest, ""));
            if kind == AGENTS && self.agents.is_some_and(Map::is_empty) {
                continue;
            }
            let (name, default) = match name.split_once('?') {
                Some((name, default)) => (name, default.strip_prefix('=')),
                None => {
                    required.push(name);
                    (name, None)
                }
            };
            writer.key(name);
            writer.object();
            self.write_type(kind, lines, writer);
            if let Some(default) = default {
                raw("default", default, writer);
            }
            if !description.is_empty() {
                string("description", &self.filled(description), writer);
            }
            writer.end_object();
        }
        writer.end_object();
        if !required.is_empty() {
            strings("required", &required, writer);
        }
        raw("additionalProperties", "false", writer);
    }

    /// Writes the fields of a value's schema that give its type.
    fn write_type(
        &self,
        kind: &'static str,
        lines: &mut Peekable<Lines<'static>>,
        writer: &mut Writer,
    ) {
        // Lists first: what stands before the brackets is a type of its own, which may have `..` or
        // `|` in it.
        if let Some((of, min)) = kind.strip_suffix(']').and_then(|kind| kind.rsplit_once('[')) {
            string("type", "array", writer);
            writer.key("items");
            writer.object();
            self.write_type(of, lines, writer);
            writer.end_object();
            if let Some((min, max)) = min.split_once("..") {
                raw("minItems", min, writer);
                if !max.is_empty() {
                    raw("maxItems", max, writer);
                }
            }
            return;
        }
        if let Some((min, max)) = kind.split_once("..") {
            string("type", "integer", writer);
            raw("minimum", min, writer);
            if !max.is_empty() {
                raw("maximum", max, writer);
            }
            return;
        }
        match kind {
            "{}" => self.write_object(lines, INNER, writer),
            "number" | "boolean" => string("type", kind, writer),
            "text" => string("type", "string", writer),
            AGENTS if self.agents.is_none() => string("type", "string", writer),
            "nonempty" => {
                string("type", "string", writer);
                raw("minLength", "1", writer);
            }
            words => {
                let names: Vec<&str> = match self.agents.filter(|_| words == AGENTS) {
                    Some(agents) => agents.keys().into_list(),
                    None => words.split('|').into_list(),
                };
                string("type", "string", writer);
                strings("enum", &names, writer);
            }
        }
    }

    fn filled(&self, description: &'static str) -> Cow<'static, str> {
        const PLACE: &str = "{default_ms}";
        if description.contains(PLACE) {
            description.replace(PLACE, &self.default_ms.to_string()).into()
        } else {
            description.into()
        }
    }
}

fn string(name: &str, text: &str, writer: &mut Writer) {
    writer.key(name);
    writer.string(text);
}

/// Writes a value that is JSON as it is.
fn raw(name: &str, json: &str, writer: &mut Writer) {
    writer.key(name);
    writer.raw(json);
}

fn strings(name: &str, texts: &[&str], writer: &mut Writer) {
    writer.key(name);
    writer.array();
    for text in texts {
        writer.element();
        writer.string(text);
    }
    writer.end_array();
}

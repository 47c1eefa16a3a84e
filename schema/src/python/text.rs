//! Lines of Python, formatted as ruff formats them, so that its check finds nothing to change.

use crate::docs::wrapped;
use std::collections::{BTreeMap, BTreeSet};

const COLUMNS: usize = 100;
/// Names that can't be fields of a class.
const KEYWORDS: [&str; 10] =
    ["as", "class", "except", "finally", "from", "global", "import", "in", "is", "pass"];

/// A field: its name, its type, its documentation, and whether it is required.
pub(super) type PythonField = (String, String, String, bool);

/// Returns the type of one of these texts.
pub(super) fn literals(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("Literal[{}]", names.join(", "))
}

/// Returns a text for a docstring, with its backslashes and code marked up as reStructuredText.
fn rst(docs: &str) -> String {
    docs.replace('\\', "\\\\").replace('`', "``")
}

/// Returns a docstring with that indentation; an empty text without documentation.
fn docstring(docs: &str, indent: usize) -> String {
    let docs = rst(docs);
    let space = " ".repeat(indent);
    let short = format!("{space}\"\"\"{docs}\"\"\"");
    if docs.is_empty() {
        return String::new();
    }
    if !docs.contains('\n') && short.chars().count() <= COLUMNS {
        return short + "\n";
    }
    let mut lines = Vec::new();
    for (index, paragraph) in docs.split("\n").enumerate() {
        let hang = if paragraph.starts_with("- ") { "  " } else { "" };
        // Three quotes stand before the first line, and three behind the last one.
        let columns = COLUMNS - indent - 6 - hang.len();
        let paragraph = wrapped(paragraph, columns);
        lines.extend(paragraph.into_iter().enumerate().map(|(line, text)| match line {
            0 => text,
            _ => format!("{hang}{text}"),
        }));
        if docs.split("\n").count() > 1 && index == 0 {
            lines.push(String::new());
        }
    }
    if docs.contains('\n') {
        lines.push("\"\"\"".to_owned());
    } else if let Some(last) = lines.last_mut() {
        last.push_str("\"\"\"");
    }
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let quotes = if index == 0 { "\"\"\"" } else { "" };
        out += format!("{space}{quotes}{line}").trim_end();
        out.push('\n');
    }
    out
}

/// Returns a docstring that follows what it documents.
pub(super) fn text_after(docs: &str) -> String {
    docstring(docs.trim_end(), 0)
}

/// Returns the alias of a union of types.
pub(super) fn alias(name: &str, kinds: &[String]) -> String {
    let short = format!("\n\n{name} = {}\n", kinds.join(" | "));
    match kinds {
        _ if short.trim().chars().count() <= COLUMNS => short,
        [one] => format!("\n\n{name} = {}\n", broken_literal(one, 0)),
        _ => format!("\n\n{name} = (\n    {}\n)\n", kinds.join("\n    | ")),
    }
}

/// Returns a `Literal` with each name on a line of its own.
fn broken_literal(text: &str, indent: usize) -> String {
    let space = " ".repeat(indent);
    let inside = text.strip_prefix("Literal[").and_then(|rest| rest.strip_suffix(']'));
    match inside {
        Some(names) => {
            let names = names.split(", ").map(|name| format!("\n{space}    {name},"));
            format!("Literal[{}\n{space}]", names.collect::<String>())
        }
        None => text.to_owned(),
    }
}

/// Returns a class with these fields.
pub(super) fn class(name: &str, docs: &str, base: &str, fields: &[PythonField]) -> String {
    if fields.iter().any(|(name, ..)| KEYWORDS.contains(&name.as_str())) {
        return called(name, docs, fields);
    }
    let is_partial = !fields.is_empty() && fields.iter().all(|(.., required)| !required);
    let total = if is_partial { ", total=False" } else { "" };
    let mut out = format!("\n\nclass {name}({base}{total}):\n{}", docstring(docs, 4));
    if !docs.is_empty() && !fields.is_empty() {
        out.push('\n');
    }
    for (name, value, docs, required) in fields {
        let value = presence(value, *required || is_partial);
        let line = format!("    {name}: {value}");
        out += &match line.chars().count() <= COLUMNS {
            true => line,
            false => format!("    {name}: {}", broken_literal(&value, 4)),
        };
        out.push('\n');
        out += &docstring(docs, 4);
    }
    out
}

fn presence(value: &str, is_there: bool) -> String {
    if is_there { value.to_owned() } else { format!("NotRequired[{value}]") }
}

/// Returns the same for fields of which one has a keyword as its name: they can only be given as
/// strings.
fn called(name: &str, docs: &str, fields: &[PythonField]) -> String {
    let is_partial = fields.iter().all(|(.., required)| !required);
    let mut out = format!("\n\n{name} = TypedDict(\n    \"{name}\",\n    {{\n");
    for (name, value, docs, required) in fields {
        for line in wrapped(&rst(docs), COLUMNS - 10).iter().filter(|line| !line.is_empty()) {
            out += &format!("        # {line}\n");
        }
        let value = presence(value, *required || is_partial);
        out += &format!("        \"{name}\": \"{value}\",\n");
    }
    out += "    },\n";
    if is_partial {
        out += "    total=False,\n";
    }
    out + ")\n" + &docstring(docs, 0)
}

/// Returns the beginning of a module.
pub(super) fn head(about: &str, imports: &str, body: &str) -> String {
    let has = |name: &str| {
        let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == name)
    };
    let is_partial = has("NotRequired");
    let mut typing = vec!["Any", "Literal", "TypedDict"];
    typing.retain(|name| has(name));
    let mut out = docstring(about, 0) + "\nfrom __future__ import annotations\n\n";
    if is_partial {
        typing.insert(0, "TYPE_CHECKING");
        out += "import sys\n";
    }
    out += &format!("from typing import {}\n", typing.join(", "));
    if !imports.is_empty() {
        out += &format!("\n{imports}");
    }
    if is_partial {
        out += NOT_REQUIRED;
    }
    out
}

/// The import of `NotRequired`, which older Pythons have only for type checkers.
const NOT_REQUIRED: &str = "
if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
";

/// Returns the imports from other modules of the package.
pub(super) fn imports(
    used: &BTreeSet<String>,
    places: &BTreeMap<String, String>,
    own: &str,
) -> String {
    let mut by_module: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in used {
        if let Some(module) = places.get(name).filter(|module| *module != own) {
            by_module.entry(module).or_default().push(name);
        }
    }
    by_module.iter().map(|(module, names)| import(module, names)).collect()
}

fn import(module: &str, names: &[&str]) -> String {
    // As ruff has them in order: whatever the case of their letters.
    let mut names = names.to_vec();
    names.sort_by_key(|name| name.to_ascii_lowercase());
    let line = format!("from .{module} import {}\n", names.join(", "));
    match line.trim_end().chars().count() <= COLUMNS {
        true => line,
        false => format!("from .{module} import (\n    {},\n)\n", names.join(",\n    ")),
    }
}

/// Returns the module of the package itself, which re-exports all names.
pub(super) fn package(about: &str, places: &BTreeMap<String, String>) -> String {
    let mut by_module: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, module) in places {
        by_module.entry(module).or_default().push(name);
    }
    let imports: String = by_module.iter().map(|(module, names)| import(module, names)).collect();
    let names: Vec<String> = places.keys().map(|name| format!("    \"{name}\",\n")).collect();
    format!("{}\n{imports}\n__all__ = [\n{}]\n", docstring(about, 0), names.concat())
}

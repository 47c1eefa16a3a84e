//! Lines of TypeScript, formatted as Biome formats them, so that its check finds nothing to change.

use crate::docs::wrapped;

const COLUMNS: usize = 100;

/// Returns whether a line is short enough.
pub(super) fn fits(line: &str) -> bool {
    line.chars().count() <= COLUMNS
}

/// Returns a text as a literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a comment in lines of `//`.
pub(super) fn line_comment(text: &str) -> String {
    let lines = wrapped(text, COLUMNS - 3);
    lines.iter().map(|line| format!("// {line}\n")).collect()
}

/// Returns the comment before a declaration; an empty text without documentation.
pub(super) fn comment(docs: &str, indent: usize) -> String {
    // A pattern of paths may contain the end of a comment.
    let docs = docs.replace("*/", "*\\/");
    let space = " ".repeat(indent);
    let short = format!("{space}/** {docs} */");
    if docs.is_empty() {
        return String::new();
    }
    if fits(&short) && !docs.contains('\n') {
        return short + "\n";
    }
    let lines = wrapped(&docs, COLUMNS - indent - 3);
    let lines = lines.iter().map(|line| format!("{space} * {line}").trim_end().to_owned() + "\n");
    format!("{space}/**\n{}{space} */\n", lines.collect::<String>())
}

/// Returns a field with its type.
pub(super) fn field(name: &str, text: &str, indent: usize) -> String {
    let space = " ".repeat(indent);
    let gap = if text.starts_with('\n') { "" } else { " " };
    let line = format!("{space}{name}:{gap}{text};\n");
    if text.contains('\n') || fits(line.trim_end()) {
        return line;
    }
    let members: Vec<_> = text.split(" | ").map(|one| (String::new(), one.to_owned())).collect();
    format!("{space}{name}:{};\n", broken(&members, indent + 2))
}

/// Returns the members of a union, each on a line of its own behind its comment.
pub(super) fn broken(members: &[(String, String)], indent: usize) -> String {
    let space = " ".repeat(indent);
    let lines = members.iter().map(|(docs, text)| {
        let docs = comment(docs, indent);
        format!("\n{docs}{space}| {text}")
    });
    lines.collect()
}

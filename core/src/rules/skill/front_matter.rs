//! Front matter: the part of YAML that the standard of skills needs. A field has a text in one of
//! YAML's four forms, of which the line feeds are not kept, or a map of texts. What YAML would
//! refuse is read as it was meant: a colon in a text without quotes is part of the text.

use alloc::{string::String, vec::Vec};
use innerloop_json::IntoList;

/// A field of front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrontField {
    pub(super) key: String,
    /// Its text; that of a list is its items with blanks between.
    pub(super) value: String,
    /// Its own fields, if it is a map.
    pub(super) map: Vec<Self>,
}

/// Returns the front matter of a file and what is below it.
pub(super) fn parts(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches('\u{feff}').strip_prefix("---")?;
    let (head, rest) = rest.split_once("\n---")?;
    let (_, body) = rest.split_once('\n').unwrap_or_default();
    Some((head, body))
}

/// Returns the fields of front matter.
pub(super) fn fields(head: &str) -> Vec<FrontField> {
    let lines: Vec<&str> = head.lines().filter(|line| !line.trim().is_empty()).into_list();
    map_of(&lines, true)
}

/// Returns the fields that some lines hold; only those of the top may be maps themselves.
fn map_of(lines: &[&str], is_top: bool) -> Vec<FrontField> {
    let mut fields = Vec::new();
    let mut rest = lines;
    while let Some((line, behind)) = rest.split_first() {
        let depth = indent(line);
        // A list may stand as far left as its field.
        let is_more = |line: &&&str| indent(line) > depth || line.trim_start().starts_with("- ");
        let (nested, next) = behind.split_at(behind.iter().take_while(is_more).count());
        rest = next;
        let Some((key, value)) = key_of(line) else { continue };
        let mut field = FrontField { key: key.into(), ..FrontField::default() };
        let is_map = value.is_empty() && nested.first().is_some_and(|it| key_of(it).is_some());
        if is_top && is_map {
            field.map = map_of(nested, false);
        } else {
            // A sign that the text is in the lines below, where neither quotes nor comments are.
            let is_block = value.starts_with(['|', '>']);
            let mut text = String::from(if is_block { "" } else { value });
            for line in nested {
                let line = line.trim();
                text.push(' ');
                text.push_str(line.strip_prefix("- ").unwrap_or(line));
            }
            field.value = if is_block { text } else { unquoted(text.trim()) };
        }
        fields.push(field);
    }
    fields
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the key of a line, and what is behind its colon.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let is_key = !key.contains(' ') && !key.starts_with(['#', '"', '\'']);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then_some((key, value.trim()))
}

/// Returns a text without the quotes around it, or without the comment behind it.
fn unquoted(text: &str) -> String {
    // Characters and not texts: a search from behind for a text is long code.
    for (quote, escaped, plain) in [('"', "\\\"", "\""), ('\'', "''", "'")] {
        let inner = text.strip_prefix(quote).and_then(|text| text.rsplit_once(quote));
        if let Some((inner, _)) = inner {
            return inner.replace(escaped, plain).replace("\\n", " ");
        }
    }
    let text = if text.starts_with('#') { "" } else { text };
    text.split_once(" #").map_or(text, |(text, _)| text).trim_end().into()
}

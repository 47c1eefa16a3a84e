//! A call that the model is still writing: its subject, as far as the arguments tell it by now, and
//! its length. It only feeds the line about the current activity, so that a wrong guess does no
//! harm.

use super::super::{
    call_summary::{CallDescriber, CallDescription},
    number_format::counted,
    style::brief,
};
use innerloop_core::action::Action;
use serde_json::Value;

/// The bytes of the arguments that are read for the subject. Each piece parses all of them again,
/// so that they have to be few.
const HEAD: usize = 2_000;

/// A call that is not whole yet.
#[derive(Debug)]
pub(super) struct CallDraft {
    index: usize,
    /// The subject of the call.
    about: String,
    /// The beginning of the arguments.
    head: String,
    /// The line feeds in the arguments' strings.
    lines: u64,
    /// True if the last character begins an escape.
    is_escaped: bool,
}

impl CallDraft {
    /// Begins the call with that index, of which only the tool's name is known.
    pub(super) fn new(index: usize, name: &str) -> Self {
        let about = CallDescription::name(name).verb;
        Self { index, about, head: String::new(), lines: 0, is_escaped: false }
    }

    /// Returns whether it is the call with that index.
    pub(super) const fn is(&self, index: usize) -> bool {
        self.index == index
    }

    /// Adds a piece of the arguments.
    pub(super) fn add(&mut self, words: &CallDescriber, name: &str, text: &str) {
        // Counted in the raw JSON, where a line feed is `\n`: parsing it all again and again would
        // take quadratic time.
        for c in text.chars() {
            self.lines += u64::from(self.is_escaped && c == 'n');
            self.is_escaped = !self.is_escaped && c == '\\';
        }
        if self.head.len() < HEAD {
            self.head.push_str(text);
            if let Some(arguments) = completed(&self.head) {
                self.about = about(words, name, &arguments);
            }
        }
    }

    /// Returns what is being written, in at most that many characters.
    pub(super) fn label(&self, chars: usize) -> String {
        format!("writing {}", brief(&self.about, chars))
    }

    /// Returns its length by now, in lines.
    pub(super) fn length(&self) -> Option<String> {
        (self.lines > 0).then(|| counted(self.lines + 1, "line"))
    }
}

/// Returns the file that is written, or the call in words.
fn about(words: &CallDescriber, name: &str, arguments: &str) -> String {
    match words.action(name, arguments) {
        Some(Action::Write { path, .. } | Action::Edit { path, .. }) => path,
        Some(action) => words.phrase_of(&action).label(usize::MAX),
        None => {
            let value: Value = serde_json::from_str(arguments).unwrap_or_default();
            let first =
                value.as_object().and_then(|fields| fields.values().find_map(Value::as_str));
            let tool = CallDescription::name(name).verb;
            first.map_or_else(|| tool.clone(), |first| format!("{tool}: {first}"))
        }
    }
}

/// Completes the beginning of a JSON object: ends its last string where the text ends, and leaves
/// out any other value that is not whole. Returns none if that gives no object.
fn completed(beginning: &str) -> Option<String> {
    let mut open = Vec::new();
    let (mut in_string, mut escape) = (false, None);
    let mut comma = None;
    for (at, c) in beginning.char_indices() {
        match (in_string, c) {
            (true, _) if escape.is_some_and(|start| at < start + escaped(beginning, start)) => {}
            (true, '\\') => escape = Some(at),
            (_, '"') => in_string = !in_string,
            (false, '{') => open.push('}'),
            (false, '[') => open.push(']'),
            (false, '}' | ']') => drop(open.pop()),
            (false, ',') => comma = Some((at, closed(&open))),
            _ => {}
        }
    }
    let cut = escape.filter(|start| start + escaped(beginning, *start) > beginning.len());
    let whole = beginning.get(..cut.unwrap_or(beginning.len())).unwrap_or_default();
    let quote = if in_string { "\"" } else { "" };
    let before = comma.and_then(|(at, closed)| Some(beginning.get(..at)?.to_owned() + &closed));
    let tries = [Some(format!("{whole}{quote}{}", closed(&open))), before];
    tries
        .into_iter()
        .flatten()
        .find(|text| serde_json::from_str(text).is_ok_and(|value: Value| value.is_object()))
}

/// Returns the closing brackets, the innermost first.
fn closed(open: &[char]) -> String {
    open.iter().rev().collect()
}

/// Returns the number of bytes of the escape that begins there.
fn escaped(text: &str, start: usize) -> usize {
    if text.as_bytes().get(start + 1) == Some(&b'u') { 6 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_object_is_read_as_far_as_it_goes() {
        let whole = r#"{"file_path":"a\"b\\","n":[1,{"x":"y"}],"content":"\u00fc,\n}{"}"#;
        let keys = |text: &str| {
            let value: Value = serde_json::from_str(&completed(text)?).unwrap();
            Some(value.as_object()?.len())
        };
        let mut most = 0;
        for (end, _) in whole.char_indices().skip(1) {
            let beginning = whole.get(..end).unwrap();
            let Some(count) = keys(beginning) else { continue };
            assert!(count >= most, "{beginning}");
            most = count;
        }
        assert_eq!(most, 3);
        let cut = |text| completed(text).unwrap();
        assert_eq!(cut(r#"{"a":"b\u00f"#), r#"{"a":"b"}"#);
        assert_eq!(cut(r#"{"a":"b\\"#), r#"{"a":"b\\"}"#);
        assert_eq!(cut(r#"{"a":"b","c"#), r#"{"a":"b"}"#);
        assert_eq!(cut(r#"{"a":"b","c":tr"#), r#"{"a":"b"}"#);
        assert_eq!((completed(""), completed("[1"), completed("no")), (None, None, None));
    }
}

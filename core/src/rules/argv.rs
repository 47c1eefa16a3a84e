//! Commands that a model gives as a list of words, as it has learnt with other tools, where the
//! tool wants a command line: `["bash", "-lc", "ls"]`, or a program with its arguments.

use super::schema::has_type;
use alloc::string::String;
use innerloop_json::Value;

/// The name of the argument.
const COMMAND: &str = "command";

/// Replaces a list of words by a command line if the schema wants a text. Returns whether it did.
pub(crate) fn to_line(schema: &Value, arguments: &mut Value) -> bool {
    let wanted = schema.get("properties").and_then(|all| all.get(COMMAND));
    let Some(Value::Array(words)) = arguments.get(COMMAND) else { return false };
    // A host's tool may want a list; then it is right as it is.
    if wanted.is_none_or(|wanted| has_type(wanted, &Value::Array(words.clone()))) {
        return false;
    }
    let Some(line) = line(words) else { return false };
    let Value::Object(fields) = arguments else { return false };
    fields.insert(COMMAND.into(), Value::String(line));
    true
}

/// Returns the words as a shell reads them back; `None` if one is not a text.
fn line(words: &[Value]) -> Option<String> {
    // A shell within the shell would lose the variables and the folder that the agent's shell
    // keeps. Only these flags: with others, the third word need not be the command.
    if let [shell, how, line] = words
        && ["bash", "sh", "zsh", "/bin/bash", "/bin/sh"].contains(&shell.as_str()?)
        && ["-c", "-lc"].contains(&how.as_str()?)
    {
        return line.as_str().map(String::from);
    }
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push('\'');
        // Every word is quoted, whether it needs it or not: a word that came as an argument must
        // not become an operator or a pattern.
        for c in word.as_str()?.chars() {
            match c {
                '\'' => line.push_str("'\\''"),
                c => line.push(c),
            }
        }
        line.push('\'');
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_json::{from_str, to_string};

    #[test]
    fn a_list_of_words_becomes_a_line() {
        let schema = from_str(r#"{"properties":{"command":{"type":"string"}}}"#).unwrap();
        let listed = from_str(r#"{"properties":{"command":{"type":"array"}}}"#).unwrap();
        for (given, wanted) in [
            (r#"["bash","-lc","ls | wc"]"#, r#""ls | wc""#),
            (r#"["ls","a b","it's"]"#, r#""'ls' 'a b' 'it'\\''s'""#),
            (r#"["bash","run.sh"]"#, r#""'bash' 'run.sh'""#),
            (r#"["ls",1]"#, r#"["ls",1]"#),
            (r#""ls""#, r#""ls""#),
        ] {
            let json = |command: &str| alloc::format!(r#"{{"command":{command},"x":1}}"#);
            let mut value: Value = from_str(&json(given)).unwrap();
            assert_eq!(to_line(&schema, &mut value), given != wanted, "{given}");
            let told = value.get("command").map(to_string);
            assert_eq!(told.as_deref(), Some(wanted), "{given}");
            let mut value: Value = from_str(&json(given)).unwrap();
            assert!(!to_line(&listed, &mut value) && !to_line(&Value::Null, &mut value));
        }
    }
}

//! Names of arguments in other agents' tools. A model that was trained with those tools uses their
//! names here, too; a name is translated where it can mean only one of the tool's arguments.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use innerloop_json::{IntoList, Map, Value, from_str, to_string};

/// Names with the same meaning in the tools of different agents, one meaning a line.
// A name may stand in several lines: `file_path` is a file and `path` a file or a folder. Which one
// is meant is decided by what the tool's schema still misses.
const SAME: &str = "\
file_path path file filename file_name filepath target_file absolute_path
path dir directory dir_path directory_path folder target_directory
old_string old_str old_text old search
new_string new_str new_text new replace replacement
content contents file_text file_content text
command cmd
pattern query regex regexp search_pattern
pattern glob glob_pattern
glob_filter glob include include_pattern file_pattern
replace_all all allow_multiple
paths files file_paths
patch input diff
url uri
ignore_case case_insensitive i";

/// An argument that was given under another tool's name: that name, and this tool's.
pub(crate) type ArgumentAlias = (String, String);

/// Returns the arguments under the tool's own names, and which were renamed; `None` if none was.
pub(crate) fn known(schema: &Value, arguments: &str) -> Option<(String, Vec<ArgumentAlias>)> {
    let mut value: Value = from_str(arguments).ok()?;
    let mut renamed = Vec::new();
    rename(schema, &mut value, &mut renamed);
    (!renamed.is_empty()).then(|| (to_string(&value), renamed))
}

fn rename(schema: &Value, value: &mut Value, renamed: &mut Vec<ArgumentAlias>) {
    match value {
        Value::Object(fields) => {
            let found = renames(schema, fields);
            if !found.is_empty() {
                move_all(fields, &found);
                // The objects of a list mostly share their faults, and the note for the model
                // should tell each once.
                for alias in found {
                    if !renamed.contains(&alias) {
                        renamed.push(alias);
                    }
                }
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            if let Some(properties) = properties {
                for (name, property) in properties {
                    if let Some(value) = fields.get_mut(name) {
                        rename(property, value, renamed);
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(each) = schema.get("items") {
                items.iter_mut().for_each(|item| rename(each, item, renamed));
            }
        }
        _ => {}
    }
}

/// Returns the fields that are not named as in the schema, each with the property that it stands
/// for: the only missing one of the same meaning. If the schema allows other fields, only required
/// properties are looked for.
fn renames(schema: &Value, fields: &Map<Value>) -> Vec<ArgumentAlias> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    // A schema that allows further fields may want this one as it is. So it is renamed only where
    // the call would otherwise be refused.
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let missing = |name: &&str| {
        let is_given = fields.get(name).is_some_and(|value| !value.is_null());
        !is_given && (is_closed || is_required(name))
    };
    let mut found: Vec<ArgumentAlias> = Vec::new();
    for name in fields.keys().filter(|name| !properties.contains_key(name)) {
        let is_same = |known: &&str| plain(name) == plain(known);
        let is_meant = |known: &&str| mean_the_same(name, known);
        // The same words in another case, as `filePath`, are certain and go before the table.
        let same = properties.keys().filter(missing).find(is_same);
        let mut meant = properties.keys().filter(missing).filter(is_meant);
        let only = match (meant.next(), meant.next()) {
            (Some(known), None) => Some(known),
            _ => None,
        };
        if let Some(known) = same.or(only) {
            found.push((name.to_string(), known.to_string()));
        }
    }
    // Two fields for one property: either could be meant, so neither is renamed.
    let targets: Vec<String> = found.iter().map(|(_, known)| known.clone()).into_list();
    found.retain(|(_, known)| targets.iter().filter(|target| *target == known).count() == 1);
    found
}

fn mean_the_same(name: &str, known: &str) -> bool {
    let (name, known) = (plain(name), plain(known));
    let has = |line: &str, word: &str| line.split(' ').any(|known| known == word);
    SAME.lines().any(|line| has(line, &name) && has(line, &known))
}

/// Returns a name in snake case.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() || c == '-' {
            plain.push('_');
        }
        if c != '-' {
            plain.push(c.to_ascii_lowercase());
        }
    }
    plain.trim_matches('_').to_string()
}

/// Puts the fields under their new names.
fn move_all(fields: &mut Map<Value>, renames: &[ArgumentAlias]) {
    for (name, value) in fields.take() {
        let new = renames.iter().find(|(old, _)| *old == name).map(|(_, known)| known.clone());
        match new {
            Some(known) => drop(fields.insert(known, value)),
            // A `null` counts as absent, and must not overwrite the value that was renamed to its
            // name.
            None if value.is_null() && renames.iter().any(|(_, known)| *known == name) => {}
            None => drop(fields.insert(name, value)),
        }
    }
}

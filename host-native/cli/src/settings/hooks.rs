//! The table `[hooks]` of a settings file: the commands that are asked at points of the loop. They
//! run on the user's machine, so that a project's file names them in full before it is trusted.

use super::table::unknown;
use innerloop_core::{
    config::HookPoint,
    json::{from_str, to_string},
};
use innerloop_host::local::HookCommand;
use serde_json::{Value as Json, json};
use std::time::Duration;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The names of the points.
const POINTS: [&str; 8] = [
    "submit",
    "before_model",
    "before_tool",
    "after_tool",
    "after_iteration",
    "before_stop",
    "outbound",
    "compact",
];

/// The keys that an entry may have.
const KEYS: [&str; 3] = ["command", "matcher", "timeout"];

/// The most characters of a command line, which is shown whole where it is asked about.
pub(super) const MOST_COMMAND: usize = 1_000;

/// Reads the table. `at` gives an error its place in the file.
///
/// # Errors
/// The first fault.
pub(super) fn read(
    table: &DeTable<'_>,
    at: &dyn Fn(usize, &str) -> String,
) -> Result<Vec<HookCommand>, String> {
    let mut hooks = Vec::new();
    for (key, entries) in table {
        let name = key.get_ref().as_ref();
        let point = from_str::<HookPoint>(&json!(name).to_string());
        let point = point.map_err(|_| at(key.span().start, &unknown(name, POINTS)))?;
        let wrong = || at(entries.span().start, &format!("a list belongs here: [[hooks.{name}]]"));
        for entry in entries.get_ref().as_array().ok_or_else(wrong)? {
            hooks.push(hook(point, entry, at)?);
        }
    }
    Ok(hooks)
}

fn hook(
    point: HookPoint,
    entry: &Spanned<DeValue<'_>>,
    at: &dyn Fn(usize, &str) -> String,
) -> Result<HookCommand, String> {
    let start = entry.span().start;
    let fields = entry.get_ref().as_table().ok_or_else(|| at(start, "a table belongs here"))?;
    let (command, matcher, timeout) = (String::new(), None, HookCommand::TIMEOUT);
    let mut hook = HookCommand { point, command, matcher, timeout };
    for (key, value) in fields {
        let (name, text) = (key.get_ref().as_ref(), value.get_ref().as_str());
        let wrong = |what: &str| at(value.span().start, &format!("{name} takes {what}"));
        match name {
            "command" => {
                // One line, since it is shown as one to whoever is asked to trust it.
                let is_line = |text: &&str| {
                    let length = text.chars().count();
                    length <= MOST_COMMAND && !text.contains(char::is_control)
                };
                let what = format!("a command in one line of up to {MOST_COMMAND} characters");
                hook.command = text.filter(is_line).ok_or_else(|| wrong(&what))?.trim().to_owned();
            }
            "matcher" if !HookCommand::sees_tools(point) => {
                let why = "only before_tool and after_tool are about a tool";
                return Err(at(key.span().start, why));
            }
            "matcher" => {
                let text = text.filter(|text| !text.trim().is_empty());
                hook.matcher = Some(text.ok_or_else(|| wrong("names of tools"))?.to_owned());
            }
            "timeout" => {
                let seconds = match value.get_ref() {
                    DeValue::Integer(number) => {
                        u32::from_str_radix(number.as_str(), number.radix()).ok()
                    }
                    _ => None,
                };
                let seconds = seconds.filter(|seconds| *seconds > 0);
                let seconds = seconds.ok_or_else(|| wrong("a number of seconds from 1 on"))?;
                hook.timeout = Duration::from_secs(seconds.into());
            }
            _ => return Err(at(key.span().start, &unknown(name, KEYS))),
        }
    }
    if hook.command.is_empty() {
        return Err(at(start, "a hook needs a command"));
    }
    Ok(hook)
}

/// Returns the name of a point.
pub(super) fn name(point: HookPoint) -> String {
    to_string(&point).trim_matches('"').to_owned()
}

/// Returns a hook as settings have it.
pub(super) fn value(hook: &HookCommand) -> Json {
    let mut value = json!({"command": hook.command, "timeout": hook.timeout.as_secs()});
    if let (Some(fields), Some(matcher)) = (value.as_object_mut(), &hook.matcher) {
        fields.insert("matcher".to_owned(), json!(matcher));
    }
    value
}

/// Returns a hook as people are shown it.
pub(super) fn shown(hook: &HookCommand) -> String {
    let tools = hook.matcher.as_ref().map(|tools| format!("{tools}, ")).unwrap_or_default();
    format!("{} ({tools}{} s)", hook.command, hook.timeout.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j21_every_point_has_a_name_here() {
        for point in POINTS {
            let known = from_str::<HookPoint>(&json!(point).to_string()).unwrap();
            assert_eq!(name(known), point);
        }
        assert!(from_str::<HookPoint>("\"after_stop\"").is_err());
    }
}

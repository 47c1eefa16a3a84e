//! The event that a hook's command reads on standard input, and the verdict that its exit code and
//! its output give.

use super::super::hook_command::{HookCommand, HookSite};
use innerloop_core::{
    config::HookPoint,
    id::AgentId,
    input::HookReply,
    json::{Json, JsonObject, from_str},
    output::HookRun,
};

/// The exit code of a command that denies.
const DENIES: i32 = 2;

/// The most characters that count of what a command says on standard error.
const MOST_WORDS: usize = 10_000;

/// The reason of a denial that gives none.
const NO_REASON: &str = "a hook of the user's denies this";

/// The event that commands are asked about. What one puts in the place of a text or of arguments is
/// what the next one sees.
pub(super) struct HookEvent {
    point: HookPoint,
    /// The tool's name; empty where there is no call.
    tool: String,
    fields: JsonObject,
    replaced: Option<Json>,
}

impl HookEvent {
    pub(super) fn new(site: &HookSite, agent: AgentId, run: &HookRun) -> Self {
        let folder = site.folder.to_string_lossy();
        let mut fields = JsonObject(vec![
            ("point".to_owned(), Json::of(&run.point)),
            ("session_id".to_owned(), Json::of(&site.session)),
            ("agent".to_owned(), Json::of(&agent)),
            ("cwd".to_owned(), Json::of(&*folder)),
        ]);
        let mut tool = String::new();
        // The payload of a call or a fold is an object; elsewhere it is a text.
        match from_str::<JsonObject>(run.payload.text()) {
            Ok(payload) => {
                for (name, value) in payload.0 {
                    match name.as_str() {
                        "name" => {
                            tool = from_str(value.text()).unwrap_or_default();
                            fields.set("tool_name", value);
                        }
                        "arguments" => fields.set("tool_input", unquoted(value)),
                        name => fields.set(name, value),
                    }
                }
            }
            Err(_) => fields.set("text", run.payload.clone()),
        }
        Self { point: run.point, tool, fields, replaced: None }
    }

    /// Returns whether a command is asked about it.
    pub(super) fn concerns(&self, command: &HookCommand) -> bool {
        let names = |pattern: &str| match pattern.trim().strip_suffix('*') {
            Some(begin) => self.tool.starts_with(begin),
            None => self.tool == pattern.trim(),
        };
        let matches = command.matcher.as_ref().is_none_or(|tools| tools.split('|').any(names));
        self.point == command.point && (matches || !HookCommand::sees_tools(self.point))
    }

    /// Returns the event as commands read it.
    pub(super) fn text(&self) -> String {
        format!("{}\n", self.fields.to_json().text())
    }

    pub(super) fn replace(&mut self, value: Json) {
        let field = if self.point == HookPoint::BeforeTool { "tool_input" } else { "text" };
        self.fields.set(field, value.clone());
        self.replaced = Some(value);
    }

    /// Returns what stands in the place of what the first command saw, if anything does.
    pub(super) fn replaced(self) -> Option<Json> {
        self.replaced
    }
}

/// Returns arguments as JSON; free text stays a text.
fn unquoted(arguments: Json) -> Json {
    let inner = from_str::<String>(arguments.text()).ok();
    inner.and_then(|inner| Json::parse(inner).ok()).unwrap_or(arguments)
}

/// Returns the verdict of a command that has ended by itself. `out` is what it printed, and `None`
/// if that was too much.
pub(super) fn verdict(code: i32, out: Option<&[u8]>, err: &str) -> HookReply {
    let err: String = err.trim().chars().take(MOST_WORDS).collect();
    match (code, out) {
        (0, Some(out)) => said(&String::from_utf8_lossy(out)),
        (0, None) => failed("it printed too much"),
        (DENIES, _) => denial(err),
        (code, _) if err.is_empty() => failed(&format!("it ended with exit code {code}")),
        (code, _) => failed(&format!("it ended with exit code {code}: {err}")),
    }
}

/// Returns the verdict that a command has printed. A formatter's own words are none: only an object
/// is read.
fn said(out: &str) -> HookReply {
    let out = out.trim();
    if !out.starts_with('{') {
        return HookReply::Allow;
    }
    let verdict = match from_str::<JsonObject>(out) {
        Ok(verdict) => verdict,
        Err(error) => return failed(&format!("its verdict is no JSON: {error}")),
    };
    let text = |name| verdict.field(name).and_then(|value| from_str::<String>(value.text()).ok());
    match text("decision").as_deref() {
        Some("allow" | "approve") => HookReply::Allow,
        // Also by the word that hooks of Claude Code have for it: such a hook would otherwise
        // fail, and what it wants to stop would go on.
        Some("deny" | "block") => denial(text("reason").unwrap_or_default()),
        Some("replace") => match (verdict.field("text"), verdict.field("tool_input")) {
            (Some(value), None) | (None, Some(value)) => HookReply::Replace(value.clone()),
            _ => failed("a decision to replace takes either text or tool_input"),
        },
        None if verdict.field("decision").is_none() => HookReply::Allow,
        _ => failed("its decision is none of allow, deny and replace"),
    }
}

fn denial(reason: String) -> HookReply {
    HookReply::Deny { reason: if reason.is_empty() { NO_REASON.to_owned() } else { reason } }
}

fn failed(why: &str) -> HookReply {
    HookReply::Failed { message: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use innerloop_core::id::SessionId;

    fn deny(reason: &str) -> HookReply {
        HookReply::Deny { reason: reason.to_owned() }
    }

    #[test]
    fn j21_a_verdict_is_an_exit_code_or_an_object() {
        let replace = |json: &str| HookReply::Replace(Json::parse(json).unwrap());
        for (code, out, err, expected) in [
            (0, "", "", HookReply::Allow),
            (0, "1 file reformatted\n", "noise", HookReply::Allow),
            (0, r#"{"decision":"allow"}"#, "", HookReply::Allow),
            (0, r#"{"continue":true}"#, "", HookReply::Allow),
            (0, r#"{"decision":"deny","reason":"no"}"#, "", deny("no")),
            (0, r#"{"decision":"block"}"#, "", deny(NO_REASON)),
            (0, r#"{"decision":"replace","text":"b"}"#, "", replace(r#""b""#)),
            (
                0,
                "\n{\"decision\":\"replace\",\"tool_input\":{\"a\":1.50}}",
                "",
                replace(r#"{"a":1.50}"#),
            ),
            (2, r#"{"decision":"allow"}"#, " not that\n", deny("not that")),
            (2, "", "", deny(NO_REASON)),
        ] {
            assert_eq!(verdict(code, Some(out.as_bytes()), err), expected, "{code} {out}");
        }
        for (code, out) in [
            (0, r#"{"decision":"maybe"}"#),
            (0, r#"{"decision":"replace"}"#),
            (0, r#"{"decision":1}"#),
            (0, "{not json"),
            (1, ""),
            (127, r#"{"decision":"allow"}"#),
        ] {
            let verdict = verdict(code, Some(out.as_bytes()), "");
            assert!(matches!(verdict, HookReply::Failed { .. }), "{code} {out}: {verdict:?}");
        }
        assert!(matches!(verdict(0, None, ""), HookReply::Failed { .. }));
    }

    #[test]
    fn j21_a_matcher_names_tools_by_their_whole_names_or_their_beginnings() {
        let site = HookSite {
            folder: "/w".into(),
            session: SessionId("s".into()),
            secrets: Vec::new(),
            fail_closed: false,
        };
        let asked = |matcher: &str, tool: &str| {
            let payload = format!(r#"{{"call_id":"c","name":"{tool}","arguments":"{{}}"}}"#);
            let payload = Json::parse(payload).unwrap();
            let run = HookRun { point: HookPoint::BeforeTool, payload };
            let command = HookCommand {
                point: HookPoint::BeforeTool,
                command: "true".to_owned(),
                matcher: Some(matcher.to_owned()),
                timeout: HookCommand::TIMEOUT,
            };
            HookEvent::new(&site, AgentId::ROOT, &run).concerns(&command)
        };
        for (matcher, tool, is_asked) in [
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("Write | Edit", "Edit", true),
            ("mcp__*", "mcp__git", true),
            ("*", "Bash", true),
            ("Write|Edit", "Bash", false),
        ] {
            assert_eq!(asked(matcher, tool), is_asked, "{matcher} {tool}");
        }
    }
}

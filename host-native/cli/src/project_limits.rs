//! The bounds of a project's settings: they may limit the agent further, and never less, whatever
//! the file says. A project's file may come from anybody, and even a trusted one must not widen
//! what the user has granted.

use innerloop_core::config::{AskAbout, SessionConfig};
use serde_json::{Map, Value, json};

/// A project's patch of the configuration.
pub(super) struct ProjectPatch(Map<String, Value>);

impl ProjectPatch {
    /// Reads the text of a patch.
    pub(super) fn read(patch: &str) -> Option<Self> {
        serde_json::from_str(patch).ok().map(Self)
    }

    /// Returns its choice of the model alone. That comes first, since limits depend on the model.
    pub(super) fn model(&self) -> String {
        let name = self.0.get("model").and_then(|model| model.get("name"));
        name.map_or_else(|| json!({}), |name| json!({"model": {"name": name}})).to_string()
    }

    /// Returns the patch without everything that would widen the granted configuration.
    pub(super) fn within(mut self, granted: &SessionConfig) -> String {
        let (limits, model) = (granted.limits, &granted.model);
        // For these two fields 0 means no limit, so that it is never lower.
        let is_lower = |value: &Value, most: u32| {
            value.as_u64().is_some_and(|value| value > 0 && (most == 0 || value <= u64::from(most)))
        };
        let is_less =
            |value: &Value, most: u32| value.as_u64().is_some_and(|value| value <= u64::from(most));
        self.keep("limits", "max_turns", |value| is_lower(value, limits.max_turns));
        let rounds = limits.max_tool_rounds_per_input;
        self.keep("limits", "max_tool_rounds_per_input", |value| is_lower(value, rounds));
        self.keep("model", "max_output_tokens", |value| is_less(value, model.max_output_tokens));
        self.keep("model", "context_window", |value| is_less(value, model.context_window));
        let asked = rank(granted.approval.ask);
        self.keep("approval", "ask", |value| {
            // An unknown level ranks lowest, and is thus dropped unless nothing is asked about.
            let wanted = match value.as_str() {
                Some("programs") => AskAbout::Programs,
                Some("changes") => AskAbout::Changes,
                _ => AskAbout::Nothing,
            };
            rank(wanted) >= asked
        });
        Value::Object(self.0).to_string()
    }

    /// Removes a field unless its value fits.
    fn keep(&mut self, group: &str, name: &str, fits: impl FnOnce(&Value) -> bool) {
        let Some(fields) = self.0.get_mut(group).and_then(Value::as_object_mut) else { return };
        if fields.get(name).is_some_and(|value| !fits(value)) {
            fields.remove(name);
        }
    }
}

/// Returns the strictness of a level of approval.
const fn rank(asks: AskAbout) -> u8 {
    match asks {
        AskAbout::Nothing => 0,
        AskAbout::Programs => 1,
        AskAbout::Changes => 2,
        AskAbout::Everything => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rest of a patch within a granted configuration.
    fn within(granted: &SessionConfig, patch: &Value) -> Value {
        let narrowing = ProjectPatch::read(&patch.to_string()).unwrap();
        serde_json::from_str(&narrowing.within(granted)).unwrap()
    }

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let mut granted = SessionConfig::default();
        for (most, value, is_kept) in
            [(0, 0, false), (0, 7, true), (9, 0, false), (9, 9, true), (9, 10, false)]
        {
            granted.limits.max_turns = most;
            let found = within(&granted, &json!({"limits": {"max_turns": value}}));
            let want = if is_kept { json!({"max_turns": value}) } else { json!({}) };
            assert_eq!(found, json!({"limits": want}), "{value} where {most} was granted");
        }
        granted.model.context_window = 1000;
        for (value, is_kept) in [(1000, true), (1001, false)] {
            let found = within(&granted, &json!({"model": {"context_window": value}}));
            assert_eq!(found["model"].get("context_window").is_some(), is_kept, "{value}");
        }
    }

    #[test]
    fn approvals_are_asked_for_as_often_or_more() {
        let ask = [AskAbout::Nothing, AskAbout::Programs, AskAbout::Changes, AskAbout::Everything];
        for (at, granted) in ask.into_iter().enumerate() {
            let mut config = SessionConfig::default();
            config.approval.ask = granted;
            let kept = ["nothing", "programs", "changes"].map(|word| {
                within(&config, &json!({"approval": {"ask": word}}))["approval"] != json!({})
            });
            assert_eq!(kept, [at == 0, at <= 1, at <= 2], "{granted:?}");
        }
    }
}

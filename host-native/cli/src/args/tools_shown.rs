//! The tools that requests show: read from `--tools-shown` or the setting `tools_shown`, which
//! share this parser.

use innerloop_core::{json::to_string, tool::ToolsShown};
use serde_json::Value;

/// Parses the value of an option or a setting.
///
/// # Errors
/// The values that are accepted, as a sentence for the user.
pub(crate) fn parse(text: &str) -> Result<ToolsShown, String> {
    match text.trim() {
        "all" => Ok(ToolsShown::All),
        "staged" => Ok(ToolsShown::Staged),
        number => number
            .parse()
            .map(ToolsShown::Deferred)
            .map_err(|_| "give all, staged, or the number of tools".to_owned()),
    }
}

/// Returns the value as the configuration has it.
pub(crate) fn field(shown: ToolsShown) -> Value {
    serde_json::from_str(&to_string(&shown)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_told_apart() {
        let cases = [
            ("all", Some(r#""all""#)),
            (" staged", Some(r#""staged""#)),
            ("12", Some(r#"{"deferred":12}"#)),
            ("0", Some(r#"{"deferred":0}"#)),
            ("-1", None),
            ("some", None),
        ];
        for (text, want) in cases {
            let field = parse(text).ok().map(|shown| field(shown).to_string());
            assert_eq!(field.as_deref(), want, "{text}");
        }
    }
}

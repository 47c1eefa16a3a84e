//! The point at which a conversation is summed up so that it fits the model: read from `--compact`
//! or the setting `compact`, and turned into a patch of the configuration's `compaction`. Options
//! and settings share this one parser, so that both accept the same words.

use serde_json::{Value, json};

/// The point at which a conversation is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompactionTrigger {
    /// As the preset has it.
    Auto,
    /// Never.
    Off,
    /// When so much of the window is used, in percent.
    Percent(u32),
    /// When so many tokens are used.
    Used(u32),
    /// When so many tokens are left.
    Left(u32),
}

impl CompactionTrigger {
    /// Parses the value of an option or a setting.
    ///
    /// # Errors
    /// The values that are accepted, as a sentence for the user.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let read = match text {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            _ => match text.strip_prefix('-') {
                Some(left) => tokens(left).map(Self::Left),
                // A plain number up to 100 is a percentage: nobody sums up after 75 tokens.
                None => match number(text.strip_suffix('%').unwrap_or(text)) {
                    Some(percent @ 1..=100) => Some(Self::Percent(percent)),
                    _ => tokens(text).filter(|tokens| *tokens > 100).map(Self::Used),
                },
            },
        };
        read.ok_or_else(|| {
            "give auto, off, a percentage such as 75, tokens that are used such as 120k, or \
             tokens that are left such as -20k"
                .to_owned()
        })
    }

    /// Returns a patch of `compaction` in the configuration; none if the preset decides.
    pub(crate) fn patch(self) -> Option<Value> {
        let (from, to) = match self {
            Self::Auto => return None,
            Self::Off => return Some(json!({"auto": [], "on_overflow": "warn"})),
            Self::Percent(percent) => {
                (json!({"percent": percent}), json!({"percent": part(percent)}))
            }
            Self::Used(used) => (json!({"used": used}), json!({"used": part(used)})),
            Self::Left(left) => (json!({"left": left}), json!({"left": left.saturating_mul(3)})),
        };
        let tier = json!({"from": from, "to": to, "step": "summary"});
        Some(json!({"auto": [tier], "on_overflow": "compact_retry_once"}))
    }
}

/// Two thirds of a number: the size that a summary reduces the conversation to.
const fn part(of: u32) -> u32 {
    // Dividing first keeps the product in range for every `u32`.
    of / 3 * 2 + of % 3 / 2
}

/// Parses a number of tokens; a `k` after it stands for thousands.
fn tokens(text: &str) -> Option<u32> {
    let (digits, times) = match text.strip_suffix('k') {
        Some(thousands) => (thousands, 1_000),
        None => (text, 1),
    };
    number(digits)?.checked_mul(times).filter(|tokens| *tokens > 0)
}

/// Parses digits alone. `str::parse` would also accept a `+`.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_tokens_used_and_tokens_left_are_told_apart() {
        let good = [
            ("auto", CompactionTrigger::Auto),
            ("off", CompactionTrigger::Off),
            ("75", CompactionTrigger::Percent(75)),
            ("80%", CompactionTrigger::Percent(80)),
            ("120k", CompactionTrigger::Used(120_000)),
            ("120000", CompactionTrigger::Used(120_000)),
            ("-20k", CompactionTrigger::Left(20_000)),
            ("-16384", CompactionTrigger::Left(16_384)),
        ];
        for (text, read) in good {
            assert_eq!(CompactionTrigger::parse(text), Ok(read), "{text}");
        }
        for text in ["", "0", "-0", "+5", "-", "k", "75.5", "120K", "99999999k", "some", "--5"] {
            assert!(CompactionTrigger::parse(text).unwrap_err().contains("-20k"), "{text}");
        }
    }

    #[test]
    fn each_leads_to_a_tier_or_to_what_the_preset_has() {
        let tier =
            |compact: CompactionTrigger| compact.patch().map(|patch| patch["auto"][0].to_string());
        assert_eq!(CompactionTrigger::Auto.patch(), None);
        assert_eq!(tier(CompactionTrigger::Off).as_deref(), Some("null"));
        let want = r#"{"from":{"percent":75},"step":"summary","to":{"percent":50}}"#;
        assert_eq!(tier(CompactionTrigger::Percent(75)).as_deref(), Some(want));
        let want = r#"{"from":{"left":20000},"step":"summary","to":{"left":60000}}"#;
        assert_eq!(tier(CompactionTrigger::Left(20_000)).as_deref(), Some(want));
        for percent in 1..=100 {
            assert!(part(percent) < percent, "{percent}");
        }
    }
}

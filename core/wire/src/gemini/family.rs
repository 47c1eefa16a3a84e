//! Differences between the generations of Gemini models. A model's name tells the generation; one
//! that tells nothing counts as a new model's.

use alloc::string::String;

/// A generation of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeminiGeneration {
    /// Models that do not think.
    Older,
    /// Gemini 2.5: thinking within a budget of tokens.
    Budget,
    /// Gemini 3 and later: thinking at a level, signatures that must come back.
    Level,
}

/// The amount of thinking that a model is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiThinking {
    /// That many tokens.
    Budget(i64),
    /// That level.
    Level(String),
}

impl GeminiGeneration {
    /// Returns the generation of the model of that name.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        if let Some(version) = name.split("gemini-").skip(1).last() {
            let mut digits = version.split(|c: char| !c.is_ascii_digit());
            let mut number = || digits.next()?.parse::<u32>().ok();
            return match (number(), number()) {
                (Some(0 | 1), _) => Self::Older,
                (Some(2), Some(minor)) if minor >= 5 => Self::Budget,
                (Some(2), _) => Self::Older,
                _ => Self::Level,
            };
        }
        let is_older = ["gemma", "tunedmodels/", "learnlm"].iter().any(|part| name.contains(part));
        if is_older { Self::Older } else { Self::Level }
    }

    /// Returns the amount of thinking for an effort; `None` where the model has no such setting.
    /// The budgets are those that the provider's own OpenAI-like endpoint takes.
    pub(super) fn thinking(self, name: &str, effort: &str) -> Option<GeminiThinking> {
        let name = name.to_ascii_lowercase();
        let is_pro = name.contains("-pro");
        let effort = effort.trim().to_ascii_lowercase();
        match self {
            Self::Older => None,
            Self::Budget => Some(GeminiThinking::Budget(match effort.as_str() {
                // 2.5 Pro cannot stop thinking: 128 is its smallest budget.
                "none" | "off" if is_pro => 128,
                "none" | "off" => 0,
                "minimal" | "low" => 1_024,
                "medium" => 8_192,
                "high" => 24_576,
                "xhigh" | "max" if is_pro => 32_768,
                "xhigh" | "max" => 24_576,
                // -1 leaves the amount to the model.
                other => other.parse().unwrap_or(-1),
            })),
            Self::Level => {
                // Pro models and 3.7 Flash refuse `minimal`, and 3 Pro has no `medium`: the nearest
                // level takes their place.
                let has_no_minimal = is_pro || name.contains("3.7-flash");
                let has_no_medium = name.contains("gemini-3-pro");
                Some(GeminiThinking::Level(match effort.as_str() {
                    "none" | "off" | "minimal" if has_no_minimal => "low".into(),
                    "none" | "off" => "minimal".into(),
                    "medium" if has_no_medium => "high".into(),
                    "xhigh" | "max" => "high".into(),
                    _ => effort,
                }))
            }
        }
    }
}

/// Returns whether a model's name is that of a resource of Vertex AI.
pub(super) fn is_vertex(name: &str) -> bool {
    name.starts_with("projects/") || name.starts_with("publishers/")
}

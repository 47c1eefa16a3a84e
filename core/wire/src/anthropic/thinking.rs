//! The form in which a Claude model is asked to think: by effort or by budget. The model's name
//! decides, since each form is an error for models of the other.

use innerloop_types::model::{ModelConfig, ToolChoice};

/// A version, such as (4, 6).
type ModelVersion = (u32, u32);

/// The first version that decides itself how much to think.
const ADAPTIVE: ModelVersion = (4, 6);

/// The first version that can think at all.
const THINKS: ModelVersion = (3, 7);

/// The first version that knows the effort `xhigh`; those before have `max` in its place.
const XHIGH: ModelVersion = (4, 7);

/// The versions from which on a family differs. A family that is not in the list never does.
struct ClaudeFamily {
    name: &'static str,
    /// The first version whose thinking cannot be switched off.
    always_thinks: ModelVersion,
    /// The first version that refuses a forced choice of tools.
    no_forced_choice: ModelVersion,
}

const FAMILIES: [ClaudeFamily; 4] = [
    ClaudeFamily { name: "opus", always_thinks: (5, 5), no_forced_choice: (5, 5) },
    ClaudeFamily { name: "sonnet", always_thinks: (5, 5), no_forced_choice: NEVER },
    ClaudeFamily { name: "fable", always_thinks: (5, 0), no_forced_choice: (5, 1) },
    ClaudeFamily { name: "mythos", always_thinks: (5, 0), no_forced_choice: (5, 1) },
];

const NEVER: ModelVersion = (u32::MAX, 0);

/// Budgets in tokens by effort, for models that take no effort.
const BUDGETS: [(&str, u32); 6] = [
    ("minimal", 1_024),
    ("low", 2_048),
    ("medium", 8_192),
    ("high", 16_384),
    ("xhigh", 32_768),
    ("max", 32_768),
];

/// The smallest budget that is accepted.
const LEAST_BUDGET: u32 = 1_024;

/// The setting for thinking in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnthropicThinking<'a> {
    /// Nothing: the model's own default.
    Unsaid,
    /// This effort; thinking as the endpoint likes.
    Effort(&'a str),
    /// This effort, and as much thinking as the model finds right.
    Adaptive(&'a str),
    /// At most so many tokens of thinking.
    Budget(u32),
    /// None.
    Disabled,
}

/// Returns the setting for the effort that the configuration asks for.
pub(super) fn thinking(model: &ModelConfig) -> AnthropicThinking<'_> {
    let Some(effort) = model.reasoning_effort.as_deref() else { return AnthropicThinking::Unsaid };
    // Another maker's model behind this protocol has no version here: it is told the effort alone.
    let Some(version) = version(&model.name) else { return AnthropicThinking::Effort(effort) };
    if version < ADAPTIVE {
        return if version < THINKS { AnthropicThinking::Unsaid } else { budget(model, effort) };
    }
    match effort {
        "none" if version < from(&model.name, |family| family.always_thinks) => {
            AnthropicThinking::Disabled
        }
        // Where thinking cannot be switched off, the lowest effort comes nearest.
        "none" | "minimal" => AnthropicThinking::Adaptive("low"),
        "xhigh" if version < XHIGH => AnthropicThinking::Adaptive("max"),
        effort => AnthropicThinking::Adaptive(effort),
    }
}

/// Returns the budget for an effort, which leaves a quarter of the output limit to the answer.
fn budget<'a>(model: &ModelConfig, effort: &'a str) -> AnthropicThinking<'a> {
    let known = BUDGETS.iter().find(|(name, _)| *name == effort);
    let Some(&(_, tokens)) = known else { return AnthropicThinking::Unsaid };
    let tokens = tokens.min(model.max_output_tokens / 4 * 3);
    // The provider refuses a smaller budget, and a forced choice of tools beside any.
    if tokens < LEAST_BUDGET || is_forced(&model.tool_choice) {
        return AnthropicThinking::Unsaid;
    }
    AnthropicThinking::Budget(tokens)
}

/// Returns the choice of tools, or `Auto` where the model refuses a forced one.
pub(super) fn tool_choice(model: &ModelConfig) -> &ToolChoice {
    let refused = from(&model.name, |family| family.no_forced_choice);
    match version(&model.name) {
        Some(version) if version >= refused && is_forced(&model.tool_choice) => &ToolChoice::Auto,
        _ => &model.tool_choice,
    }
}

const fn is_forced(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Required | ToolChoice::Tool(_))
}

fn from(name: &str, of: impl Fn(&ClaudeFamily) -> ModelVersion) -> ModelVersion {
    FAMILIES.iter().find(|family| name.contains(family.name)).map_or(NEVER, of)
}

/// Returns the version in a name such as `claude-sonnet-4-5-20250929`, `claude-3-7-sonnet-latest`
/// or `anthropic/claude-4.6-opus`; `None` if it is no Claude's.
fn version(name: &str) -> Option<ModelVersion> {
    let (_, name) = name.split_once("claude")?;
    let mut numbers = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .skip_while(|word| word.parse::<u32>().is_err())
        .map_while(|word| word.parse::<u32>().ok())
        // A date is not a version.
        .filter(|number| *number < 100);
    Some((numbers.next()?, numbers.next().unwrap_or_default()))
}

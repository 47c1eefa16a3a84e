//! A model family as data: its prompt, its tools and its abilities. Each family is one value of
//! this type in a module of its own.

use super::row::ToolRow;

/// The properties of a model family.
pub(super) struct ModelFamily {
    /// The instructions that the system prompt begins with.
    pub(super) base_prompt: &'static str,
    /// The names of the project's instruction files that it reads.
    pub(super) docs: &'static [&'static str],
    /// The specification's tools that it is shown, in that order.
    pub(super) seed: &'static [&'static ToolRow],
    /// The tools that its models were trained on, in the order in which they are shown.
    pub(super) native: &'static [&'static ToolRow],
    /// The tool of the native vocabulary that keeps the plan.
    pub(super) plan: Option<&'static ToolRow>,
    /// The maximum number of tools that are shown among those that become actions.
    pub(super) most_tools: usize,
    /// True if its models choose well among many tools, think, and may start agents.
    pub(super) is_large: bool,
    /// The time limit of a program's run whose call names none, in milliseconds.
    pub(super) default_command_ms: Option<u64>,
    /// The number of tokens in a call, input and output together.
    pub(super) context_window: u32,
}

impl ModelFamily {
    /// The properties that families of large models have in common.
    pub(super) const LARGE: Self = Self {
        base_prompt: "",
        docs: &[],
        seed: &[],
        native: &[],
        plan: None,
        most_tools: usize::MAX,
        is_large: true,
        default_command_ms: None,
        context_window: 0,
    };

    /// Returns the family as this build has it: without the built-in tools its prompt does not
    /// mention any.
    pub(super) const fn built(self) -> Self {
        // In a `const fn`, since families are statics: the tables that a build without tools cannot
        // reach are left out of it by the linker.
        if cfg!(feature = "builtins") {
            return self;
        }
        let base_prompt = include_str!("prompt.md");
        Self { base_prompt, seed: &[], native: &[], plan: None, ..self }
    }
}

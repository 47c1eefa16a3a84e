//! Small and local models: few tools, examples in the prompt, and calls in text if the endpoint has
//! no tools. There is only the specification's vocabulary.

use super::{
    family::ModelFamily,
    seed::{EDIT_FILE, GREP, LIST_DIR, READ_FILE, RUN_PROGRAM, SHELL, WRITE_FILE},
};

/// The family of small models.
pub(super) static FAMILY: ModelFamily = ModelFamily {
    base_prompt: include_str!("prompt.md"),
    docs: &["AGENTS.md"],
    // In the order in which they are wanted, since only the first five that the host can carry out
    // are shown: with more of them, these models choose badly.
    seed: &[&READ_FILE, &WRITE_FILE, &EDIT_FILE, &LIST_DIR, &SHELL, &RUN_PROGRAM, &GREP],
    native: &[],
    plan: None,
    most_tools: 5,
    is_large: false,
    default_command_ms: None,
    context_window: 32_768,
}
.built();

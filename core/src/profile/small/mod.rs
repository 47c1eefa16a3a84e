//! Small and local models: few tools, examples in the prompt, calls in text where the endpoint
//! has none of its own. There is only the specification's vocabulary.

use super::{
    family::ModelFamily,
    seed::{EDIT_FILE, GREP, LIST_DIR, READ_FILE, RUN_PROGRAM, SHELL, WRITE_FILE},
};

/// The family. Its tools stand in the order in which they are wanted: from more than a handful
/// these models choose badly.
pub(super) static FAMILY: ModelFamily = ModelFamily {
    base_prompt: include_str!("prompt.md"),
    docs: &["AGENTS.md"],
    seed: &[&READ_FILE, &WRITE_FILE, &EDIT_FILE, &LIST_DIR, &SHELL, &RUN_PROGRAM, &GREP],
    native: &[],
    plan: None,
    most_tools: 5,
    is_large: false,
    default_command_ms: None,
    context_window: 32_768,
}
.built();

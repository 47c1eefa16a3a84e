//! Claude models: search-and-replace editing. Beta features, such as larger windows, are asked for
//! with `ModelConfig::betas`.

mod native;

use super::{
    family::ModelFamily,
    seed::{
        EDIT_FILE, GLOB, GREP_WITH_MODES, LIST_DIR, READ_FILE, RUN_PROGRAM, SHELL, WEB_FETCH,
        WRITE_FILE,
    },
};

/// The family of Claude models.
pub(super) static FAMILY: ModelFamily = ModelFamily {
    // The prompt names no tool, since each vocabulary has names of its own.
    base_prompt: include_str!("prompt.md"),
    docs: &["AGENTS.md", "CLAUDE.md"],
    seed: &[
        &READ_FILE,
        &WRITE_FILE,
        &EDIT_FILE,
        &LIST_DIR,
        &GLOB,
        &GREP_WITH_MODES,
        &SHELL,
        &RUN_PROGRAM,
        &WEB_FETCH,
    ],
    native: native::TABLE,
    plan: Some(&native::TODO_WRITE),
    // Two minutes, as these models know it from their own tool
    // (`docs/decisions.md#command-time-limits`).
    default_command_ms: Some(120_000),
    // The window without beta features.
    context_window: 200_000,
    ..ModelFamily::LARGE
}
.built();

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

/// The family. Its prompt names no tool: each vocabulary has its own names.
pub(super) static FAMILY: ModelFamily = ModelFamily {
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
    default_command_ms: Some(120_000),
    context_window: 200_000,
    ..ModelFamily::LARGE
}
.built();

//! Gemini models: search-and-replace editing, and several files in one read. Safety settings and
//! grounding are fields of the request, `ModelConfig::options`. There is no tool that searches the
//! web, since nothing here carries it out.

mod native;
mod tell;

use super::{
    family::ModelFamily,
    seed::{
        EDIT_FILE, GLOB, GREP, LIST_DIR, READ_FILE, READ_MANY_FILES, RUN_PROGRAM, SHELL, WEB_FETCH,
        WRITE_FILE,
    },
};

/// The family of Gemini models.
pub(super) static FAMILY: ModelFamily = ModelFamily {
    base_prompt: include_str!("prompt.md"),
    docs: &["AGENTS.md", "GEMINI.md"],
    seed: &[
        &READ_FILE,
        &READ_MANY_FILES,
        &WRITE_FILE,
        &EDIT_FILE,
        &SHELL,
        &GREP,
        &GLOB,
        &LIST_DIR,
        &RUN_PROGRAM,
        &WEB_FETCH,
    ],
    native: native::TABLE,
    plan: Some(&native::WRITE_TODOS),
    context_window: 1_048_576,
    ..ModelFamily::LARGE
}
.built();

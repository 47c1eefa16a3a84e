//! GPT models: editing by patches. Reasoning effort is a field of `ModelConfig`, and is sent as
//! `reasoning.effort` where the protocol has it.

mod native;

use super::{
    family::ModelFamily,
    seed::{APPLY_PATCH, GLOB, GREP, READ_FILE, RUN_PROGRAM, SHELL, WEB_FETCH, WRITE_FILE},
};

/// The family of GPT models.
pub(super) static FAMILY: ModelFamily = ModelFamily {
    base_prompt: include_str!("prompt.md"),
    docs: &["AGENTS.md", ".codex/instructions.md"],
    seed: &[&READ_FILE, &APPLY_PATCH, &WRITE_FILE, &SHELL, &GREP, &GLOB, &RUN_PROGRAM, &WEB_FETCH],
    native: native::TABLE,
    plan: Some(&native::UPDATE_PLAN),
    context_window: 272_000,
    ..ModelFamily::LARGE
}
.built();

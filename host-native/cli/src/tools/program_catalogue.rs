//! Which programs are there, and what is known of them.

use crate::exit::CliError;
use innerloop_sandbox::{manifest::Manifest, programs::ProgramRegistry};

/// Returns what is known of programs.
pub(super) fn manifest() -> Result<Manifest, CliError> {
    Manifest::of_user().map_err(CliError::configuration)
}

/// Refuses what is no name of a program.
pub(super) fn named(name: &str) -> Result<(), CliError> {
    if Manifest::is_name(name) {
        return Ok(());
    }
    Err(CliError::usage(format!("{name:?} is no name for a program; take letters and digits")))
}

/// The programs that are there. None is checked: what is wrong with one can be told and fixed.
pub(super) fn programs() -> Result<ProgramRegistry, CliError> {
    ProgramRegistry::unchecked(None).map_err(CliError::configuration)
}

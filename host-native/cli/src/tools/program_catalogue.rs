//! The catalogue of programs: the manifest of known ones, and the registry of those that are there.

use crate::exit::CliError;
use innerloop_sandbox::{manifest::Manifest, programs::ProgramRegistry};

/// Reads the manifest, with the user's additions.
pub(super) fn manifest() -> Result<Manifest, CliError> {
    Manifest::of_user().map_err(CliError::configuration)
}

/// Refuses names that no program can have; a name becomes part of a path.
pub(super) fn named(name: &str) -> Result<(), CliError> {
    if Manifest::is_name(name) {
        return Ok(());
    }
    Err(CliError::usage(format!("{name:?} is no name for a program; take letters and digits")))
}

/// Returns the programs that are there, unchecked: these commands have to work with a damaged one,
/// to report and replace it.
pub(super) fn programs() -> Result<ProgramRegistry, CliError> {
    ProgramRegistry::unchecked(None).map_err(CliError::configuration)
}

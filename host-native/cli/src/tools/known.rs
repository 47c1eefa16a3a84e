//! Which programs are there, and what is known of them.

use crate::exit::Failure;
use innerloop_sandbox::{manifest::Manifest, programs::Programs};

/// What is known of programs.
pub(super) fn manifest() -> Result<Manifest, Failure> {
    Manifest::of_user().map_err(Failure::configuration)
}

/// Refuses what is no name of a program.
pub(super) fn named(name: &str) -> Result<(), Failure> {
    if Manifest::is_name(name) {
        return Ok(());
    }
    Err(Failure::usage(format!("{name:?} is no name for a program; take letters and digits")))
}

/// The programs that are there. None is checked: what is wrong with one can be told and mended.
pub(super) fn programs() -> Result<Programs, Failure> {
    Programs::unchecked(None).map_err(Failure::configuration)
}

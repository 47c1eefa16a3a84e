//! Which programs are there, and what is known of them.

use crate::{
    cli::exit::Failure,
    sandbox::{manifest::Manifest, programs::Programs},
};

/// What is known of programs.
pub(super) fn manifest() -> Result<Manifest, Failure> {
    Manifest::of_user().map_err(Failure::configuration)
}

/// The programs that are there.
pub(super) fn programs() -> Result<Programs, Failure> {
    Programs::find(None).map_err(Failure::configuration)
}

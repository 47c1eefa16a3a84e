//! The arguments of `innerloop doctor`.

use super::model::ModelArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The folder of WASI programs to look at.
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// Also connect to the model's provider.
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

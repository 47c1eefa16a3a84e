//! The arguments of `innerloop doctor`.

use super::model::ModelArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The folder that the agent is to work on.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// The folder of WASI programs to look at.
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// Do not ask the models' providers for their lists of models, which tries your keys and costs
    /// nothing.
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

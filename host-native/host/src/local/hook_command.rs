//! Hooks that are commands of the user's: what is said of one, and of the session that it is run
//! for. They are run by the machine.

use innerloop_core::{config::HookPoint, id::SessionId};
use std::{path::PathBuf, time::Duration};

/// A command of the user's that is asked at a point of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    /// The point.
    pub point: HookPoint,
    /// The command line, for the machine's shell.
    pub command: String,
    /// The names of the tools whose calls it is asked about, with `|` between; one that ends in `*`
    /// stands for all that begin so. `None` for every call.
    pub matcher: Option<String>,
    /// The time limit, after which the command is killed and counts as failed.
    pub timeout: Duration,
}

impl HookCommand {
    /// The time limit of a command for which none is named.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Returns whether the point is one at which a tool's name is known.
    #[must_use]
    pub const fn sees_tools(point: HookPoint) -> bool {
        matches!(point, HookPoint::BeforeTool | HookPoint::AfterTool)
    }
}

/// The place and the session that commands are run for.
#[derive(Clone, Debug)]
pub struct HookSite {
    /// The folder that they start in.
    pub folder: PathBuf,
    /// The session, which they are told.
    pub session: SessionId,
    /// The names of variables that hold keys of providers, which they do not see.
    pub secrets: Vec<String>,
    /// True if a command that fails counts as a denial.
    pub fail_closed: bool,
}

//! Where the changes of a session go.

use super::{args::SessionArgs, console::warn, exit::CliError};
use innerloop_workspace::{Workspace, app_dirs};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file that is there where an overlay that is kept holds changes.
const VIEW: &str = "view.json";

/// The destination of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeMode {
    /// Into the folder, at once.
    InPlace,
    /// Into the folder when the run is over.
    Apply,
    /// Into the folder when the run is over, if the person says so.
    #[default]
    Ask,
    /// Nowhere: they are only shown.
    Show,
}

impl ChangeMode {
    /// Returns what the user wants, who can be asked or not.
    pub(super) fn of(args: &SessionArgs, is_attended: bool) -> Result<Self, CliError> {
        match (args.in_place, args.apply, args.diff) {
            (true, _, _) | (_, true, _) if args.tuning.read_only => Err(CliError::usage(
                "the session only reads, and has nothing to apply: --apply and --in-place do not \
                 go with --read-only",
            )),
            _ if args.tuning.read_only => Ok(Self::Show),
            (true, _, _) => Ok(Self::InPlace),
            (_, true, _) => Ok(Self::Apply),
            (_, _, true) => Ok(Self::Show),
            _ if is_attended => Ok(Self::Ask),
            _ => Err(CliError::usage(format!(
                "nobody can be asked here whether to apply the changes: add --apply to write them \
                 to {0} at the end, --diff to only show them, or --in-place to let the agent \
                 change {0} while it works",
                args.workspace.display()
            ))),
        }
    }

    /// Returns whether what an overlay holds can stand in that folder. Where it lies in the
    /// workspace, it can't, and that is told.
    fn can_keep(folder: &Workspace, place: &Path) -> bool {
        let root = folder.root();
        // What stands there already is not passed over in silence.
        if place.join(VIEW).exists() || !app_dirs::meets(place, root) {
            return true;
        }
        warn(&format!(
            "changes are not kept with the session, since its folder lies in {}: apply them at \
             the end, or set INNERLOOP_HOME to a folder elsewhere",
            root.display()
        ));
        false
    }

    /// The workspace as the agent sees it. What an overlay holds stands in `place`, if it is to
    /// outlive the program.
    pub(super) fn workspace(
        self,
        folder: Workspace,
        place: Option<&Path>,
    ) -> Result<Workspace, CliError> {
        match (self, place) {
            (Self::InPlace, Some(place)) if place.join(VIEW).exists() => Err(CliError::usage(
                "the session has changes that are not applied yet: say innerloop resume with \
                 --apply and no prompt first",
            )),
            (Self::InPlace, _) => Ok(folder),
            (_, Some(place)) if Self::can_keep(&folder, place) => {
                folder.overlay_in(place).map_err(CliError::usage)
            }
            _ => folder.overlay().map_err(CliError::usage),
        }
    }
}

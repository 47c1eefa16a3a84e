//! The destination of a session's changes: the folder at once, the folder at the end, with or
//! without a question, or nowhere. It decides whether the workspace is an overlay, and where that
//! is stored.

use super::{args::SessionArgs, console::warn, exit::CliError};
use innerloop_workspace::{Workspace, app_dirs};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file of a stored overlay that exists as long as it holds changes.
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
    /// Returns the mode that the user wants. Without one, changes are asked about, which takes
    /// somebody who can answer.
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

    /// Returns whether the overlay can be stored in `place`. Inside of the workspace it can't be,
    /// since it would be part of what it records; then a warning is given.
    fn can_keep(folder: &Workspace, place: &Path) -> bool {
        let root = folder.root();
        // Changes that are stored there already are opened, whatever the place: they must not be
        // ignored.
        if place.join(VIEW).exists() || !app_dirs::meets(place, root) {
            return true;
        }
        warn(&format!(
            "changes are not kept with the session, since its folder is in {}: apply them at \
             the end, or set INNERLOOP_HOME to a folder elsewhere",
            root.display()
        ));
        false
    }

    /// Returns the workspace as the agent sees it. An overlay is stored in `place`, if it should
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

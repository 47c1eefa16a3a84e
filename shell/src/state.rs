//! The state of the shell that is kept between calls: the shell's own, the modes of files, and
//! `/tmp` in memory.

use crate::{files::ShellFileSystem, temporary::TmpEntry};
use bashkit::{Bash, ShellState};
use innerloop_json::{FromJson, Json, Map, ToJson, from_str};

/// The state that one command line leaves for the next.
#[derive(ToJson, FromJson)]
struct SessionState {
    /// Variables, functions, the working folder and the like.
    shell: Json,
    /// The modes that `chmod` has set for files.
    modes: Map<u32>,
    /// The content of `/tmp` in memory.
    #[json(default, skip_serializing_if = "Vec::is_empty")]
    tmp: Vec<TmpEntry>,
}

/// Returns the state as JSON; `None` if it has no JSON.
pub(crate) async fn save(bash: &Bash, files: &ShellFileSystem) -> Option<Json> {
    let shell = serde_json::to_string(&bash.shell_state()).ok()?;
    let shell = Json::parse(shell).ok()?;
    let (modes, tmp) = (files.modes_by_name(), files.temporary().await);
    Some(Json::of(&SessionState { shell, modes, tmp }))
}

/// Restores the state that an earlier call has left, without `/tmp`.
///
/// # Errors
/// The reason why the state is not one that [`save`] gave.
pub(crate) fn restore(
    bash: &mut Bash,
    files: &ShellFileSystem,
    state: &Json,
) -> Result<(), String> {
    let SessionState { shell, modes, .. } =
        from_str(state.text()).map_err(|error| error.to_string())?;
    let shell: ShellState =
        serde_json::from_str(shell.text()).map_err(|error| error.to_string())?;
    bash.restore_shell_state(&shell);
    files.restore_modes(&modes);
    Ok(())
}

/// Restores what an earlier call has left in `/tmp` in memory. An invalid state is reported by
/// [`restore`].
pub(crate) async fn take_up(files: &ShellFileSystem, state: &Json) {
    if let Ok(SessionState { tmp, .. }) = from_str(state.text()) {
        files.take_up(&tmp).await;
    }
}

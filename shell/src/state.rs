//! What is kept of the shell from call to call.

use bashkit::{Bash, ShellState};
use innerloop_json::Json;
use serde_json::{from_str, to_string};

/// The shell's state as JSON, if it can be told.
pub(crate) fn save(bash: &Bash) -> Option<Json> {
    let text = to_string(&bash.shell_state()).ok()?;
    Json::parse(text).ok()
}

/// Takes up what an earlier call has left.
///
/// # Errors
/// In words, if it is not what [`save`] gave.
pub(crate) fn restore(bash: &mut Bash, state: &Json) -> Result<(), String> {
    let state: ShellState = from_str(state.text()).map_err(|error| error.to_string())?;
    bash.restore_shell_state(&state);
    Ok(())
}

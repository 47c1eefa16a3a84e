//! One call as a function of the host's own sees it: its arguments, its folder and its time, and a
//! way to show output before it ends.

use super::time_limit::TimeLimit;
use innerloop_core::json::Json;
use innerloop_sandbox::OnDelta;
use serde::de::DeserializeOwned;
use std::{fmt, future::Future, path::PathBuf, time::Duration};
use tokio::sync::watch;

/// One call of a tool. Clones are of the same call.
#[derive(Clone)]
pub struct OwnToolCall {
    /// The call's id, as the model gave it.
    pub id: String,
    /// The arguments. They fit the tool's schema.
    pub arguments: Json,
    /// The folder that the calling agent works in, on this machine. Where the workspace is an
    /// overlay, this is the folder below it: what the overlay has changed is not there yet, and
    /// what a function writes there is not held back.
    pub folder: PathBuf,
    /// The time limit of the call. After that nobody waits for the result.
    pub time_limit: Duration,
    left: TimeLimit,
    on_delta: OnDelta,
    /// The channel that is closed when nobody waits for the result any more.
    awaited: watch::Receiver<()>,
}

impl OwnToolCall {
    pub(super) fn new(
        id: String,
        arguments: Json,
        folder: PathBuf,
        (time_limit, left): (Duration, TimeLimit),
        on_delta: OnDelta,
        awaited: watch::Receiver<()>,
    ) -> Self {
        Self { id, arguments, folder, time_limit, left, on_delta, awaited }
    }

    /// Reads the arguments as a type.
    ///
    /// # Errors
    /// The arguments are not of that type, since the schema allows more.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.arguments.text())
    }

    /// Shows output while the tool runs. It is not part of the result. A function that prints much
    /// awaits [`OwnToolCall::heard`] now and then.
    pub fn say(&self, text: &str) {
        self.on_delta.tell(text);
    }

    /// Waits until there is room for more output, which there is only while somebody reads.
    pub async fn heard(&self) {
        self.on_delta.room().await;
    }

    /// Waits for something that may take any time, such as the answer of a person. The time limit
    /// does not run meanwhile.
    pub async fn unhurried<F: Future>(&self, waiting: F) -> F::Output {
        self.left.hold(waiting).await
    }

    /// Waits until no more than `reserve` is left of the time.
    pub async fn is_nearly_over(&self, reserve: Duration) {
        self.left.is_near(reserve).await;
    }

    /// Returns whether nobody waits for the result any more: the run was interrupted, or its time
    /// is up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.awaited.has_changed().is_err()
    }

    /// Waits until nobody waits for the result any more, as [`OwnToolCall::is_cancelled`] tells.
    pub async fn cancelled(&self) {
        // Nothing is ever sent: the wait ends with the channel.
        while self.awaited.clone().changed().await.is_ok() {}
    }
}

impl fmt::Debug for OwnToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, arguments, folder, time_limit, .. } = self;
        f.debug_struct("OwnToolCall")
            .field("id", id)
            .field("arguments", arguments)
            .field("folder", folder)
            .field("time_limit", time_limit)
            .finish_non_exhaustive()
    }
}

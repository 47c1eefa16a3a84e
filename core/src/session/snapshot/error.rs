//! The error of a restore: bytes that are damaged, of another version, or whose configuration
//! cannot work.

use alloc::string::{String, ToString};
use innerloop_json::ToJson;
use innerloop_types::config::ConfigError;

/// Bytes that are not a snapshot that this version can restore.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, thiserror::Error)]
#[json(rename_all = "snake_case", keyed)]
pub enum RestoreError {
    /// The bytes are not a snapshot, or they are damaged.
    #[error("this is not an Innerloop snapshot, or it is damaged: {0}")]
    Damaged(String),
    /// The snapshot comes from another version.
    #[error("the snapshot has version {found}, this program reads version {expected} and older")]
    Version {
        /// The snapshot's version.
        found: u32,
        /// The newest version that can be read.
        expected: u32,
    },
    /// The snapshot's configuration cannot work.
    #[error("the snapshot's configuration cannot work: {0}")]
    Config(#[from] ConfigError),
}

impl RestoreError {
    pub(super) fn damaged(message: &(impl ToString + ?Sized)) -> Self {
        Self::Damaged(message.to_string())
    }
}

//! The errors in a `tools.toml`, with the file and the place in it.

use std::{io, path::PathBuf};

/// The longest file in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// The reason why a file can't be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}: {problem}", path.display())]
pub struct ManifestError {
    pub(super) path: PathBuf,
    pub(super) problem: ManifestFileError,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestFileError {
    #[error("{0}")]
    Unreadable(io::Error),
    #[error("it is no plain file of at most {MAX_BYTES} bytes")]
    TooLong,
    #[error("{0}")]
    Toml(String),
    #[error("schema: this program reads schema 1, not {0}; it is too old for the file")]
    Schema(u32),
    #[error("tool.{name}.{field}: {words}")]
    Field { name: String, field: &'static str, words: String },
}

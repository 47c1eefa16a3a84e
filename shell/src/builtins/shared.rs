//! What commands of our own do alike: how they fail, and what they read.

use bashkit::{CommandContext, CommandStatus, Error, Result, vfs_join};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Ends a command with words on standard error.
pub(super) async fn fail(
    context: &CommandContext<'_>,
    words: &str,
    status: i32,
) -> Result<CommandStatus> {
    context.stderr.write_all(words.as_bytes()).await?;
    Ok(CommandStatus::with_code(status))
}

/// The path that an operand names.
pub(super) fn path(context: &CommandContext<'_>, operand: &str) -> PathBuf {
    vfs_join(context.cwd, Path::new(operand))
}

/// Why a file could not be had, in the system's words.
pub(super) fn reason(error: &Error) -> String {
    let Error::Io(error) = error else { return error.to_string() };
    let words = match error.kind() {
        ErrorKind::NotFound => "No such file or directory",
        ErrorKind::PermissionDenied => "Permission denied",
        ErrorKind::IsADirectory => "Is a directory",
        ErrorKind::NotADirectory => "Not a directory",
        ErrorKind::AlreadyExists => "File exists",
        ErrorKind::DirectoryNotEmpty => "Directory not empty",
        _ => return error.to_string(),
    };
    words.to_owned()
}

/// All that a command reads from standard input.
pub(super) async fn input(context: &CommandContext<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(chunk) = context.stdin.read_chunk().await? {
        all.extend(chunk);
    }
    Ok(all)
}

/// What an operand names: a file, or standard input for `-`.
pub(super) async fn content(context: &CommandContext<'_>, operand: &str) -> Result<Vec<u8>> {
    match operand {
        "-" | "/dev/stdin" => input(context).await,
        _ => context.fs.read_file(&path(context, operand)).await,
    }
}

/// Whether a name fits a pattern of `*` and `?`.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let mut starts = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            starts.any(|at| fits(rest.as_str(), name.get(at..).unwrap_or_default()))
        }
        Some(wanted) => {
            let mut name = name.chars();
            let fits_here = name.next().is_some_and(|given| wanted == '?' || wanted == given);
            fits_here && fits(rest.as_str(), name.as_str())
        }
    }
}

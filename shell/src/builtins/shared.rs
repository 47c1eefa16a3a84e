//! Functions that commands of our own share: how they fail, and how they read input.

use bashkit::{CommandContext, CommandStatus, Error, Result, vfs_join};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Ends a command with a message on standard error.
pub(super) async fn fail(
    context: &CommandContext<'_>,
    words: &str,
    status: i32,
) -> Result<CommandStatus> {
    context.stderr.write_all(words.as_bytes()).await?;
    Ok(CommandStatus::with_code(status))
}

/// Returns the path that an operand names.
pub(super) fn path(context: &CommandContext<'_>, operand: &str) -> PathBuf {
    vfs_join(context.cwd, Path::new(operand))
}

/// Returns the reason of a failure in the words of GNU's programs, which scripts and models look
/// for.
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

/// Reads all of standard input.
pub(super) async fn input(context: &CommandContext<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(chunk) = context.stdin.read_chunk().await? {
        all.extend(chunk);
    }
    Ok(all)
}

/// Reads what an operand names: a file, or standard input for `-`.
pub(super) async fn content(context: &CommandContext<'_>, operand: &str) -> Result<Vec<u8>> {
    match operand {
        "-" | "/dev/stdin" => input(context).await,
        _ => context.fs.read_file(&path(context, operand)).await,
    }
}

/// Returns whether a name matches a pattern of `*` and `?`. Only the last `*` is ever retried, at
/// the next letter of the name: a match as early as possible leaves the most for the rest. Time is
/// bounded by the product of the lengths.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut retry = None;
    loop {
        let (mut wanted, mut given) = (pattern.clone(), name.clone());
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((wanted.clone(), name.clone()));
                pattern = wanted;
            }
            (Some(a), Some(b)) if a == '?' || a == b => (pattern, name) = (wanted, given),
            _ => {
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, name) = (after.clone(), from.clone());
            }
        }
    }
}

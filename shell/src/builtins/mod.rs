//! Commands of our own, where bashkit's are missing, stop short without a word or answer otherwise
//! than GNU's. What bashkit does well is bashkit's; [`arguments`] only puts its commands' words
//! right.

mod arguments;
mod awk;
mod caller;
mod cat;
mod comm;
mod counting;
mod dates;
mod diff;
mod expr;
mod ls;
mod moving;
mod options;
mod paths;
mod tail;
mod unzip;
mod zcat;
mod zip;

use bashkit::{BashBuilder, CommandContext, CommandStatus, Error, Result, vfs_join};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Adds the commands to a shell.
pub(crate) fn register(bash: BashBuilder) -> BashBuilder {
    bash.before_tool(Box::new(arguments::put_right))
        .builtin("awk", Box::new(awk::Awk))
        .builtin("caller", Box::new(caller::Caller))
        .builtin("zcat", Box::new(zcat::Zcat))
        .command("cat", cat::Cat)
        .command("comm", comm::Comm)
        .command("diff", diff::Diff)
        .command("expr", expr::Expr)
        .command("ls", ls::Ls)
        .command("mv", moving::Mv)
        .command("realpath", paths::RealPath)
        .command("seq", counting::Seq)
        .command("tail", tail::Tail)
        .command("unzip", unzip::Unzip)
        .command("zip", zip::Zip)
        .command("yes", counting::Yes)
}

/// Ends a command with words on standard error.
async fn fail(context: &CommandContext<'_>, words: &str, status: i32) -> Result<CommandStatus> {
    context.stderr.write_all(words.as_bytes()).await?;
    Ok(CommandStatus::with_code(status))
}

/// The path that an operand names.
fn path(context: &CommandContext<'_>, operand: &str) -> PathBuf {
    vfs_join(context.cwd, Path::new(operand))
}

/// Why a file could not be had, in the system's words.
fn reason(error: &Error) -> String {
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
async fn input(context: &CommandContext<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(chunk) = context.stdin.read_chunk().await? {
        all.extend(chunk);
    }
    Ok(all)
}

/// What an operand names: a file, or standard input for `-`.
async fn content(context: &CommandContext<'_>, operand: &str) -> Result<Vec<u8>> {
    match operand {
        "-" | "/dev/stdin" => input(context).await,
        _ => context.fs.read_file(&path(context, operand)).await,
    }
}

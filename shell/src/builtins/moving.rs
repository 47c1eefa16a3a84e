//! `mv`, which never replaces a file that `-n` protects.

use super::{
    options::OptionSpec,
    options::ParsedArguments,
    shared::{fail, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Error, Result as ShellResult, async_trait};
use std::path::{Path, PathBuf};

pub(super) struct MvCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "mv",
    short: "bfint:Tuv",
    long: &[
        ("backup?", 'b'),
        ("force", 'f'),
        ("interactive", 'i'),
        ("no-clobber", 'n'),
        ("no-target-directory", 'T'),
        ("strip-trailing-slashes", '.'),
        ("target-directory:", 't'),
        ("update?", 'u'),
        ("verbose", 'v'),
    ],
};

#[async_trait]
impl Command for MvCommand {
    async fn execute(&self, context: CommandContext<'_>) -> ShellResult<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let (target, sources) = match (given.value('t'), given.operands.split_last()) {
            (Some(folder), Some(_)) => (folder.to_owned(), &given.operands[..]),
            (None, Some((last, rest))) if !rest.is_empty() => (last.clone(), rest),
            (None, Some((only, _))) => {
                let words = format!("missing destination file operand after '{only}'");
                return fail(&context, &KNOWN.wrong(&words), 1).await;
            }
            (_, None) => return fail(&context, &KNOWN.wrong("missing file operand"), 1).await,
        };
        let found = context.fs.stat(&path(&context, &target)).await;
        let is_folder = found.is_ok_and(|found| found.file_type.is_dir()) && !given.has('T');
        if !is_folder && (sources.len() > 1 || given.has('t')) {
            let words = match given.has('t') {
                true => format!("mv: target directory '{target}': No such file or directory\n"),
                false => format!("mv: target '{target}': No such file or directory\n"),
            };
            return fail(&context, &words, 1).await;
        }
        let mut status = CommandStatus::success();
        for source in sources {
            let to = match (is_folder, Path::new(source).file_name()) {
                (true, Some(name)) => {
                    format!("{}/{}", target.trim_end_matches('/'), name.to_string_lossy())
                }
                _ => target.clone(),
            };
            if let Err(words) = one(&context, &given, source, &to).await? {
                status = fail(&context, &format!("mv: {words}\n"), 1).await?;
            }
        }
        Ok(status)
    }
}

/// Moves a file or folder; the inner error is the message if it can't.
async fn one(
    context: &CommandContext<'_>,
    given: &ParsedArguments,
    source: &str,
    target: &str,
) -> Result<Result<(), String>, Error> {
    let (from, to) = (path(context, source), path(context, target));
    let moved = match context.fs.lstat(&from).await {
        Ok(moved) => moved,
        Err(error) => return Ok(Err(format!("cannot stat '{source}': {}", reason(&error)))),
    };
    let names = |path: &Path| -> PathBuf { path.components().collect() };
    if names(&from) == names(&to) {
        return Ok(Err(format!("'{source}' and '{target}' are the same file")));
    }
    // Moved below itself, a folder would no longer be reached from anywhere.
    if moved.file_type.is_dir() && names(&to).starts_with(names(&from)) {
        let words = format!("cannot move '{source}' to a subdirectory of itself, '{target}'");
        return Ok(Err(words));
    }
    if let Ok(there) = context.fs.lstat(&to).await {
        let is_newer = moved.modified > there.modified;
        if given.last("nfi") == Some('n') || (given.has('u') && !is_newer) {
            return Ok(Ok(()));
        }
        match (moved.file_type.is_dir(), there.file_type.is_dir()) {
            (false, true) => {
                let words = format!("cannot overwrite directory '{target}' with non-directory");
                return Ok(Err(words));
            }
            (true, false) => {
                let words =
                    format!("cannot overwrite non-directory '{target}' with directory '{source}'");
                return Ok(Err(words));
            }
            _ => {}
        }
        if given.has('b') {
            context.fs.rename(&to, &path(context, &format!("{target}~"))).await?;
        }
    }
    match context.fs.rename(&from, &to).await {
        Ok(()) if given.has('v') => {
            let words = format!("renamed '{source}' -> '{target}'\n");
            context.stdout.write_all(words.as_bytes()).await?;
            Ok(Ok(()))
        }
        Ok(()) => Ok(Ok(())),
        Err(error @ Error::Io(_)) => {
            Ok(Err(format!("cannot move '{source}' to '{target}': {}", reason(&error))))
        }
        Err(error) => Err(error),
    }
}

//! `realpath`: paths without links, as they are or relative to a folder.

use super::{
    options::OptionSpec,
    shared::{fail, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Error, Result, async_trait};
use std::{
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};

pub(super) struct RealPath;

const KNOWN: OptionSpec = OptionSpec {
    command: "realpath",
    short: "emLPqsz",
    long: &[
        ("canonicalize-existing", 'e'),
        ("canonicalize-missing", 'm'),
        ("logical", 'L'),
        ("physical", 'P'),
        ("quiet", 'q'),
        ("relative-base:", 'b'),
        ("relative-to:", 'r'),
        ("no-symlinks", 's'),
        ("strip", 's'),
        ("zero", 'z'),
    ],
};

/// The number of links that are followed, before they are taken for a circle.
const MOST_LINKS: usize = 40;

#[async_trait]
impl Command for RealPath {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) if given.operands.is_empty() => Err(KNOWN.wrong("missing operand")),
            given => given,
        };
        let given = match given {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let needs = given.last("em").unwrap_or(' ');
        let follows = !given.has('s');
        let mut status = CommandStatus::success();
        let base = match given.value('r').or(given.value('b')) {
            Some(base) => real(&context, base, 'm', follows).await.ok(),
            None => None,
        };
        for operand in &given.operands {
            match real(&context, operand, needs, follows).await {
                Ok(found) => {
                    let shown = match &base {
                        Some(base) if given.has('r') || found.starts_with(base) => {
                            relative(&found, base)
                        }
                        _ => found,
                    };
                    let end = if given.has('z') { '\0' } else { '\n' };
                    let line = format!("{}{end}", shown.display());
                    context.stdout.write_all(line.as_bytes()).await?;
                }
                Err(_) if given.has('q') => status = CommandStatus::with_code(1),
                Err(error) => {
                    let words = format!("realpath: {operand}: {}\n", reason(&error));
                    status = fail(&context, &words, 1).await?;
                }
            }
        }
        Ok(status)
    }
}

/// Returns a path without links, `.` and `..`.
async fn real(
    context: &CommandContext<'_>,
    operand: &str,
    needs: char,
    follows: bool,
) -> Result<PathBuf> {
    let mut real = PathBuf::from("/");
    let mut rest: Vec<String> = parts(&path(context, operand));
    let mut links = 0;
    while let Some(part) = rest.pop() {
        // Names are resolved one by one, so that `..` leaves the folder that a link leads to and
        // not the one that it stands in.
        if part == ".." {
            real.pop();
            continue;
        }
        let here = real.join(&part);
        match context.fs.lstat(&here).await {
            Ok(found) if found.file_type.is_symlink() && follows => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other("Too many levels of symbolic links").into());
                }
                let target = context.fs.read_link(&here).await?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(parts(&target));
                continue;
            }
            Ok(found) if !rest.is_empty() && !found.file_type.is_dir() && needs != 'm' => {
                return Err(io::Error::from(ErrorKind::NotADirectory).into());
            }
            Ok(_) => {}
            Err(Error::Io(_)) if needs == 'm' || (needs == ' ' && rest.is_empty()) => {}
            Err(error) => return Err(error),
        }
        real = here;
    }
    Ok(real)
}

/// Returns the names of a path, the last first.
fn parts(path: &Path) -> Vec<String> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        Component::ParentDir => Some("..".to_owned()),
        _ => None,
    });
    let mut parts: Vec<String> = named.collect();
    parts.reverse();
    parts
}

/// Returns the path from a folder to another path.
fn relative(path: &Path, folder: &Path) -> PathBuf {
    let same = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(same).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(path.components().skip(same)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

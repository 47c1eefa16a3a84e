//! Commands of our own, where bashkit's are missing, fail silently or differ from GNU's. What
//! bashkit does well stays bashkit's, and [`arguments`] only corrects its commands' arguments.

mod arguments;
mod awk;
mod bc;
mod calendar;
mod caller;
mod cat;
mod comm;
mod counting;
mod dates;
mod diff;
mod expr;
mod ls;
mod moving;
pub(crate) mod nesting;
mod options;
mod patching;
mod paths;
mod shared;
mod tail;
mod tar;
mod tee;
mod unzip;
mod zcat;
mod zip;

use crate::{files::ShellFileSystem, turns};
use bashkit::{
    BashBuilder,
    hooks::{HookAction, ToolEvent},
};
use patching::ApplyPatch;
use std::sync::Arc;

/// Adds the commands to a shell.
pub(crate) fn register(bash: BashBuilder, files: &Arc<ShellFileSystem>) -> BashBuilder {
    let patch = |bash: BashBuilder, name| bash.command(name, ApplyPatch(Arc::clone(files)));
    let bash = patching::NAMES.into_iter().fold(bash, patch);
    bash.before_tool(Box::new(begins))
        .builtin("awk", Box::new(awk::AwkCommand))
        .builtin("caller", Box::new(caller::CallerCommand))
        .builtin("zcat", Box::new(zcat::ZcatCommand))
        .command("bc", bc::BcCommand)
        .command("cat", cat::CatCommand)
        .command("comm", comm::CommCommand)
        .command("diff", diff::DiffCommand)
        .command("expr", expr::ExprCommand)
        .command("ls", ls::LsCommand)
        .command("mv", moving::MvCommand)
        .command("realpath", paths::RealPath)
        .command("seq", counting::SeqCommand)
        .command("tail", tail::TailCommand)
        .command("tar", tar::TarCommand)
        .command("tee", tee::TeeCommand)
        .command("unzip", unzip::UnzipCommand)
        .command("zip", zip::ZipCommand)
        .command("yes", counting::YesCommand)
}

/// Runs before each command.
fn begins(event: ToolEvent) -> HookAction<ToolEvent> {
    turns::due();
    HookAction::Continue(nesting::bounded(arguments::put_right(event)))
}

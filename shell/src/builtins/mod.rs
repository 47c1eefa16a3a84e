//! Commands of our own, where bashkit's are missing, stop short without a word or answer otherwise
//! than GNU's. What bashkit does well is bashkit's; [`arguments`] only puts its commands' words
//! right.

mod arguments;
mod awk;
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
mod options;
mod patching;
mod paths;
mod shared;
mod tail;
mod tee;
mod unzip;
mod zcat;
mod zip;

use crate::{files::Files, turns};
use bashkit::{
    BashBuilder,
    hooks::{HookAction, ToolEvent},
};
use patching::ApplyPatch;
use std::sync::Arc;

/// Adds the commands to a shell.
pub(crate) fn register(bash: BashBuilder, files: &Arc<Files>) -> BashBuilder {
    let patch = |bash: BashBuilder, name| bash.command(name, ApplyPatch(Arc::clone(files)));
    let bash = patching::NAMES.into_iter().fold(bash, patch);
    bash.before_tool(Box::new(begins))
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
        .command("tee", tee::Tee)
        .command("unzip", unzip::Unzip)
        .command("zip", zip::Zip)
        .command("yes", counting::Yes)
}

/// What happens before each command.
fn begins(event: ToolEvent) -> HookAction<ToolEvent> {
    turns::due();
    HookAction::Continue(arguments::put_right(event))
}

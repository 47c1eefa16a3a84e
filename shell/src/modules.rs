//! WASI programs that are files of the workspace, run by their paths: `./hello`. bashkit takes
//! every file for a script, so that the paths in a command line that are modules, or may become
//! ones, are registered as commands before it begins.

use crate::turns;
use bashkit::{
    BashBuilder, Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand,
    async_trait, vfs_join,
};
use std::{collections::BTreeSet, fs, io::Read, path::Path};

/// The name of the host's program that runs a file; its first argument is the path.
pub(crate) const RUN: &str = "wasi-run";

/// The largest number of paths in a command line that are looked at, and that become commands.
const MOST_LOOKED_AT: usize = 512;
const MOST: usize = 64;

/// The largest number of folders in which they are looked for.
const MOST_FOLDERS: usize = 16;

/// The bytes at the beginning of every module.
const MAGIC: [u8; 4] = *b"\0asm";

/// Returns the paths in a script that are modules, or may become ones while it runs. The script
/// begins in that folder.
pub(crate) fn named(script: &str, folder: &Path) -> Vec<String> {
    let is_plain = |byte: char| byte.is_ascii_alphanumeric() || "._+-/".contains(byte);
    let words: Vec<&str> = script.split(|byte| !is_plain(byte)).collect();
    // A relative path may be meant in a folder that the script changes to.
    let entered = words.windows(2).filter_map(|pair| match pair {
        ["cd", folder] => Some(Path::new(*folder)),
        _ => None,
    });
    let entered = [Path::new("")].into_iter().chain(entered).map(|at| vfs_join(folder, at));
    let folders = BTreeSet::from_iter(entered.take(MOST_FOLDERS));
    let is_there = |path: &str| folders.iter().any(|at| is_module(&vfs_join(at, Path::new(path))));
    let paths: BTreeSet<&str> =
        words.into_iter().filter(|word| word.contains('/') && !word.ends_with('/')).collect();
    let paths = paths.into_iter().take(MOST_LOOKED_AT);
    let paths = paths.filter(|path| is_made(path, script) || is_there(path));
    paths.take(MOST).map(str::to_owned).collect()
}

/// Registers paths as commands.
pub(crate) fn register(bash: BashBuilder, paths: &[String]) -> BashBuilder {
    paths.iter().fold(bash, |bash, path| bash.builtin(path, Box::new(ByPath(path.clone()))))
}

/// Returns whether a script names the path's file as the output of a compiler.
fn is_made(path: &str, script: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut words = script.split(|byte: char| byte.is_whitespace() || ";&|()".contains(byte));
    let mut is_output = false;
    let named = words.any(|word| {
        let is_it = is_output && word.rsplit('/').next() == Some(name);
        is_output = word == "-o";
        is_it
    });
    named || name == "a.out"
}

fn is_module(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == MAGIC
}

/// A command whose name is this path.
struct ByPath(String);

#[async_trait]
impl Builtin for ByPath {
    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        turns::give().await;
        let Self(path) = self;
        let mut args = context.args.to_vec();
        let name = if is_module(&vfs_join(context.cwd, Path::new(path))) {
            args.insert(0, path.clone());
            RUN.to_owned()
        } else {
            // Another spelling of the same path, which is not a command, so that bashkit takes it
            // for a script.
            match path.strip_prefix('/') {
                Some(rest) => format!("/./{rest}"),
                None => format!("./{path}"),
            }
        };
        let command =
            SubCommand { name, args, stdin: context.stdin.cloned(), assignments: Vec::new() };
        Ok(Some(ExecutionPlan::Batch { commands: vec![command] }))
    }

    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::ok(String::new()))
    }
}

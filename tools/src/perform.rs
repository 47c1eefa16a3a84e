//! The entry point of the tools: one action in, one outcome out. [`perform_known`] also compares
//! the files with what the model knows of them, so that no tool overwrites what somebody else has
//! written meanwhile (`docs/decisions.md#read-before-write`).

use crate::{
    edit, failure_texts,
    files::{EntryKind, WorkspaceFiles},
    glob, grep, list, patch,
    path::WorkspacePath,
    read::{self, ReadOptions},
    read_many, write,
};
use innerloop_json::IntoList;
use innerloop_types::action::{Action, DigestBuilder, Outcome, Patch, ToolError};

/// Carries out a file action of an agent that works in the workspace's root.
pub fn perform(files: &mut impl WorkspaceFiles, action: &Action) -> Outcome {
    perform_in(files, "", action)
}

/// Carries out a file action of an agent that works in `folder`. The action's paths begin there and
/// stay there, and its text names them as seen from there; its changes are named from the
/// workspace's root on. Every failure is an outcome, too: its kind, and what to do.
///
/// [`Action::RunProgram`], [`Action::Shell`] and [`Action::Fetch`] are not file actions: here they
/// give [`ToolError::UnknownTool`], and hosts carry them out by themselves.
pub fn perform_in(files: &mut impl WorkspaceFiles, folder: &str, action: &Action) -> Outcome {
    attempt(files, folder, action).unwrap_or_else(|failure| failure)
}

/// Carries out a patch that has been parsed, as [`perform_in`] carries out one that is text; `salt`
/// is that of the action.
pub fn perform_patch(
    files: &mut impl WorkspaceFiles,
    folder: &str,
    patch: &Patch,
    salt: Option<u64>,
) -> Outcome {
    let done =
        failure_texts::folder(folder).and_then(|within| patch::apply(files, &within, patch, salt));
    done.unwrap_or_else(|failure| failure)
}

/// Carries out an action as [`perform_in`] does, unless one of its files is not as the model knows
/// it: `known` is `ToolRun::known`. The outcome of a success has the digests of the files as they
/// are now.
pub fn perform_known(
    files: &mut impl WorkspaceFiles,
    folder: &str,
    action: &Action,
    known: Option<&[Option<String>]>,
) -> Outcome {
    // Parsed once here, for its files and for its application: patches can be long.
    let patch = known.and_then(|_| match action {
        Action::Patch { patch, salt } => Some((Patch::parse(patch).ok()?, *salt)),
        _ => None,
    });
    let named =
        known.map(|known| (known, named(folder, action, patch.as_ref().map(|(patch, _)| patch))));
    if let Some((known, named)) = &named {
        for (path, known) in named.iter().zip(*known) {
            if let Some(path) = path
                && let Err(failure) = check(files, path, known.as_deref())
            {
                return failure;
            }
        }
    }
    let mut outcome = match &patch {
        Some((patch, salt)) => perform_patch(files, folder, patch, *salt),
        None => perform_in(files, folder, action),
    };
    if let Some((_, named)) = named.filter(|_| outcome.error.is_none()) {
        // Of what is on the disk now: the next call that names the file is compared with that.
        let digest = |path: &WorkspacePath| digest(files, path);
        let digests = named.iter().map(|path| path.as_ref().map(digest).unwrap_or_default());
        outcome.digests = digests.into_list();
    }
    outcome
}

/// Returns the files that the action names, with `patch` as its parsed patch. One that cannot be
/// reached is `None`: the action itself fails at it, in better words.
fn named(folder: &str, action: &Action, patch: Option<&Patch>) -> Vec<Option<WorkspacePath>> {
    let within = failure_texts::folder(folder).ok();
    let place = |path| failure_texts::writable_path(within.as_ref()?, path).ok();
    action.files(patch).into_iter().map(|file| place(file.path)).into_list()
}

/// Checks that a file is as the model knows it, or that no file is there if the model knows of
/// none.
fn check(
    files: &impl WorkspaceFiles,
    path: &WorkspacePath,
    known: Option<&str>,
) -> Result<(), Outcome> {
    let why = match known {
        None if files.stat(path).is_ok_and(|stat| stat.kind == EntryKind::File) => {
            "is there already. Read it before you overwrite it."
        }
        Some(known)
            // A file that cannot be read has an empty digest: the action itself fails at it. An
            // empty `known` stands for any content.
            if !["", known].contains(&digest(files, path).as_str()) && !known.is_empty() =>
        {
            "has changed since you read it. Read it again before you change it."
        }
        _ => return Ok(()),
    };
    Err(failure_texts::error(ToolError::EditConflict, format!("{path} {why}")))
}

/// Returns the digest of a file; an empty one if it cannot be read.
fn digest(files: &impl WorkspaceFiles, path: &WorkspacePath) -> String {
    files.read(path).map(|bytes| DigestBuilder::of(&bytes).text()).unwrap_or_default()
}

fn attempt(
    files: &mut impl WorkspaceFiles,
    folder: &str,
    action: &Action,
) -> Result<Outcome, Outcome> {
    let within = &failure_texts::folder(folder)?;
    match action {
        &Action::Read { ref path, offset, limit, numbering, line_chars, notice } => read::read(
            files,
            within,
            path,
            ReadOptions { offset, limit, numbering, line_chars, notice },
        ),
        Action::ViewImage { path } => read::view_image(files, within, path),
        Action::ReadMany { include, exclude, flat, hidden } => {
            read_many::read_many(files, within, include, exclude, *flat, *hidden)
        }
        Action::Write { path, content, salt } => write::write(files, within, path, content, *salt),
        Action::Edit { path, old, new, all, salt } => {
            edit::edit(files, within, path, old, new, *all, *salt)
        }
        Action::List { path, depth, ignore, hidden, style } => {
            let (path, depth) = (path.as_deref(), *depth);
            let (hidden, style) = (*hidden, *style);
            list::list(files, &list::ListQuery { within, path, depth, ignore, hidden, style })
        }
        Action::Glob { pattern, path, ignore_case, max_results, hidden } => {
            let query = glob::GlobQuery {
                within,
                pattern,
                path: path.as_deref(),
                ignore_case: *ignore_case,
                max_results: *max_results,
                hidden: *hidden,
            };
            glob::glob(files, &query)
        }
        Action::Grep(query) => grep::grep(files, within, query),
        Action::Patch { patch, salt } => patch::patch(files, within, patch, *salt),
        Action::Fetch { .. } => Err(failure_texts::error(
            ToolError::UnknownTool,
            "Pages of the web cannot be read here: only file tools can.",
        )),
        Action::RunProgram { .. } | Action::Shell { .. } => Err(failure_texts::error(
            ToolError::UnknownTool,
            "Programs cannot run here: only file tools can.",
        )),
    }
}

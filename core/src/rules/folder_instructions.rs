//! Recognition of calls that come into a folder with instructions of its own, which the model is
//! then shown. Paths are compared as text; nothing is refused here, so that a guess about a command
//! line does no harm.

use alloc::string::String;
use innerloop_types::{
    action::{Action, Patch},
    json::{Json, Value, from_str},
    path::{resolved, seen},
    text::is_word,
};

/// Returns the folder that the document at `path` has instructions for, from the workspace's root
/// on; `None` if that is above the root.
pub(crate) fn doc_folder(path: &str) -> Option<String> {
    let above = path.rsplit_once(['/', '\\']).map_or("", |(above, _)| above);
    let above = resolved("", above)?;
    // GPT's file is `.codex/instructions.md`, and holds for the folder above `.codex`.
    let own = above.strip_suffix(".codex").filter(|own| own.is_empty() || own.ends_with('/'));
    Some(own.map(|own| String::from(own.trim_end_matches('/'))).unwrap_or(above))
}

/// The folder that a call's agent works in, and a folder with instructions, both from the
/// workspace's root on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructionScope<'a> {
    pub(crate) folder: &'a str,
    pub(crate) to: &'a str,
}

impl InstructionScope<'_> {
    /// Returns whether a built-in action names something in the folder `to`; `patch` is the outline
    /// of its patch, if it has one.
    pub(crate) fn is_gone_by(self, action: &Action, patch: Option<&Patch>) -> bool {
        match action {
            Action::ReadMany { include, .. } => include.iter().any(|path| self.leads_in(path)),
            Action::Shell { command, .. } => self.is_named_in(command),
            Action::RunProgram { args, .. } => args.iter().any(|text| self.is_named_in(text)),
            Action::Glob { pattern, path, .. } => {
                let base = path.as_deref().unwrap_or_default();
                // The pattern may name the folder as well as the base: `web/**/*.ts` from the root
                // comes into `web`.
                self.leads_in(base)
                    || resolved(base, pattern).is_some_and(|path| self.leads_in(&path))
            }
            _ => {
                let files = action.files(patch);
                let mut paths = files.iter().map(|file| file.path).chain(action.path());
                paths.any(|path| self.leads_in(path))
            }
        }
    }

    /// Returns whether an argument of a host's tool with one of these names is a path in the
    /// folder.
    pub(crate) fn is_gone_by_own(self, arguments: &Json, names: &[String]) -> bool {
        let arguments: Value = from_str(arguments.text()).unwrap_or_default();
        names.iter().filter_map(|name| arguments.get(name)).any(|value| match value {
            Value::String(path) => self.leads_in(path),
            Value::Array(paths) => {
                paths.iter().filter_map(Value::as_str).any(|path| self.leads_in(path))
            }
            _ => false,
        })
    }

    fn leads_in(self, path: &str) -> bool {
        resolved(self.folder, path).is_some_and(|path| seen(self.to, &path).is_some())
    }

    /// Returns whether a command line or an argument of a program contains the folder's path.
    fn is_named_in(self, text: &str) -> bool {
        let Some(path) = seen(self.folder, self.to) else { return false };
        text.match_indices(path).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let behind = text.get(at + path.len()..).unwrap_or_default();
            // Only the whole path counts: not `docs-old` or `docs.md` for `docs`, nor `other/docs`.
            // `./docs` is the folder itself.
            let goes_on = |c: char| is_word(c) || matches!(c, '-' | '.');
            let is_below = before.ends_with('/') && !before.ends_with("./");
            !is_below && !before.ends_with(goes_on_before) && !behind.starts_with(goes_on)
        })
    }
}

fn goes_on_before(c: char) -> bool {
    is_word(c) || c == '-'
}

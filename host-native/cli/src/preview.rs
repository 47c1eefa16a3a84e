//! The preview of a call for the person who may allow it: its arguments in readable form, and the
//! changes that it would make to files as a diff. The diff comes from carrying the call out on
//! copies in memory, with the tools' own code.

use super::{
    args::ColourChoice,
    call_summary::{CallDescriber, CallDescription},
    number_format::counted,
    style::{OutputStyle, TextColour, brief, harmless},
};
use innerloop_core::{action::Action, json::JsonObject};
use innerloop_driver::SessionFirewall;
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform_in, perform_patch};
use innerloop_workspace::{Workspace, diff::RunChanges};

/// The limits of what is shown: of arguments that a diff shows as well, of other arguments, of a
/// diff, and if everything is wanted.
const LITTLE: PreviewLimits = PreviewLimits { lines: 6, chars: 110 };
const MUCH: PreviewLimits = PreviewLimits { lines: 40, chars: 4_000 };
const DIFF: PreviewLimits = PreviewLimits { lines: 40, chars: 200 };
const ALL: PreviewLimits = PreviewLimits { lines: usize::MAX, chars: usize::MAX };

/// The most characters of a name.
const NAME: usize = 40;

/// The largest file of which a diff is shown.
const LARGEST: u64 = 4 << 20;

/// The most lines of a text, and characters of a line, that are shown.
#[derive(Clone, Copy, Debug)]
struct PreviewLimits {
    lines: usize,
    chars: usize,
}

/// The effect of a call on files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileEffect {
    /// These changes.
    Diff(String),
    /// Nothing: the files already have that content.
    Nothing,
    /// The call would fail, for that reason.
    Failure(String),
    /// The effect is not known.
    Unknown,
}

/// The preview of calls over a workspace.
pub(super) struct CallPreview {
    words: CallDescriber,
    workspace: Workspace,
    /// The masks of the session, which the tools undo and a diff shows.
    firewall: SessionFirewall,
}

impl CallPreview {
    /// Previews calls in those words, over that workspace.
    pub(super) fn new(
        words: &CallDescriber,
        workspace: &Workspace,
        firewall: &SessionFirewall,
    ) -> Self {
        let (words, firewall) = (words.clone(), firewall.clone());
        Self { words, workspace: workspace.clone(), firewall }
    }

    /// Returns a call as a person reads it before allowing it: what it does in words, then each
    /// argument on lines of its own, unless the words or the diff below say it all.
    pub(super) fn call(
        &self,
        name: &str,
        arguments: &str,
        effect: &FileEffect,
        style: OutputStyle,
    ) -> String {
        let action = self.words.action(name, arguments);
        let room = if action.as_ref().is_some_and(changes_files) { LITTLE } else { MUCH };
        let phrase = action
            .map_or_else(|| CallDescription::name(name), |action| self.words.phrase_of(&action));
        let verb = style.paint(TextColour::Cyan, &phrase.verb);
        let headline = format!("{verb} {}", phrase.rest);
        let is_all = phrase.is_all || matches!(effect, FileEffect::Diff(_));
        let fields = if is_all { String::new() } else { fields(arguments, room, style) };
        format!("{}\n{fields}", headline.trim_end())
    }

    /// Returns everything that a call says, each argument on lines of its own.
    pub(super) fn details(&self, arguments: &str, style: OutputStyle) -> String {
        fields(arguments, ALL, style)
    }

    /// Returns whether the question about a call leaves out some of it that no diff shows. Such a
    /// call can only be allowed after its details were shown.
    pub(super) fn is_cut(&self, name: &str, arguments: &str) -> bool {
        let plain = OutputStyle::new(ColourChoice::Never);
        !self.changes_files(name, arguments)
            && !self.words.phrase(name, arguments).is_all
            && fields(arguments, MUCH, plain) != fields(arguments, ALL, plain)
    }

    /// Returns whether a call changes files in a way that a diff can show.
    pub(super) fn changes_files(&self, name: &str, arguments: &str) -> bool {
        self.words.action(name, arguments).as_ref().is_some_and(changes_files)
    }

    /// Returns the action that a call means, if it is a call of a built-in tool.
    pub(super) fn action(&self, name: &str, arguments: &str) -> Option<Action> {
        self.words.action(name, arguments)
    }

    /// Returns the effect on files of the call of an agent in `folder`.
    pub(super) fn effect(&self, name: &str, arguments: &str, folder: &str) -> FileEffect {
        let Some(mut action) = self.words.action(name, arguments) else {
            return FileEffect::Unknown;
        };
        action.salt_masks(self.firewall.salt());
        let patch = match &action {
            Action::Write { .. } | Action::Edit { .. } => None,
            Action::Patch { patch, .. } => match self.words.patches().read(patch) {
                None => return FileEffect::Unknown,
                patch => patch,
            },
            _ => return FileEffect::Unknown,
        };
        let mut files = InMemoryFiles::new();
        let named = action.files(patch.as_deref());
        if !named.iter().all(|file| self.load(file.path, folder, &mut files)) {
            return FileEffect::Unknown;
        }
        let outcome = match &patch {
            Some(patch) => perform_patch(&mut files, folder, patch, action.salt()),
            None => perform_in(&mut files, folder, &action),
        };
        if outcome.error.is_some() {
            return FileEffect::Failure(outcome.joined_text().trim_end().to_owned());
        }
        let mut changes = RunChanges::default();
        outcome.changes.iter().for_each(|change| changes.add(change));
        let diff = self.firewall.masked(&changes.unified()).into_owned();
        if diff.is_empty() { FileEffect::Nothing } else { FileEffect::Diff(diff) }
    }

    /// Copies the file at a path, if there is one. Returns false if it can't be copied, so that the
    /// call's effect on it is not known: it is too large, not UTF-8, or may not be read.
    fn load(&self, path: &str, folder: &str, files: &mut InMemoryFiles) -> bool {
        let file = WorkspacePath::folder(folder).and_then(|folder| folder.file_at(path));
        // A path that leads out of the workspace makes the action fail, with its own message.
        let Ok(path) = file else { return true };
        match self.workspace.read(path.as_str(), LARGEST) {
            Some(bytes) => std::str::from_utf8(&bytes).is_ok() && files.write(&path, bytes).is_ok(),
            None => self.workspace.is_free(path.as_str()),
        }
    }
}

/// Returns the first lines of a diff, each cut to a readable length.
pub(super) fn shortened(diff: &str) -> String {
    let mut lines = diff.lines();
    let mut out = String::new();
    for line in lines.by_ref().take(DIFF.lines) {
        match line.char_indices().nth(DIFF.chars) {
            Some((end, _)) => out.push_str(line.get(..end).unwrap_or_default()),
            None => out.push_str(line),
        }
        let is_cut = line.len() > DIFF.chars && line.chars().nth(DIFF.chars).is_some();
        out.push_str(if is_cut { "…\n" } else { "\n" });
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("… {}; d shows all\n", counted(more as u64, "more line"))),
    }
    out
}

const fn changes_files(action: &Action) -> bool {
    matches!(action, Action::Write { .. } | Action::Edit { .. } | Action::Patch { .. })
}

/// Returns each argument on lines of its own.
fn fields(arguments: &str, room: PreviewLimits, style: OutputStyle) -> String {
    let mut out = String::new();
    let Ok(fields) = serde_json::from_str::<JsonObject>(arguments) else {
        out.push_str(&format!("  {}\n", cut(arguments, room, style)));
        return out;
    };
    for (name, value) in &fields.0 {
        let text = serde_json::from_str::<String>(value.text());
        let text = text.unwrap_or_else(|_| value.text().to_owned());
        let lines: Vec<&str> = text.lines().collect();
        let name = brief(name, NAME);
        match lines.as_slice() {
            [] => out.push_str(&format!("  {name}:\n")),
            [line] => out.push_str(&format!("  {name}: {}\n", cut(line, room, style))),
            lines => {
                out.push_str(&format!("  {name}:\n"));
                for line in lines.iter().take(room.lines) {
                    out.push_str(&format!("    {}\n", cut(line, room, style)));
                }
                if let Some(more) = lines.len().checked_sub(room.lines).filter(|more| *more > 0) {
                    let more = format!("    … {more} more lines");
                    out.push_str(&format!("{}\n", style.paint(TextColour::Dim, &more)));
                }
            }
        }
    }
    out
}

/// Returns the beginning of a line, and how much of it is missing.
fn cut(line: &str, room: PreviewLimits, style: OutputStyle) -> String {
    let line = harmless(line);
    match line.char_indices().nth(room.chars) {
        None => line.into_owned(),
        Some((end, _)) => {
            let (shown, rest) = line.split_at(end);
            let more = format!("… {} more characters", rest.chars().count());
            format!("{shown}{}", style.paint(TextColour::Dim, &more))
        }
    }
}

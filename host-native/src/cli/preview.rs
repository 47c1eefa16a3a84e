//! What a call would do, for a person who is to allow it: its arguments readably, and the changes
//! that it would make to files as a diff.

use super::{
    style::{Colour, Style, brief, harmless},
    words::{Phrase, Words},
};
use crate::{diff::Changes, sandbox::Workspace};
use innerloop_core::{
    action::{Action, Patch},
    config::SessionConfig,
    json::Object,
};
use innerloop_tools::{Files, Memory, WorkspacePath, perform_in};

/// What is shown of an argument: of what a diff shows in full, of others, and where all is wanted.
const LITTLE: Room = Room { lines: 6, chars: 110 };
const MUCH: Room = Room { lines: 40, chars: 4_000 };
const ALL: Room = Room { lines: usize::MAX, chars: usize::MAX };

/// Characters of a name that are shown.
const NAME: usize = 40;

/// The largest file of which a diff is shown.
const LARGEST: u64 = 4 << 20;

/// Lines of a text, and characters of a line, that are shown.
#[derive(Clone, Copy, Debug)]
struct Room {
    lines: usize,
    chars: usize,
}

/// Shows calls over a workspace.
pub(super) struct Preview {
    words: Words,
    workspace: Workspace,
}

impl Preview {
    /// For the calls of a session with that configuration, over that workspace.
    pub(super) fn new(config: &SessionConfig, workspace: &Workspace) -> Self {
        Self { words: Words::new(config), workspace: workspace.clone() }
    }

    /// A call as a person reads it before it is allowed: what it does in words, then each argument
    /// on lines of its own, unless the words say it all.
    pub(super) fn call(&self, name: &str, arguments: &str, style: Style) -> String {
        let action = self.words.action(name, arguments);
        let room = if action.as_ref().is_some_and(changes_files) { LITTLE } else { MUCH };
        let phrase = action.map_or_else(|| Phrase::name(name), |action| Phrase::of(&action));
        let verb = style.paint(Colour::Cyan, &phrase.verb);
        let headline = format!("{verb} {}", phrase.rest);
        let fields = if phrase.is_all { String::new() } else { fields(arguments, room, style) };
        format!("{}\n{fields}", headline.trim_end())
    }

    /// All that a call says, each argument on lines of its own.
    pub(super) fn details(&self, arguments: &str, style: Style) -> String {
        fields(arguments, ALL, style)
    }

    /// Whether a call changes files as a diff can show.
    pub(super) fn changes_files(&self, name: &str, arguments: &str) -> bool {
        self.words.action(name, arguments).as_ref().is_some_and(changes_files)
    }

    /// What a call means, if it is one of a built-in tool.
    pub(super) fn action(&self, name: &str, arguments: &str) -> Option<Action> {
        self.words.action(name, arguments)
    }

    /// The changes that the call of an agent in `folder` would make, if it is one that changes
    /// files.
    pub(super) fn diff(&self, name: &str, arguments: &str, folder: &str) -> Option<String> {
        let action = self.words.action(name, arguments)?;
        let mut files = Memory::new();
        match &action {
            Action::Write { path, .. } | Action::Edit { path, .. } => {
                self.load(path, folder, &mut files);
            }
            Action::Patch { patch, .. } => {
                let patch = Patch::parse(patch).ok()?;
                patch.paths().for_each(|affected| self.load(affected.path, folder, &mut files));
            }
            _ => return None,
        }
        let outcome = perform_in(&mut files, folder, &action);
        if outcome.error.is_some() {
            return Some(format!("it would fail: {}\n", outcome.joined_text().trim_end()));
        }
        let mut changes = Changes::default();
        outcome.changes.iter().for_each(|change| changes.add(change));
        let diff = changes.unified();
        Some(if diff.is_empty() { "it would change nothing\n".to_owned() } else { diff })
    }

    /// Copies a file of the workspace, if it is one.
    fn load(&self, path: &str, folder: &str, files: &mut Memory) {
        let file = WorkspacePath::folder(folder).and_then(|folder| folder.file_at(path));
        let Ok(path) = file else { return };
        // A path that cannot be read or written to is told by the action itself.
        if let Some(bytes) = self.workspace.read(path.as_str(), LARGEST) {
            let _copied = files.write(&path, bytes);
        }
    }
}

const fn changes_files(action: &Action) -> bool {
    matches!(action, Action::Write { .. } | Action::Edit { .. } | Action::Patch { .. })
}

/// Each argument on lines of its own.
fn fields(arguments: &str, room: Room, style: Style) -> String {
    let mut out = String::new();
    let Ok(fields) = serde_json::from_str::<Object>(arguments) else {
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
                    out.push_str(&format!("{}\n", style.paint(Colour::Dim, &more)));
                }
            }
        }
    }
    out
}

/// The beginning of a line, and how much of it is missing.
fn cut(line: &str, room: Room, style: Style) -> String {
    let line = harmless(line);
    match line.char_indices().nth(room.chars) {
        None => line.into_owned(),
        Some((end, _)) => {
            let (shown, rest) = line.split_at(end);
            let more = format!("… {} more characters", rest.chars().count());
            format!("{shown}{}", style.paint(Colour::Dim, &more))
        }
    }
}

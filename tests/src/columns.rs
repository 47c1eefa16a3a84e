//! The columns of the specification's parity matrix: what a model of each family calls, in the
//! words that it knows.

use crate::{anthropic::Message, wires::FAMILIES};
use innerloop_core::config::{ProfileKind, VocabularyKind, WireKind};
use serde_json::{Value, json};

/// A column of the matrix: a family under one of its vocabularies.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The protocol that it is spoken to in.
    pub wire: WireKind,
    /// The family.
    pub profile: ProfileKind,
    /// Whose names the tools have.
    pub vocabulary: VocabularyKind,
    /// Whether there is a shell among the programs.
    pub has_shell: bool,
}

/// A call in a column's own words.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments; a text if they are free-form.
    pub arguments: Value,
    is_freeform: bool,
}

/// A call of that tool.
#[must_use]
pub fn wish(tool: &'static str, arguments: Value) -> Wish {
    Wish { tool, arguments, is_freeform: false }
}

/// A message with those calls, whose ids are counted from `first` on.
#[must_use]
pub fn calls(wishes: &[Wish], first: usize) -> Message {
    (first..).zip(wishes).fold(Message::text(""), |message, (number, wish)| {
        let id = format!("call-{number}");
        match wish.arguments.as_str().filter(|_| wish.is_freeform) {
            Some(text) => message.and_freeform_call(&id, wish.tool, text),
            None => message.and_call(&id, wish.tool, &wish.arguments),
        }
    })
}

impl Column {
    /// The families that the specification's matrix names, each under its own names.
    #[must_use]
    pub fn native(has_shell: bool) -> Vec<Self> {
        let families = FAMILIES.into_iter().filter(|(wire, ..)| {
            matches!(wire, WireKind::OpenaiResponses | WireKind::Anthropic | WireKind::Gemini)
        });
        let column = |(wire, profile, _)| Self {
            wire,
            profile,
            vocabulary: VocabularyKind::Native,
            has_shell,
        };
        families.map(column).collect()
    }

    /// Whether the tools have the names that the family was trained on.
    #[must_use]
    pub const fn is_native(self) -> bool {
        matches!(self.vocabulary, VocabularyKind::Native)
    }

    /// Whether the family does all but patches in a shell.
    #[must_use]
    pub const fn is_shell_only(self) -> bool {
        self.has_shell && self.is_native() && matches!(self.profile, ProfileKind::Openai)
    }

    /// A command in the shell.
    #[must_use]
    pub fn shell(self, command: &str, timeout_ms: Option<u64>) -> Wish {
        let (tool, limit) = match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) => ("shell_command", "timeout_ms"),
            (true, ProfileKind::Anthropic) => ("Bash", "timeout"),
            (true, _) => ("run_shell_command", ""),
            _ => ("shell", "timeout_ms"),
        };
        let mut arguments = json!({ "command": command });
        if let Some(ms) = timeout_ms.filter(|_| !limit.is_empty()) {
            arguments[limit] = ms.into();
        }
        wish(tool, arguments)
    }

    /// A file.
    #[must_use]
    pub fn read(self, path: &str) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) if self.has_shell => {
                self.shell(&format!("cat {path}"), None)
            }
            (true, ProfileKind::Anthropic) => wish("Read", json!({ "file_path": path })),
            _ => wish("read_file", json!({ "file_path": path })),
        }
    }

    /// A new file.
    #[must_use]
    pub fn write(self, path: &str, content: &str) -> Wish {
        let arguments = json!({"file_path": path, "content": content});
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) => {
                let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
                self.patch(&format!("*** Add File: {path}\n{added}"))
            }
            (true, ProfileKind::Anthropic) => wish("Write", arguments),
            _ => wish("write_file", arguments),
        }
    }

    /// Another text in the place of whole lines.
    #[must_use]
    pub fn edit(self, path: &str, old: &str, new: &str) -> Wish {
        let mut arguments = json!({"file_path": path, "old_string": old, "new_string": new});
        match (self.is_native(), self.profile) {
            (_, ProfileKind::Openai) => {
                let lines = |mark: char, text: &str| -> String {
                    text.lines().map(|line| format!("{mark}{line}\n")).collect()
                };
                let hunk = format!("@@\n{}{}", lines('-', old), lines('+', new));
                self.patch(&format!("*** Update File: {path}\n{hunk}"))
            }
            (true, ProfileKind::Anthropic) => wish("Edit", arguments),
            (true, _) => {
                arguments["instruction"] = "Change it.".into();
                wish("replace", arguments)
            }
            _ => wish("edit_file", arguments),
        }
    }

    /// A patch of files.
    #[must_use]
    pub fn patch(self, files: &str) -> Wish {
        let patch = format!("*** Begin Patch\n{files}*** End Patch\n");
        match self.vocabulary {
            VocabularyKind::Native => {
                Wish { tool: "apply_patch", arguments: patch.into(), is_freeform: true }
            }
            _ => wish("apply_patch", json!({ "patch": patch })),
        }
    }

    /// Finding files by pattern; small models have no such tool.
    #[must_use]
    pub fn glob(self, pattern: &str) -> Option<Wish> {
        Some(match (self.is_native(), self.profile) {
            (_, ProfileKind::Small) => return None,
            (true, ProfileKind::Openai) if self.has_shell => {
                self.shell(&format!("find {pattern}"), None)
            }
            (true, ProfileKind::Anthropic) => wish("Glob", json!({ "pattern": pattern })),
            _ => wish("glob", json!({ "pattern": pattern })),
        })
    }

    /// Lines that fit a pattern.
    #[must_use]
    pub fn grep(self, pattern: &str) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) if self.has_shell => {
                self.shell(&format!("rg {pattern}"), None)
            }
            (true, ProfileKind::Anthropic) => {
                wish("Grep", json!({"pattern": pattern, "output_mode": "content"}))
            }
            (true, ProfileKind::Gemini) => wish("grep_search", json!({ "pattern": pattern })),
            _ => wish("grep", json!({ "pattern": pattern })),
        }
    }

    /// A look around.
    ///
    /// # Panics
    /// The family has no tool for it.
    #[must_use]
    pub fn look(self) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Gemini) => wish("list_directory", json!({"dir_path": "."})),
            (false, ProfileKind::Anthropic | ProfileKind::Gemini | ProfileKind::Small) => {
                wish("list_dir", json!({}))
            }
            _ => self.glob("*").expect("a tool that finds files"),
        }
    }
}

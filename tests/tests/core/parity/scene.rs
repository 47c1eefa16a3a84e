//! A column of the parity matrix in its own words, and a session with a workspace.

use innerloop_core::{
    Session,
    action::{Action, Grep, Outcome, ToolError},
    config::{ProfileKind, ProgramFacts, SessionConfig, Vocabulary, WireKind},
    event::EventKind,
    id::{AgentId, EffectId},
    message::TurnKind,
    status::RunEnd,
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost, config},
    wires::{self, read},
};
use innerloop_tools::{Files, Memory, WorkspacePath, perform, perform_known};
use serde_json::{Value, json};

/// A column of the matrix: a family under one of its vocabularies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) wire: WireKind,
    pub(super) profile: ProfileKind,
    pub(super) vocabulary: Vocabulary,
}

/// A call in a column's own words.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    is_freeform: bool,
}

/// All columns. Small models have one vocabulary; GPT models are shown theirs over both protocols.
fn columns() -> Vec<Column> {
    let all = wires::FAMILIES.into_iter().flat_map(|(wire, profile, _)| {
        let vocabularies = match profile {
            ProfileKind::Small => vec![Vocabulary::Seed],
            _ => vec![Vocabulary::Seed, Vocabulary::Native],
        };
        vocabularies.into_iter().map(move |vocabulary| Column { wire, profile, vocabulary })
    });
    all.collect()
}

/// Runs a row of the matrix; the column stands in the output if it fails.
pub(super) fn row(cell: impl Fn(Column)) {
    for column in columns() {
        println!("{column:?}");
        cell(column);
    }
}

/// Runs a row for the families that the specification's matrix names.
pub(super) fn row_of_the_matrix(cell: impl Fn(Column)) {
    row(|column| {
        if column.profile != ProfileKind::Small {
            cell(column);
        }
    });
}

pub(super) fn wish(tool: &'static str, arguments: Value) -> Wish {
    Wish { tool, arguments, is_freeform: false }
}

impl Column {
    pub(super) fn config(self) -> SessionConfig {
        let mut config = config();
        wires::speak(&mut config.model, self.wire);
        config.model.vocabulary = self.vocabulary;
        let program = |name: &str| ProgramFacts { name: name.into(), description: "Runs.".into() };
        config.facts.programs = vec![program("bash"), program("qjs")];
        config
    }

    pub(super) const fn is_native(self) -> bool {
        matches!(self.vocabulary, Vocabulary::Native)
    }

    /// Whether the family does all but patches in a shell.
    pub(super) const fn is_shell_only(self) -> bool {
        self.is_native() && matches!(self.profile, ProfileKind::Openai)
    }

    pub(super) fn shell(self, command: &str, timeout_ms: Option<u64>) -> Wish {
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

    pub(super) fn read(self, path: &str) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) => self.shell(&format!("cat {path}"), None),
            (true, ProfileKind::Anthropic) => wish("Read", json!({ "file_path": path })),
            _ => wish("read_file", json!({ "file_path": path })),
        }
    }

    pub(super) fn write(self, path: &str, content: &str) -> Wish {
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
    pub(super) fn edit(self, path: &str, old: &str, new: &str) -> Wish {
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

    pub(super) fn patch(self, files: &str) -> Wish {
        let patch = format!("*** Begin Patch\n{files}*** End Patch\n");
        match self.vocabulary {
            Vocabulary::Native => {
                Wish { tool: "apply_patch", arguments: patch.into(), is_freeform: true }
            }
            _ => wish("apply_patch", json!({ "patch": patch })),
        }
    }

    /// Finding files by pattern; small models have no such tool.
    pub(super) fn glob(self, pattern: &str) -> Option<Wish> {
        Some(match (self.is_native(), self.profile) {
            (_, ProfileKind::Small) => return None,
            (true, ProfileKind::Openai) => self.shell(&format!("find {pattern}"), None),
            (true, ProfileKind::Anthropic) => wish("Glob", json!({ "pattern": pattern })),
            _ => wish("glob", json!({ "pattern": pattern })),
        })
    }

    pub(super) fn grep(self, pattern: &str) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Openai) => self.shell(&format!("rg {pattern}"), None),
            (true, ProfileKind::Anthropic) => {
                wish("Grep", json!({"pattern": pattern, "output_mode": "content"}))
            }
            (true, _) => wish("grep_search", json!({ "pattern": pattern })),
            _ => wish("grep", json!({ "pattern": pattern })),
        }
    }

    /// A look around.
    pub(super) fn look(self) -> Wish {
        match (self.is_native(), self.profile) {
            (true, ProfileKind::Gemini) => wish("list_directory", json!({"dir_path": "."})),
            (false, ProfileKind::Anthropic | ProfileKind::Gemini | ProfileKind::Small) => {
                wish("list_dir", json!({}))
            }
            _ => self.glob("*").expect("a tool that finds files"),
        }
    }
}

/// A session and its workspace.
pub(super) struct Scene {
    column: Column,
    pub(super) host: TestHost,
    files: Memory,
    calls: usize,
}

impl Scene {
    pub(super) fn new(column: Column, files: &[(&str, &str)]) -> Self {
        Self::with(column, column.config(), files)
    }

    pub(super) fn with(column: Column, config: SessionConfig, files: &[(&str, &str)]) -> Self {
        let mut scene =
            Self { column, host: TestHost::open(config), files: Memory::new(), calls: 0 };
        for (path, text) in files {
            scene.put(path, text);
        }
        scene
    }

    /// A session of the Anthropic family with the guard of files that were not read.
    pub(super) fn guarded(files: &[(&str, &str)]) -> Self {
        Self::guarded_as(ProfileKind::Anthropic, files)
    }

    pub(super) fn guarded_as(profile: ProfileKind, files: &[(&str, &str)]) -> Self {
        let mut config = config();
        (config.guard.read_before_write, config.model.profile) = (true, profile);
        let wire = WireKind::Anthropic;
        let column = Column { wire, profile, vocabulary: Vocabulary::Seed };
        Self::with(column, config, files)
    }

    pub(super) const fn wire(&self) -> WireKind {
        self.column.wire
    }

    pub(super) fn put(&mut self, path: &str, text: &str) {
        let path = WorkspacePath::parse(path).unwrap();
        self.files.write(&path, text.as_bytes().to_vec()).unwrap();
    }

    pub(super) fn delete(&mut self, path: &str) {
        self.files.remove(&WorkspacePath::parse(path).unwrap()).unwrap();
    }

    /// The session goes on from its snapshot.
    pub(super) fn restore(&mut self) {
        let snapshot = self.host.session.snapshot();
        self.host.session = Session::restore(&snapshot, EPOCH).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> String {
        let path = WorkspacePath::parse(path).unwrap();
        String::from_utf8(self.files.bytes(&path).unwrap_or_default().to_vec()).unwrap()
    }

    /// A message with those calls.
    pub(super) fn message(&mut self, wishes: &[Wish]) -> Message {
        let empty = Message::text("");
        wishes.iter().fold(empty, |message, wish| {
            self.calls += 1;
            let id = format!("call-{}", self.calls);
            match wish.arguments.as_str().filter(|_| wish.is_freeform) {
                Some(text) => message.and_freeform_call(&id, wish.tool, text),
                None => message.and_call(&id, wish.tool, &wish.arguments),
            }
        })
    }

    /// The model makes those calls in one reply; they run until each has answered.
    pub(super) fn does(&mut self, wishes: &[Wish]) {
        let message = self.message(wishes);
        self.call(&message);
    }

    pub(super) fn call(&mut self, message: &Message) {
        self.host.reply(message);
        while let Some(&id) = self.host.runs.keys().next() {
            self.run(id);
        }
    }

    pub(super) fn run(&mut self, id: EffectId) {
        let run = self.host.runs[&id].clone();
        let outcome = match &run.job {
            Job::Builtin(Action::RunProgram { program, args, .. }) if program == "bash" => {
                self.bash(&args[1], run.timeout_ms)
            }
            Job::Builtin(Action::RunProgram { args, .. }) => {
                Outcome { exit: Some(0), ..Outcome::text(args.join(" ")) }
            }
            Job::Builtin(action) => {
                perform_known(&mut self.files, &run.folder, action, run.known.as_deref())
            }
            Job::Custom(_) => Outcome::error(ToolError::UnknownTool, "none"),
        };
        let _ = self.host.done(id, outcome);
    }

    /// A scripted shell of six commands.
    fn bash(&mut self, command: &str, timeout_ms: u64) -> Outcome {
        let ran = |text: String| Outcome { exit: Some(0), ..Outcome::text(text) };
        let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
        match program {
            "sleep" => {
                let error = Some(ToolError::Timeout);
                Outcome { error, timed_out: true, ..Outcome::text(format!("slept {timeout_ms}")) }
            }
            "fail" => {
                let error = Some(ToolError::Exit);
                Outcome { error, exit: Some(1), ..Outcome::text("boom") }
            }
            "cat" => ran(self.text(rest)),
            "find" => ran(perform(&mut self.files, &Action::glob(rest, None)).joined_text()),
            "rg" => {
                let grep = Grep { pattern: rest.into(), ..Grep::default() };
                ran(perform(&mut self.files, &Action::Grep(grep)).joined_text())
            }
            _ => ran(rest.to_owned()),
        }
    }

    pub(super) fn says(&mut self, text: &str) {
        self.host.reply(&Message::text(text));
    }

    /// The newest result that the model reads.
    pub(super) fn result(&self) -> String {
        read::results(self.column.wire, &self.host.body()).last().expect("a result").text.clone()
    }

    /// Whether the newest result is an error, which the request says where its protocol can.
    pub(super) fn failed(&self) -> bool {
        let results = read::results(self.column.wire, &self.host.body());
        let turns = self.host.session.history(AgentId::ROOT).unwrap().turns();
        let last = turns.iter().rev().find_map(|turn| match &turn.kind {
            TurnKind::ToolResults(results) => results.last().map(|result| result.is_error),
            _ => None,
        });
        let failed = last.expect("a result");
        let marked = results.last().expect("a result").is_error;
        assert!(marked.is_none_or(|marked| marked == failed));
        failed
    }

    pub(super) fn tools(&self) -> Vec<String> {
        read::tools(self.column.wire, &self.host.body())
    }

    pub(super) fn end(&self) -> Option<RunEnd> {
        let ends = self.host.find(|kind| match kind {
            EventKind::ProcessingEnd { end, .. } => Some(*end),
            _ => None,
        });
        ends.last().copied()
    }
}

//! The rows of the parity matrix, and a session with a workspace.

use innerloop_core::{
    Session,
    action::{Action, GrepQuery, Outcome, ToolError},
    config::{ProfileKind, ProgramFacts, SessionConfig, VocabularyKind, WireKind},
    event::EventKind,
    id::{AgentId, EffectId},
    message::TurnKind,
    status::RunEnd,
    tool::Job,
};
use innerloop_tests::{
    anthropic::Message,
    columns::{Column, Wish, calls},
    test_host::{EPOCH, TestHost, config},
    wires::{self, read},
};
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform, perform_known};

/// All columns. Small models have one vocabulary; GPT models are shown theirs over both protocols.
fn columns() -> Vec<Column> {
    let all = wires::FAMILIES.into_iter().flat_map(|(wire, profile, _)| {
        let vocabularies = match profile {
            ProfileKind::Small => vec![VocabularyKind::Seed],
            _ => vec![VocabularyKind::Seed, VocabularyKind::Native],
        };
        vocabularies.into_iter().map(move |vocabulary| Column {
            wire,
            profile,
            vocabulary,
            has_shell: true,
        })
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

/// A configuration for that family, with a shell and another program.
pub(super) fn config_of(column: Column) -> SessionConfig {
    let mut config = config();
    wires::speak(&mut config.model, column.wire);
    config.model.vocabulary = column.vocabulary;
    let program = |name: &str| ProgramFacts { name: name.into(), description: "Runs.".into() };
    config.facts.programs = vec![program("bash"), program("qjs")];
    config
}

/// A session and its workspace.
pub(super) struct Scene {
    column: Column,
    pub(super) host: TestHost,
    files: InMemoryFiles,
    calls: usize,
}

impl Scene {
    pub(super) fn new(column: Column, files: &[(&str, &str)]) -> Self {
        Self::with(column, config_of(column), files)
    }

    pub(super) fn with(column: Column, config: SessionConfig, files: &[(&str, &str)]) -> Self {
        let mut scene =
            Self { column, host: TestHost::open(config), files: InMemoryFiles::new(), calls: 0 };
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
        let (wire, vocabulary) = (WireKind::Anthropic, VocabularyKind::Seed);
        let column = Column { wire, profile, vocabulary, has_shell: true };
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
        let first = self.calls + 1;
        self.calls += wishes.len();
        calls(wishes, first)
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
            Job::Builtin(Action::Shell { command, .. }) => self.bash(command, run.timeout_ms),
            Job::Builtin(Action::RunProgram { args, .. }) => {
                Outcome { exit: Some(0), ..Outcome::text(args.join(" ")) }
            }
            Job::Builtin(action) => {
                perform_known(&mut self.files, &run.folder, action, run.known.as_deref())
            }
            Job::Custom(_) | Job::Kept(_) => Outcome::error(ToolError::UnknownTool, "none"),
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
                let grep = GrepQuery { pattern: rest.into(), ..GrepQuery::default() };
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

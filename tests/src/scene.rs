//! A setting for the program: a workspace of its own, a mock model, and a place for files.

use crate::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::{KEY, Run, innerloop, run},
};
use innerloop_core::config::WireKind;
use innerloop_driver::providers::{self, Provider};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// Who speaks each protocol, and under which path below the mock model.
const PROVIDERS: [(WireKind, &str, &str); 5] = [
    (WireKind::OpenaiResponses, "openai", "/v1"),
    (WireKind::OpenaiChat, "openai-chat", "/v1"),
    (WireKind::Anthropic, "anthropic", ""),
    (WireKind::Gemini, "gemini", ""),
    (WireKind::Ollama, "ollama", ""),
];

/// A temporary folder with a workspace in it, and a mock model.
#[derive(Debug)]
pub struct Scene {
    folder: TempDir,
    wire: WireKind,
    /// Whose names the model knows the tools by.
    vocabulary: &'static str,
    /// The option that says where changes go, if one does.
    mode: Option<&'static str>,
    /// The mock model.
    pub model: Mock,
}

impl Scene {
    /// A scene whose workspace is empty and whose model gives these replies.
    ///
    /// # Panics
    /// There is no room for it.
    #[must_use]
    pub fn new(script: Vec<Reply>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        let (wire, vocabulary, mode) = (WireKind::Anthropic, "seed", Some("--apply"));
        Self { folder, wire, vocabulary, mode, model: Mock::start(script) }
    }

    /// With a model that speaks that protocol.
    #[must_use]
    pub fn speaking(self, wire: WireKind) -> Self {
        Self { wire, ..self }
    }

    /// With a model that knows the tools by the names that its family was trained on.
    #[must_use]
    pub fn natively(self) -> Self {
        Self { vocabulary: "native", ..self }
    }

    /// With an agent that changes the folder itself, while it works.
    #[must_use]
    pub fn in_place(self) -> Self {
        Self { mode: Some("--in-place"), ..self }
    }

    /// With a user who decides at the end what becomes of the changes.
    #[must_use]
    pub fn undecided(self) -> Self {
        Self { mode: None, ..self }
    }

    /// A scene whose model streams these messages.
    #[must_use]
    pub fn streaming(messages: &[Message]) -> Self {
        Self::new(messages.iter().map(Reply::stream).collect())
    }

    /// With a file in the workspace.
    ///
    /// # Panics
    /// It cannot be written.
    #[must_use]
    pub fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.workspace().join(name), text).expect("a file");
        self
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// A path beside the workspace.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The text of a file beside the workspace, or in it as `workspace/…`.
    ///
    /// # Panics
    /// It cannot be read.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a readable file")
    }

    /// Who speaks the protocol, and the mock model's address in its place.
    ///
    /// # Panics
    /// The protocol's provider is not known.
    #[must_use]
    pub fn provider(&self) -> (Provider, String) {
        let speaker = PROVIDERS.iter().find(|(wire, ..)| *wire == self.wire);
        let (_, name, below) = speaker.expect("a protocol that a provider speaks");
        let provider = providers::find(name).expect("a known provider");
        (provider, format!("{}{below}", self.model.url()))
    }

    /// `innerloop run` on the workspace with the mock model, which knows the tools by the
    /// specification's names if nothing else was said; changes are applied at the end.
    ///
    /// # Panics
    /// The protocol's provider is not known.
    #[must_use]
    pub fn command(&self, prompt: &str) -> Command {
        let (provider, base) = self.provider();
        let (name, model) = (&*provider.name, provider.default_model.as_deref());
        let model = model.unwrap_or("qwen3:8b");
        let mut command = innerloop(["run", prompt, "--base-url", &base]);
        command.args(self.mode);
        command.args(["--vocabulary", self.vocabulary]);
        if self.wire != WireKind::Anthropic {
            command.args(["--provider", name, "--model", model]);
        }
        command.envs(provider.key_variables.first().map(|variable| (variable, KEY)));
        command.arg("--workspace").arg(self.workspace());
        // Sessions are kept for this test alone.
        command.env("XDG_STATE_HOME", self.path("state"));
        command
    }

    /// Runs that command with further arguments.
    #[must_use]
    pub fn run(&self, args: &[&str]) -> Run {
        run(self.command("go").args(args))
    }

    /// As an argument, that path beside the workspace.
    #[must_use]
    pub fn arg(&self, name: &str) -> String {
        let path: &Path = &self.path(name);
        path.to_str().expect("a path of text").to_owned()
    }
}

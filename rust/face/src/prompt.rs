//! The prompt: a user's input to an agent.

use innerloop_core::{input::TurnOptions, message::Part};

/// A user's prompt: a text, or parts such as pictures, and options for this prompt only.
///
/// ```
/// # use innerloop_core::input::TurnOptions;
/// # use innerloop_face::Prompt;
/// let prompt = Prompt::from("What does this project do?").with_options(TurnOptions {
///     tools: Some(vec!["read_file".into(), "grep".into()]),
///     ..TurnOptions::default()
/// });
/// assert_eq!(prompt.parts.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The content of the prompt.
    pub parts: Vec<Part>,
    /// The options that apply until the run ends.
    pub options: Option<TurnOptions>,
}

impl Prompt {
    /// Returns the prompt with options that apply until the run ends.
    #[must_use]
    pub fn with_options(self, options: TurnOptions) -> Self {
        Self { options: Some(options), ..self }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::from(vec![Part::text(text)])
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Vec<Part>> for Prompt {
    fn from(parts: Vec<Part>) -> Self {
        Self { parts, options: None }
    }
}

//! The schema of the final answer, from the file of `--output-schema`. It is checked as a tool's
//! schema is, since the model gives the answer by calling a tool.

use super::exit::CliError;
use innerloop_core::{
    config::{AnswerConfig, SessionConfig},
    json::Json,
    schema,
    tool::ToolSpec,
};
use std::{fmt::Display, fs, path::Path};

/// A schema that an answer can be checked by.
#[derive(Debug)]
pub(super) struct AnswerSchema(Json);

impl AnswerSchema {
    /// Reads a schema and checks it.
    ///
    /// # Errors
    /// The file can't be read, or an answer can't be checked by its schema.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let unusable = |why: &dyn Display| {
            CliError::configuration(format!("--output-schema {}: {why}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(&error))?;
        let no_json = |error| unusable(&format_args!("it is no JSON: {error}"));
        let schema = Json::parse(text).map_err(no_json)?;
        let spec =
            ToolSpec { read_only: true, ..ToolSpec::new("final_answer", "", schema.clone()) };
        match schema::of_tool(&spec) {
            Ok(_) => Ok(Self(schema)),
            Err(error) => Err(unusable(&error.message)),
        }
    }

    /// Asks for it in a session. The number of reminders stays as it is, if it is set.
    pub(super) fn set(self, config: &mut SessionConfig) {
        let schema = self.0;
        config.answer = Some(match config.answer.take() {
            Some(answer) => AnswerConfig { schema, ..answer },
            None => AnswerConfig { schema, retries: RETRIES },
        });
    }
}

/// The number of times that the model is asked again if it ends with text instead of the answer.
const RETRIES: u32 = 2;

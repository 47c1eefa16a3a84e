//! Kinds of failure of a tool call, and the sources of a denial. The kind is for programs and for
//! wording; the outcome has the text that the model reads.

use innerloop_json::{FromJson, ToJson};

/// The source of a denial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
pub enum DeniedBy {
    /// A person, or a function that decides for them.
    #[default]
    // The default, which JSON leaves out: a host's `deny` with nothing but a reason is a person's.
    Person,
    /// Nobody was there to approve it.
    Nobody,
    /// A hook of the host.
    Hook,
    /// The options of the input, which exclude the tool.
    Options,
}

impl DeniedBy {
    /// Returns whether it is a person.
    #[must_use]
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person)
    }
}

/// The kinds of failure that a model can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolError {
    /// No such file, folder or program.
    NotFound,
    /// The path is outside the workspace or protected.
    PermissionDenied,
    /// The text to replace was not found, or not once.
    EditConflict,
    /// The arguments do not fit the tool's schema, or a pattern does not parse.
    InvalidArguments,
    /// No tool of that name.
    UnknownTool,
    /// A folder where a file is needed, or the other way round.
    WrongFileType,
    /// The file is not text.
    Binary,
    /// The file or the output is larger than the tool handles.
    TooLarge,
    /// The program ended with an exit code other than 0.
    Exit,
    /// The time limit ended the run.
    Timeout,
    /// The call was denied; `Outcome::denied_by` says by whom.
    Denied,
    /// The user or the host interrupted the run.
    Interrupted,
    /// A limit of the sandbox (memory, output, disk) ended the run.
    Limit,
    /// Reading or writing failed for another reason.
    Io,
    /// The tool itself broke.
    Crashed,
}

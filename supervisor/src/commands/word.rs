//! The words that texts are read as, as data for hosts in any language.

use alloc::string::String;
use innerloop_json::{FromJson, ToJson};

/// The word that a text is read as.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
pub enum CommandWord {
    /// A text for the model: as it was typed, or made of a template.
    Text {
        /// The text.
        text: String,
    },
    /// The credential that is pending. It holds no text, so that a log of words holds no secret;
    /// the caller has the text and must not log it either.
    Secret,
    /// A command that is not known, or a known one with wrong arguments. Its answer goes to the
    /// person and never to the model.
    Unknown {
        /// The command's name in small letters, without the slash.
        name: String,
        /// The known name that is most like it, if one is.
        #[json(skip_serializing_if = "Option::is_none")]
        near: Option<String>,
        /// How the command is used, such as `/undo [N] | /undo files`, if it is known.
        #[json(skip_serializing_if = "Option::is_none")]
        usage: Option<String>,
    },
    /// Undo that many steps.
    Undo {
        /// The number of steps, at least one.
        steps: u32,
    },
    /// Undo the changes of undone steps to files.
    UndoFiles,
    /// Redo that many steps.
    Redo {
        /// The number of steps, at least one.
        steps: u32,
    },
    /// Have the agent forget what was said.
    Clear,
    /// Sum the conversation up.
    Compact {
        /// What matters in it.
        #[json(skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
    /// Stop what goes on.
    Interrupt,
    /// Look at once whether there is something to do.
    Heartbeat,
    /// Summarize the thread for the person.
    Summarize,
    /// Suggest what to do next.
    Suggest,
    /// Begin another thread.
    NewThread,
    /// Go to a thread.
    Thread {
        /// Its UUID, or four or more characters that it begins with, in small letters.
        id: String,
    },
    /// List the threads.
    ListThreads,
    /// Go on with a stored thread.
    ResumeThread {
        /// Its UUID, or four or more characters that it begins with, in small letters.
        id: String,
    },
    /// Begin a job.
    CreateJob {
        /// What is to be done.
        text: String,
    },
    /// Tell how a job stands, or how all does.
    JobStatus {
        /// The job; none where the whole is meant.
        #[json(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// List the jobs.
    ListJobs {
        /// The words that they are chosen by.
        #[json(skip_serializing_if = "Option::is_none")]
        filter: Option<String>,
    },
    /// Cancel a job.
    CancelJob {
        /// The job.
        id: String,
    },
    /// Help a job that is stuck.
    HelpJob {
        /// The job.
        id: String,
    },
    /// A question to the program itself. It is answered in any state, whatever is pending.
    System {
        /// `help`, `version`, `tools`, `skills`, `ping`, `debug` or `model`.
        name: String,
        /// The text behind it; empty if there is none.
        args: String,
    },
    /// A command of the host's own.
    Own {
        /// The command's name, as the host has given it.
        name: String,
        /// The text behind it; empty if there is none.
        args: String,
    },
    /// Allow the call that waits for it. Without one the person is told so.
    Approve {
        /// True if calls like it are allowed from now on.
        always: bool,
    },
    /// Deny the call that waits for an approval. Without one the person is told so.
    Deny,
    /// Leave.
    Quit,
}

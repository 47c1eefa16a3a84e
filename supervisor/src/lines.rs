//! The door for hosts in other languages: a request as JSON in, a line of JSON out. Nothing is kept
//! between requests.

use crate::commands::{CommandTable, CommandWord, PendingAsks};
use alloc::string::{String, ToString as _};
use innerloop_json::{FromJson, ToJson, from_str, to_string};

/// A request.
#[derive(ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum SupervisorRequest {
    /// Read a text that a person has typed.
    Command(CommandRequest),
}

/// A text to read, and what it is read by.
#[derive(Default, ToJson, FromJson)]
#[json(default, deny_unknown_fields)]
struct CommandRequest {
    text: String,
    pending: PendingAsks,
    commands: CommandTable,
}

/// An answer.
#[derive(ToJson)]
#[json(rename_all = "snake_case")]
enum SupervisorAnswer {
    Word(CommandWord),
    Error(RequestFault),
}

/// The reason why a request is not answered.
#[derive(ToJson)]
struct RequestFault {
    code: &'static str,
    message: String,
}

/// Returns the answer to a request, as a line: `{"word": …}` to `{"command": {"text", "pending",
/// "commands"}}`, or an `error` with its code and message if there is no such request.
#[must_use]
pub fn answer(request: &[u8]) -> String {
    let read = str::from_utf8(request).map_err(|error| error.to_string());
    let read = read.and_then(|text| from_str(text).map_err(|error| error.to_string()));
    let answer = match read {
        Ok(SupervisorRequest::Command(CommandRequest { text, pending, commands })) => {
            SupervisorAnswer::Word(commands.read(&text, &pending))
        }
        Err(message) => SupervisorAnswer::Error(RequestFault { code: "bad_request", message }),
    };
    let mut line = to_string(&answer);
    line.push('\n');
    line
}

//! The tools as a WASI program: an action as JSON on standard input, its outcome as JSON on
//! standard output. The workspace is the program's root folder.

use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_tools::{Directory, perform};
use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let outcome = match serde_json::from_slice::<Action>(&input) {
        Ok(action) => perform(&mut Directory::new("/"), &action),
        Err(error) => Outcome::error(
            ToolError::InvalidArguments,
            format!("Standard input is not one action as JSON: {error}."),
        ),
    };
    let mut output = serde_json::to_vec(&outcome).map_err(io::Error::other)?;
    output.push(b'\n');
    io::stdout().lock().write_all(&output)
}

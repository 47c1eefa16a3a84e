//! The tools as a WASI program: an action as JSON on standard input, its outcome as JSON on
//! standard output. The workspace is the program's root folder. The first argument, if there is
//! one, is the folder that the action's agent works in, and the second the digests of the files as
//! the model knows them.

#[cfg(target_os = "wasi")]
mod listing;

use innerloop_json::{from_str, to_string};
use innerloop_tools::{DirectoryFiles, REPLACED_BY_HOST, perform_known};
use innerloop_types::action::{Action, Outcome, ToolError};
use std::{
    env,
    error::Error,
    io::{self, Read, Write},
};

fn main() -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let outcome = match action(&input) {
        Ok(action) => {
            let folder = env::args().nth(1).unwrap_or_default();
            let known = env::args().nth(2).and_then(|known| from_str::<Vec<_>>(&known).ok());
            let is_replaced_by_host = env::var_os(REPLACED_BY_HOST).is_some();
            let files = DirectoryFiles::new("/").replaced_by_host(is_replaced_by_host);
            #[cfg(target_os = "wasi")]
            let files = files.listed_by(listing::list);
            let mut files = files;
            perform_known(&mut files, &folder, &action, known.as_deref())
        }
        // An outcome, not an exit code: the host reads one JSON text whatever happens.
        Err(error) => Outcome::error(
            ToolError::InvalidArguments,
            format!("Standard input is not one action as JSON: {error}."),
        ),
    };
    let mut output = to_string(&outcome);
    output.push('\n');
    io::stdout().lock().write_all(output.as_bytes())
}

fn action(input: &[u8]) -> Result<Action, Box<dyn Error>> {
    Ok(from_str(str::from_utf8(input)?)?)
}

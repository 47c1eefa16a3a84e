//! `innerloop completions` and `innerloop man`: generate shell completions and manual pages from
//! the command line's definition.

use super::{
    args::{Cli, CompletionsArgs, ManArgs},
    console::{note, say},
    exit::{CliError, ExitReason},
};
use clap::CommandFactory as _;
use std::{
    fs,
    io::{Write as _, stdout},
    path::Path,
};

/// Prints the script with which a shell completes arguments.
pub(super) fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "innerloop", &mut text);
    print(&text);
    Ok(())
}

/// Prints the manual's main page, or writes all pages into a folder.
pub(super) fn man(args: &ManArgs) -> Result<(), CliError> {
    match &args.folder {
        Some(folder) => pages(folder),
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.map_err(|error| CliError::new(ExitReason::Failed, error))?;
            print(&page);
            Ok(())
        }
    }
}

fn pages(folder: &Path) -> Result<(), CliError> {
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        CliError::usage(format!("cannot write to {}: {error}", folder.display()))
    })?;
    say(&format!("the pages are in {}", folder.display()));
    Ok(())
}

/// Prints a text without escapes, since it contains nothing from outside of this program.
fn print(text: &[u8]) {
    let mut out = stdout().lock();
    note(out.write_all(text).and_then(|()| out.flush()));
}

//! `innerloop tools`: lists, installs, removes, verifies and runs the programs of the sandbox. The
//! manifest says which are known, the folder of programs which are installed.

mod install;
mod program_catalogue;
mod run;

use super::{
    args::{ToolsArgs, ToolsCommand},
    console::say,
    exit::{CliError, ExitReason},
};
use innerloop_sandbox::{manifest::ManifestEntry, program_folder, programs::BY_PATH};
use program_catalogue::{manifest, named, programs};
use std::collections::BTreeMap;

pub(super) async fn carry_out(args: ToolsArgs) -> Result<(), CliError> {
    match args.command {
        ToolsCommand::List => list(),
        ToolsCommand::Install { name, from } => install::install(&name, from.as_deref()).await,
        ToolsCommand::Remove { name } => remove(&name),
        ToolsCommand::Verify => verify(),
        ToolsCommand::Run(args) => run::run(args).await,
    }
}

/// Prints every program that is there or known, one per line.
fn list() -> Result<(), CliError> {
    let (manifest, programs) = (manifest()?, programs()?);
    let there: BTreeMap<&str, _> =
        programs.iter().map(|(name, path, entry)| (name, (path, entry))).collect();
    let mut names: Vec<&str> = there.keys().copied().collect();
    names.extend(manifest.iter().map(|(name, _)| name).filter(|name| !there.contains_key(name)));
    names.sort_unstable();
    let installed = program_folder::folder();
    for name in names {
        let (state, entry) = match (there.get(name), manifest.get(name)) {
            (Some((None, entry)), _) => ("comes along", *entry),
            (Some((Some(path), entry)), _) if path.parent() == installed.as_deref() => {
                ("installed", *entry)
            }
            (Some((Some(_), entry)), _) => ("is there", *entry),
            (None, Some(entry)) if !entry.enabled => ("turned off", entry),
            (None, Some(entry)) if name == BY_PATH => ("comes along", entry),
            (None, Some(entry)) => ("not installed", entry),
            (None, None) => continue,
        };
        let ManifestEntry { version, description, .. } = entry;
        say(format!("{name:<8} {state:<14} {version:<16} {description}").trim_end());
    }
    Ok(())
}

fn remove(name: &str) -> Result<(), CliError> {
    named(name)?;
    let removed = program_folder::remove(name);
    match removed.map_err(|error| {
        CliError::new(ExitReason::Failed, format!("cannot remove {name}: {error}"))
    })? {
        true => say(&format!("{name} is removed")),
        false => {
            let why = match programs()?.iter().any(|(known, ..)| known == name) {
                true => "it comes along; `enabled = false` in your tools.toml turns it off",
                false => "it is not installed; `innerloop tools list` tells what is",
            };
            return Err(CliError::usage(format!("cannot remove {name}: {why}")));
        }
    }
    Ok(())
}

/// Checks every program that is there against its digest, and fails if one is wrong.
fn verify() -> Result<(), CliError> {
    let programs = programs()?;
    let mut broken = 0;
    for (name, ..) in programs.iter() {
        match programs.verify(name) {
            Some(Ok(digest)) => say(&format!("ok    {name} {digest}")),
            Some(Err(error)) => {
                broken += 1;
                say(&format!("FAIL  {name}: {error}"));
            }
            None => {}
        }
    }
    match broken {
        0 => Ok(()),
        _ => Err(CliError::new(
            ExitReason::Failed,
            format!("{broken} programs are not what they should be"),
        )),
    }
}

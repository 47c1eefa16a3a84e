//! `innerloop tools install`: fetches a program, checks it against its digest, and compiles it, so
//! that the first run need not. Interrupted, it can be run again.

use super::program_catalogue::{manifest, named, programs};
use crate::{
    console::{say, warn},
    exit::{CliError, ExitReason},
    interrupts::SignalStream,
};
use innerloop_sandbox::{
    EngineOptions, OnProgress, SandboxEngine,
    install::{PackageIndexes, PackageSpec},
    manifest::ManifestEntry,
    program_folder::{self, PutError},
};
use std::{
    io::{IsTerminal, Write, stderr},
    path::Path,
    sync::Arc,
};
use tokio::task::spawn_blocking;

/// The width of the bar, in characters.
const BAR: u64 = 30;

pub(super) async fn install(name: &str, from: Option<&Path>) -> Result<(), CliError> {
    let mut interrupts = SignalStream::new()?;
    tokio::select! {
        installed = carry_out(name, from) => installed,
        exit = interrupts.next() => Err(CliError::new(exit, "interrupted; run it again to go on")),
    }
}

async fn carry_out(name: &str, from: Option<&Path>) -> Result<(), CliError> {
    let manifest = manifest()?;
    let name = manifest.of_command(name).unwrap_or(name).to_owned();
    named(&name)?;
    let entry = match (manifest.get(&name), from) {
        (Some(entry), _) => entry.clone(),
        (None, Some(_)) => ManifestEntry::unknown(&name),
        (None, None) => {
            let known: Vec<&str> = manifest.iter().map(|(name, _)| name).collect();
            return Err(CliError::usage(format!(
                "no program is known as {name}: there are {}; one of your own comes from --from \
                 FILE, or from an entry of your tools.toml",
                known.join(", ")
            )));
        }
    };
    if from.is_none() && is_there(&name)? {
        say(&format!("{name} ({}) is there already", entry.version));
    } else {
        fetch(&name, &entry, from).await?;
    }
    // Installed is not enough: the environment or the manifest may keep it from being run.
    if !programs()?.has(&name) {
        let why = if entry.enabled {
            "INNERLOOP_PROGRAMS names another folder"
        } else {
            "it is turned off"
        };
        let words = format!("{name} is installed, and is not run: {why}");
        return Err(CliError::configuration(words));
    }
    compile(&name).await?;
    say(&told(&name, &entry));
    Ok(())
}

/// Returns whether the program is there and has its digest. A built-in one counts.
fn is_there(name: &str) -> Result<bool, CliError> {
    Ok(matches!(programs()?.verify(name), Some(Ok(_))))
}

async fn fetch(name: &str, entry: &ManifestEntry, from: Option<&Path>) -> Result<(), CliError> {
    let failed = |error: PutError| {
        CliError::new(ExitReason::Failed, format!("cannot install {name}: {error}"))
    };
    let (put, own) = (entry.clone(), name.to_owned());
    // A program of the user's own has no archive and no digest: the file is the program.
    if let (Some(file), None) = (from, &entry.source) {
        let file = file.to_owned();
        let put = spawn_blocking(move || program_folder::put_file(&own, &put, &file)).await;
        put.map_err(|error| CliError::new(ExitReason::Failed, error))?.map_err(failed)?;
        return Ok(());
    }
    let package = match (from, &entry.source) {
        (Some(file), _) => PackageSpec::File(file.to_owned()),
        (None, Some(source)) => source.package.clone(),
        (None, None) => {
            let words = "nobody says where it comes from; name an archive with --from FILE";
            return Err(CliError::usage(format!("cannot install {name}: {words}")));
        }
    };
    let scratch = program_folder::made().map_err(failed)?;
    warn(&format!("fetching {package}"));
    let mut bar = ProgressBar::new();
    let mut on_bytes = |done, all| bar.show(done, all);
    let archive = package.fetch(&PackageIndexes::of_environment(), &scratch, &mut on_bytes).await;
    bar.end();
    let archive = archive.map_err(|error| failed(error.into()))?;
    let put = spawn_blocking(move || program_folder::put(&own, &put, &archive)).await;
    put.map_err(|error| CliError::new(ExitReason::Failed, error))?.map_err(failed)?;
    Ok(())
}

/// Compiles a program, unless the cache has it.
async fn compile(name: &str) -> Result<(), CliError> {
    let programs = programs()?;
    let tell: OnProgress = Arc::new(|line: &str| warn(line));
    let engine =
        SandboxEngine::new(EngineOptions { on_progress: Some(tell), ..EngineOptions::default() });
    let failed = |error| CliError::new(ExitReason::Failed, format!("{name} can't be run: {error}"));
    programs.compile(name, &engine).await.map_err(failed)
}

fn told(name: &str, entry: &ManifestEntry) -> String {
    let commands = entry.commands.join(", ");
    match &*entry.version {
        "" => format!("{name} is installed, as {commands}"),
        version => format!("{name} is installed: {version} ({}), as {commands}", entry.licence),
    }
}

/// The progress of a download: a bar on a terminal, nothing elsewhere.
struct ProgressBar {
    is_live: bool,
    /// The amount that was shown last, in tenths of a megabyte.
    shown: u64,
    /// The width of the line that was shown last.
    width: usize,
}

impl ProgressBar {
    fn new() -> Self {
        Self { is_live: stderr().is_terminal(), shown: u64::MAX, width: 0 }
    }

    fn show(&mut self, done: u64, all: Option<u64>) {
        let tenths = done / 100_000;
        if !self.is_live || tenths == self.shown {
            return;
        }
        self.shown = tenths;
        let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
        let line = match all.filter(|all| *all > 0) {
            Some(all) => {
                let full = usize::try_from(done.min(all) * BAR / all).unwrap_or_default();
                let bar: String = (0..usize::try_from(BAR).unwrap_or_default())
                    .map(|at| if at < full { '#' } else { '.' })
                    .collect();
                format!("[{bar}] {} of {} MB", megabytes(done), megabytes(all))
            }
            None => format!("{} MB", megabytes(done)),
        };
        // A shorter line must cover the one before it.
        let pad = " ".repeat(self.width.saturating_sub(line.len()));
        self.width = line.len();
        drop(write!(stderr().lock(), "\r{line}{pad}"));
    }

    fn end(self) {
        if self.is_live && self.width > 0 {
            drop(writeln!(stderr().lock()));
        }
    }
}

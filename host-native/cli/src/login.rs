//! `innerloop login` and `logout`: store a provider's key in a file or in the platform's key ring,
//! or remove it. A key is typed or piped in, never an argument, which other processes could read.

use super::{
    answer_input::StdinLines,
    args::{LoginArgs, LogoutArgs},
    console::{say, warn},
    credentials,
    exit::{CliError, ExitReason},
    interrupts::SignalStream,
    keyring, keys,
};
use crate::platform::EchoGuard;
use innerloop_driver::{
    ApiKey, Endpoint,
    providers::{self, Provider},
};
use std::io::{IsTerminal as _, Write as _, stderr, stdin};

/// The least characters of a key. A shorter one could not be masked in texts without damage to
/// them.
const SHORTEST: usize = 8;

pub(super) async fn login(args: LoginArgs) -> Result<(), CliError> {
    let Some(name) = args.provider else { return list() };
    let provider = named(&name)?;
    let key = checked(&provider, &typed(&provider).await?)?;
    // Before anything is printed: the key ring's program may repeat the key in an error.
    keys::note(&key);
    let place = if args.keyring {
        let stored = keyring::store(&provider.name, &provider.title, &key);
        stored.map_err(|why| CliError::new(ExitReason::Failed, why))?;
        "the key ring".to_owned()
    } else {
        let kept = credentials::put(&provider.name, Some(&key));
        kept.map_err(|why| CliError::new(ExitReason::Failed, why))?;
        credentials::path().map(|path| path.display().to_string()).unwrap_or_default()
    };
    say(&format!("the key of {} is kept in {place}", provider.name));
    let before = keys::find(&provider, &super::args::OfProviders::default());
    if let Ok(Some(before)) = before
        && before.key != key
    {
        warn(&format!("the one of {} comes before it", before.origin.told()));
    }
    Ok(())
}

pub(super) fn logout(args: &LogoutArgs) -> Result<(), CliError> {
    let name = &named(&args.provider)?.name;
    let failed = |why| CliError::new(ExitReason::Failed, why);
    if args.keyring {
        keyring::clear(name).map_err(failed)?;
        say(&format!("the key of {name} is no longer in the key ring"));
        return Ok(());
    }
    match credentials::put(name, None).map_err(failed)? {
        true => say(&format!("the key of {name} is removed")),
        false => return Err(CliError::usage(format!("there is no key of {name} in the file"))),
    }
    Ok(())
}

/// Prints the names of the providers whose keys are in the file.
fn list() -> Result<(), CliError> {
    let kept = credentials::read().map_err(CliError::configuration)?;
    if kept.is_empty() {
        warn("no key is kept in the file; innerloop login PROVIDER keeps one");
    }
    kept.keys().for_each(|name| say(name));
    Ok(())
}

fn named(name: &str) -> Result<Provider, CliError> {
    providers::find(name).map_err(CliError::usage)
}

/// Checks that the text looks like a key.
fn checked(provider: &Provider, text: &str) -> Result<ApiKey, CliError> {
    let key = ApiKey::new(text);
    let wrong = |why: &str| Err(CliError::usage(format!("that is no API key: {why}")));
    match key.expose().len() {
        0 => return wrong("it is empty"),
        length if length < SHORTEST => return wrong("it is too short"),
        _ => {}
    }
    match Endpoint::without_check(provider, Some("http://localhost"), key.clone()) {
        Ok(_) => Ok(key),
        Err(_) => wrong("it holds characters that no header takes"),
    }
}

/// Asks for a key, without an echo if the terminal allows that; without a terminal, reads a line of
/// standard input.
async fn typed(provider: &Provider) -> Result<String, CliError> {
    let mut interrupts = SignalStream::new()?;
    let is_asked = stdin().is_terminal();
    let silence = if is_asked { EchoGuard::begin() } else { None };
    if is_asked {
        let shown = if silence.is_some() { "it is not shown" } else { "it is shown" };
        drop(write!(stderr(), "API key of {} ({shown}): ", provider.title));
    }
    let mut lines = StdinLines::of_terminal();
    let line = tokio::select! {
        line = lines.next() => Ok(line),
        exit = interrupts.next() => Err(CliError::new(exit, "no key was kept")),
    };
    if let Some(silence) = silence {
        drop(silence);
        // The line feed that the person typed was not echoed either.
        drop(writeln!(stderr()));
    }
    line?.ok_or_else(|| CliError::usage("there is no key on standard input"))
}

//! The platform's key ring, by the program that the platform has for it: `secret-tool` of
//! libsecret, or `security` of macOS. A key goes to it by standard input, where no other process
//! sees it.

use crate::platform::HAS_KEYCHAIN;
use innerloop_driver::ApiKey;
use innerloop_workspace::platform::is_program;
use std::{
    env,
    io::{self, Read, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// The time limit for an answer of the key ring, which may have to ask its user to open it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes that are read of what it says.
const MAX_BYTES: u64 = 64 << 10;

/// Under which name its entries stand.
const SERVICE: &str = "innerloop";

/// The name of the platform's program for the key ring.
const PROGRAM: &str = if HAS_KEYCHAIN { "security" } else { "secret-tool" };

/// The key of a provider; nothing if the key ring has none, or there is no key ring.
///
/// # Errors
/// Why it does not answer.
pub(super) fn look_up(provider: &str) -> Result<Option<ApiKey>, String> {
    let Some(program) = program() else { return Ok(None) };
    let mut command = Command::new(program);
    match PROGRAM {
        "security" => command.args(["find-generic-password", "-s", SERVICE, "-a", provider, "-w"]),
        _ => command.args(["lookup", "service", SERVICE, "account", provider]),
    };
    let KeyRingOutput { is_fine, said, complaint } = ask(&mut command, "")?;
    let key = ApiKey::new(&said);
    match is_fine && !key.is_empty() {
        true => Ok(Some(key)),
        // Both say nothing, or that the item could not be found, where they have none.
        false if complaint.is_empty() || complaint.contains("could not be found") => Ok(None),
        false => Err(complaint),
    }
}

/// Keeps the key of a provider.
///
/// # Errors
/// There is no key ring, or it does not take it.
pub(super) fn store(provider: &str, title: &str, key: &ApiKey) -> Result<(), String> {
    let mut command = Command::new(program().ok_or_else(missing)?);
    let key = key.expose();
    let answer = if PROGRAM == "security" {
        let line = format!("add-generic-password -U -s {SERVICE} -a {provider} -w \"{key}\"\n");
        ask(command.arg("-i"), &line)?
    } else {
        let label = format!("--label=Innerloop: {title}");
        ask(command.args(["store", &label, "service", SERVICE, "account", provider]), key)?
    };
    if !answer.is_fine {
        return Err(answer.why());
    }
    // `security` ends well whatever became of the lines that it was given.
    match look_up(provider)?.is_some_and(|kept| kept.expose() == key) {
        true => Ok(()),
        false => Err("it did not keep the key".to_owned()),
    }
}

/// Removes the key of a provider, if there is one.
///
/// # Errors
/// There is no key ring, or it does not do it.
pub(super) fn clear(provider: &str) -> Result<(), String> {
    let mut command = Command::new(program().ok_or_else(missing)?);
    match PROGRAM {
        "security" => command.args(["delete-generic-password", "-s", SERVICE, "-a", provider]),
        _ => command.args(["clear", "service", SERVICE, "account", provider]),
    };
    let answer = ask(&mut command, "")?;
    if answer.is_fine { Ok(()) } else { Err(answer.why()) }
}

fn missing() -> String {
    format!("there is no program {PROGRAM}, by which the key ring is asked; leave --keyring out")
}

/// The platform's program. A folder of the search path that is not absolute is whatever folder one
/// happens to be in.
fn program() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut places = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    places.find_map(|folder| {
        let path = folder.join(PROGRAM);
        let found = path.metadata().ok()?;
        is_program(&found).then_some(path)
    })
}

/// The output of the key ring's program.
struct KeyRingOutput {
    is_fine: bool,
    said: String,
    complaint: String,
}

impl KeyRingOutput {
    fn why(self) -> String {
        if self.complaint.is_empty() { format!("{PROGRAM} failed") } else { self.complaint }
    }
}

fn ask(command: &mut Command, input: &str) -> Result<KeyRingOutput, String> {
    let told = |error: io::Error| format!("cannot run {PROGRAM}: {error}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(told)?;
    // As long as that it fits into the pipe, whoever reads it.
    let given = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input.as_bytes()));
    let (out, err) = (child.stdout.take().map(gather), child.stderr.take().map(gather));
    let until = Instant::now() + PATIENCE;
    let told_of = |from: Option<Receiver<String>>| {
        let left = until.saturating_duration_since(Instant::now());
        from.map_or(Some(String::new()), |from| from.recv_timeout(left).ok())
    };
    let texts = told_of(out).zip(told_of(err));
    let ended = texts.and_then(|texts| Some((texts, ended(&mut child, until)?)));
    let Some(((said, complaint), is_fine)) = ended else {
        drop(child.kill());
        drop(child.wait());
        return Err(format!("{PROGRAM} did not answer in {} s", PATIENCE.as_secs()));
    };
    let complaint = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
    match given {
        // Whoever does not read to the end has said why.
        Err(error) if complaint.is_empty() => Err(told(error)),
        _ => Ok(KeyRingOutput { is_fine, said, complaint }),
    }
}

/// Returns whether the program has ended well, if it has ended in time.
fn ended(child: &mut Child, until: Instant) -> Option<bool> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status.success());
        }
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads a stream to its end.
fn gather(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(stream.take(MAX_BYTES).read_to_end(&mut bytes));
        drop(sender.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    receiver
}

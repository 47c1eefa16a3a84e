//! The platform's key ring, through the platform's program for it: `secret-tool` of libsecret, or
//! `security` of macOS. A key is passed on standard input, since other processes can read a
//! program's arguments.

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

/// The time limit for an answer of the key ring, which may ask the user to unlock it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of its output that are read.
const MAX_BYTES: u64 = 64 << 10;

/// The service name of the entries.
const SERVICE: &str = "innerloop";

/// The name of the platform's program for the key ring.
const PROGRAM: &str = if HAS_KEYCHAIN { "security" } else { "secret-tool" };

/// Looks up the key of a provider; none if the key ring has none, or there is no key ring.
///
/// # Errors
/// The reason why the key ring does not answer.
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
        // Both programs fail for a missing entry: `secret-tool` prints nothing, `security` that the
        // item could not be found.
        false if complaint.is_empty() || complaint.contains("could not be found") => Ok(None),
        false => Err(complaint),
    }
}

/// Stores the key of a provider.
///
/// # Errors
/// There is no key ring, or it does not take the key.
pub(super) fn store(provider: &str, title: &str, key: &ApiKey) -> Result<(), String> {
    let mut command = Command::new(program().ok_or_else(missing)?);
    let key = key.expose();
    let answer = if PROGRAM == "security" {
        // `-i` reads commands from standard input, which keeps the key out of the arguments.
        let line = format!("add-generic-password -U -s {SERVICE} -a {provider} -w \"{key}\"\n");
        ask(command.arg("-i"), &line)?
    } else {
        let label = format!("--label=Innerloop: {title}");
        ask(command.args(["store", &label, "service", SERVICE, "account", provider]), key)?
    };
    if !answer.is_fine {
        return Err(answer.why());
    }
    // `security -i` succeeds whatever became of its commands, so that the key is read back.
    match look_up(provider)?.is_some_and(|kept| kept.expose() == key) {
        true => Ok(()),
        false => Err("it did not keep the key".to_owned()),
    }
}

/// Removes the key of a provider.
///
/// # Errors
/// There is no key ring, or it does not remove the key.
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

/// Finds the platform's program. Relative folders of the search path are skipped: in a project they
/// could name a program of the project, which would get the key.
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
    // Written before anything is read: a key always fits into the pipe's buffer, so that this does
    // not block.
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
        // A program that does not read its input has usually said why, which tells more.
        Err(error) if complaint.is_empty() => Err(told(error)),
        _ => Ok(KeyRingOutput { is_fine, said, complaint }),
    }
}

/// Waits for the program; returns whether it has succeeded, or none if it has not ended in time.
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

/// Reads a stream to its end on another thread: read one after the other, a full pipe of one stream
/// could block the program while the other is waited for.
fn gather(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(stream.take(MAX_BYTES).read_to_end(&mut bytes));
        drop(sender.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    receiver
}

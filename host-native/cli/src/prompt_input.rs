//! The prompt of a run, from the argument and from standard input: the whole prompt may be piped
//! in, or a text that goes with the argument's prompt. A pipe that nobody ever writes to must not
//! block the run for ever.

use super::{console::warn, exit::CliError};
use crate::platform::is_piped_in;
use std::{
    future::pending,
    io::{self, IsTerminal as _, Read as _, stdin},
    time::Duration,
};
use tokio::{
    sync::mpsc::{Receiver, channel},
    task::spawn_blocking,
    time::sleep,
};

/// The most bytes of standard input. No model reads as much at once.
const MOST_BYTES: usize = 10 << 20;

/// The number of bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The time after which the user is told that standard input is being read.
const NOTED_AFTER: Duration = Duration::from_secs(3);

/// The time for which a silent pipe is waited for if there is a prompt without it: a pipe that a
/// service or a CI system has left open never ends.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(10);

/// The prompt of the user.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    /// Their own words.
    pub(super) words: String,
    /// The text that was piped in beside them.
    input: Option<String>,
}

impl Prompt {
    /// Returns the whole text, with the piped input as a block of its own.
    pub(super) fn text(&self) -> String {
        let Self { words, input } = self;
        let Some(input) = input else { return words.clone() };
        let end = if input.ends_with('\n') { "" } else { "\n" };
        format!("{words}\n\n<stdin>\n{input}{end}</stdin>")
    }
}

/// Returns the `given` prompt, or standard input in its place, or both. If `is_taken` is true,
/// standard input belongs to something else.
///
/// # Errors
/// There is no prompt, or standard input can't be read, is too long or is not text.
pub(super) async fn prompt(given: Option<String>, is_taken: bool) -> Result<Prompt, CliError> {
    match given {
        Some(words) if words != "-" => {
            if words.trim().is_empty() {
                return Err(CliError::usage("the prompt is empty; say what you want"));
            }
            let wait = StdinTimeouts { noted: NOTED_AFTER, given_up: Some(GIVEN_UP_AFTER) };
            let input =
                if is_taken || !is_piped_in() { None } else { gather(read(), wait).await? };
            let input = input.filter(|input| !input.trim().is_empty());
            Ok(Prompt { words, input })
        }
        _ if is_taken => Err(CliError::usage(
            "standard input is the configuration already: give the prompt as an argument, or \
             --config a file",
        )),
        None if stdin().is_terminal() => Err(CliError::usage(
            "there is no prompt; say what you want, as in: innerloop run \"Make the tests pass\"",
        )),
        _ => {
            let is_typed = stdin().is_terminal();
            let noted = if is_typed { Duration::ZERO } else { NOTED_AFTER };
            let words =
                gather(read(), StdinTimeouts { noted, given_up: None }).await?.unwrap_or_default();
            if words.trim().is_empty() {
                return Err(CliError::usage("the prompt is empty; say what you want"));
            }
            Ok(Prompt { words, input: None })
        }
    }
}

/// Reads standard input on another thread, so that signals are handled meanwhile.
fn read() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, chunks) = channel(1);
    drop(spawn_blocking(move || {
        let mut input = stdin().lock();
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer.get(..count).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_over = read.is_err();
            if sender.blocking_send(read).is_err() || is_over {
                return;
            }
        }
    }));
    chunks
}

/// The times to wait for standard input.
#[derive(Clone, Copy, Debug)]
struct StdinTimeouts {
    /// The time until the user is told.
    noted: Duration,
    /// The time until a silent input is given up; `None` for never.
    given_up: Option<Duration>,
}

/// Collects the whole input as text; returns none if nothing came in time.
async fn gather(
    mut chunks: Receiver<io::Result<Vec<u8>>>,
    wait: StdinTimeouts,
) -> Result<Option<String>, CliError> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut is_noted = false;
    let noted = sleep(wait.noted);
    let given_up = async {
        match wait.given_up {
            Some(time) => sleep(time).await,
            None => pending().await,
        }
    };
    tokio::pin!(noted, given_up);
    loop {
        tokio::select! {
            // Input that has arrived counts, even if a time has passed as well.
            biased;
            chunk = chunks.recv() => match chunk {
                None => break,
                Some(Ok(chunk)) if bytes.len() + chunk.len() > MOST_BYTES => {
                    return Err(CliError::usage(
                        "standard input has more than 10 MiB; name a file that the agent can read \
                         piece by piece",
                    ));
                }
                Some(Ok(chunk)) => bytes.extend(chunk),
                Some(Err(error)) => {
                    return Err(CliError::usage(format!("cannot read standard input: {error}")));
                }
            },
            () = &mut noted, if !is_noted => {
                is_noted = true;
                warn("reading standard input; end it with Ctrl-D, or use < /dev/null");
            }
            () = &mut given_up, if bytes.is_empty() => {
                let time = wait.given_up.unwrap_or_default().as_secs();
                warn(&format!(
                    "nothing came on standard input in {time} s, so the run goes on without it; \
                     what takes longer comes from a file: < FILE"
                ));
                return Ok(None);
            }
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(CliError::usage(format!(
            "standard input is not UTF-8 text (byte {}); attach other files with --attach",
            error.utf8_error().valid_up_to() + 1
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::Sender;

    type Chunks = (Sender<io::Result<Vec<u8>>>, Receiver<io::Result<Vec<u8>>>);

    const SHORT: Duration = Duration::from_millis(20);
    const BRIEF: StdinTimeouts = StdinTimeouts { noted: SHORT, given_up: Some(SHORT) };

    fn chunks() -> Chunks {
        channel(1000)
    }

    #[test]
    fn what_was_piped_in_stands_in_a_block() {
        let text = |input: Option<&str>| {
            Prompt { words: "Why?".to_owned(), input: input.map(str::to_owned) }.text()
        };
        assert_eq!(text(None), "Why?");
        for input in ["a\nb", "a\nb\n"] {
            assert_eq!(text(Some(input)), "Why?\n\n<stdin>\na\nb\n</stdin>");
        }
    }

    #[tokio::test]
    async fn a_pipe_on_which_nothing_comes_is_given_up() {
        let (_open, silent) = chunks();
        assert_eq!(gather(silent, BRIEF).await, Ok(None));
        // Input that has begun is waited for, and so is input that is the prompt itself.
        for (first, wait) in [(true, BRIEF), (false, StdinTimeouts { given_up: None, ..BRIEF })] {
            let (sender, slow) = chunks();
            if first {
                sender.send(Ok(b"gr\xc3".to_vec())).await.unwrap();
            }
            let gathering = tokio::spawn(gather(slow, wait));
            sleep(3 * SHORT).await;
            assert!(!gathering.is_finished());
            sender.send(Ok(if first { b"\xbcn".to_vec() } else { "grün".into() })).await.unwrap();
            drop(sender);
            assert_eq!(gathering.await.unwrap(), Ok(Some("grün".to_owned())));
        }
    }

    #[tokio::test]
    async fn what_is_too_long_no_text_or_cannot_be_read_is_refused() {
        let complaint = |(sender, receiver): Chunks| async move {
            drop(sender);
            gather(receiver, BRIEF).await.unwrap_err().message
        };
        let long = chunks();
        for _ in 0..=MOST_BYTES / CHUNK {
            long.0.send(Ok(vec![b'a'; CHUNK])).await.unwrap();
        }
        assert!(complaint(long).await.contains("more than 10 MiB"));
        let binary = chunks();
        binary.0.send(Ok(b"ab\xff".to_vec())).await.unwrap();
        assert!(complaint(binary).await.contains("not UTF-8 text (byte 3)"));
        let broken = chunks();
        broken.0.send(Err(io::Error::other("no such luck"))).await.unwrap();
        assert_eq!(complaint(broken).await, "cannot read standard input: no such luck");
    }
}

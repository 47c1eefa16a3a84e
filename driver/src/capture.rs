//! The output of a program's run, as much of it as is kept, and the outcome that the model reads.
//! Keys are masked before anything is cut, so that no piece of one is left at a cut. The words are
//! the same on every host, so that one recording fits all of them.

use crate::masking::{SecretKeys, StreamMasker};
use alloc::{format, string::String, vec::Vec};
use innerloop_core::action::{Outcome, Part, ReportedChange, ToolError};
use innerloop_json::joined;

/// The number of bytes that are kept of each output: half from its beginning, half from its end.
pub const KEPT: usize = 2 << 20;

/// One of a program's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Both outputs of one run, with the beginning and the end of each.
#[derive(Debug)]
pub struct OutputCapture {
    out: HeadTailBuffer,
    err: HeadTailBuffer,
}

/// The way in which a program's run ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramExit {
    /// It ended by itself, with this exit code.
    #[error("exit code {0}")]
    Exit(i32),
    /// It crashed; the text says how.
    #[error("it crashed: {0}")]
    Crash(String),
    /// It exceeded a limit.
    #[error(transparent)]
    Limit(ExceededLimit),
    /// The time limit ended it.
    #[error("the time limit ended it")]
    TimedOut,
    /// The session, or who watches it, stopped it.
    #[error("it was interrupted")]
    Interrupted,
}

/// A limit of a program's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExceededLimit {
    /// The limit of what it prints.
    #[error("it was stopped because it printed too much")]
    Output,
    /// The limit of its memory.
    #[error("it failed because it needs more memory than it may have")]
    Memory,
    /// The limit of what it writes to files.
    #[error("it was stopped because it wrote too much to files")]
    Disk,
    /// The limit of files that are open at the same time.
    #[error("it was stopped because it opened too many files at the same time")]
    Files,
}

impl OutputCapture {
    /// Makes the capture of a run that begins. The keys are masked in what it prints; of each
    /// output at most `kept` bytes are kept, for example [`KEPT`].
    #[must_use]
    pub fn new(keys: &SecretKeys, kept: usize) -> Self {
        Self { out: HeadTailBuffer::new(keys, kept / 2), err: HeadTailBuffer::new(keys, kept / 2) }
    }

    /// Takes what the program prints and returns the text that it completes, for people to watch.
    /// The start of a character, or of a key, is held back until its end comes.
    #[must_use]
    pub fn push(&mut self, channel: StandardStream, bytes: &[u8]) -> String {
        let kept = match channel {
            StandardStream::Out => &mut self.out,
            StandardStream::Err => &mut self.err,
        };
        // Masked first: where the kept beginning ends, no key can be cut in two.
        let masked = kept.masking.push(bytes.into());
        kept.push(&masked);
        kept.decode(&masked)
    }

    /// Returns the text that was held back, for people to watch; call it when no more comes.
    /// Further calls return an empty text.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        for kept in [&mut self.out, &mut self.err] {
            let held = kept.masking.end();
            kept.push(&held);
            text.push_str(&kept.decode(&held));
            text.push_str(&String::from_utf8_lossy(&core::mem::take(&mut kept.partial)));
            // While a program prints, the excess is cut only now and then. Without this last cut an
            // output a little too long would be told whole, without the mark that it was cut.
            kept.cut();
        }
        text
    }

    /// Returns the bytes of standard output, `None` if not all of them were kept, and standard
    /// error as text. For a program whose output another one reads.
    #[must_use]
    pub fn whole(mut self) -> (Option<Vec<u8>>, String) {
        let _shown = self.finish();
        let HeadTailBuffer { mut head, tail, dropped, .. } = self.out;
        head.extend(tail);
        ((dropped == 0).then_some(head), self.err.text())
    }

    /// Returns the outcome of the run: what was printed, and how it ended if not well. `unlisted`
    /// is true if `changes` is not complete.
    #[must_use]
    pub fn outcome(
        self,
        end: &ProgramExit,
        changes: Vec<ReportedChange>,
        unlisted: bool,
    ) -> Outcome {
        // The session words exit codes and time limits by itself, in the manner of its profile:
        // said here, too, the model would read them twice.
        let is_told = matches!(end, ProgramExit::Exit(_) | ProgramExit::TimedOut);
        self.told(end, is_told, changes, unlisted)
    }

    /// Returns the outcome of a run that was a call of the host's own tool. If it went well, its
    /// standard output is the result, and its standard error was for people to watch only.
    #[must_use]
    pub fn result(
        mut self,
        end: &ProgramExit,
        changes: Vec<ReportedChange>,
        unlisted: bool,
    ) -> Outcome {
        let _shown = self.finish();
        if *end == ProgramExit::Exit(0) {
            // Emptied rather than left out: an outcome with `streams` has both outputs in their
            // places, and dropped bytes of standard error must not count as a cut result.
            self.err = HeadTailBuffer::new(&SecretKeys::default(), 0);
            return self.told(end, true, changes, unlisted);
        }
        // The session words the time limit by itself, but not the exit code of a tool that the
        // model calls like a function.
        let outcome = self.told(end, *end == ProgramExit::TimedOut, changes, unlisted);
        let has_exited = matches!(end, ProgramExit::Exit(_));
        let error = if has_exited { Some(ToolError::Crashed) } else { outcome.error };
        Outcome { error, ..outcome }
    }

    fn told(
        mut self,
        end: &ProgramExit,
        is_told: bool,
        changes: Vec<ReportedChange>,
        unlisted: bool,
    ) -> Outcome {
        let _shown = self.finish();
        let capped_at_source = self.out.dropped > 0 || self.err.dropped > 0;
        let mut outcome = Outcome::text(self.out.text());
        let mut say = |text| outcome.parts.push(Part::text(text));
        say(self.err.text());
        if !is_told {
            say(format!("[{end}]"));
        }
        if unlisted {
            let words = "more files were touched than are watched: not all changes are listed";
            say(format!("[{words}]"));
        }
        Outcome {
            streams: true,
            error: end.error(),
            exit: if let ProgramExit::Exit(code) = end { Some(*code) } else { None },
            timed_out: *end == ProgramExit::TimedOut,
            changes,
            capped_at_source,
            ..outcome
        }
    }
}

impl ProgramExit {
    /// Returns the kind of failure; `None` if all went well.
    #[must_use]
    pub const fn error(&self) -> Option<ToolError> {
        match self {
            Self::Exit(0) => None,
            Self::Exit(_) => Some(ToolError::Exit),
            Self::Crash(_) => Some(ToolError::Crashed),
            Self::Limit(_) => Some(ToolError::Limit),
            Self::TimedOut => Some(ToolError::Timeout),
            Self::Interrupted => Some(ToolError::Interrupted),
        }
    }
}

/// Returns the outcome of a call of a program that does not exist; `names` are those that do.
#[must_use]
pub fn unknown_program(name: &str, names: &[&str]) -> Outcome {
    // Hosts list programs in an order of their own; sorted, one recording fits all of them.
    let mut names = names.to_vec();
    innerloop_json::sort(&mut names, Ord::cmp);
    let there_is = if names.is_empty() {
        "no programs are installed".into()
    } else {
        format!("there is: {}", joined(&names, ", "))
    };
    Outcome::error(ToolError::NotFound, format!("no program `{name}`; {there_is}"))
}

#[derive(Debug)]
struct HeadTailBuffer {
    masking: StreamMasker,
    /// The maximum number of bytes of `head`, and of `tail`.
    half: usize,
    head: Vec<u8>,
    /// The last bytes; up to twice `half`, since the excess is cut off only now and then.
    tail: Vec<u8>,
    dropped: usize,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl HeadTailBuffer {
    fn new(keys: &SecretKeys, half: usize) -> Self {
        let (head, tail, partial) = (Vec::new(), Vec::new(), Vec::new());
        Self { masking: StreamMasker::new(keys), half, head, tail, dropped: 0, partial }
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        // Only once the excess is as long as what stays: each byte is then moved at most once,
        // however small the pieces are that a program prints.
        if self.tail.len() / 2 >= self.half {
            self.cut();
        }
    }

    /// Cuts off all but the end that is kept.
    fn cut(&mut self) {
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.dropped += excess;
    }

    /// Returns the text that `bytes` complete.
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.partial.extend_from_slice(bytes);
        let whole = self.partial.len() - open_character(&self.partial);
        let rest = self.partial.split_off(whole);
        let text = String::from_utf8_lossy(&self.partial).into_owned();
        self.partial = rest;
        text
    }

    fn text(self) -> String {
        let Self { mut head, tail, dropped, .. } = self;
        if dropped == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
        format!("{head}\n[{dropped} bytes of output dropped here]\n{tail}")
    }
}

/// Returns how many bytes at the end of `bytes` are the start of a character that is not complete.
fn open_character(bytes: &[u8]) -> usize {
    for (back, byte) in (1..=3).zip(bytes.iter().rev()) {
        let length = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

//! Recorded model traffic: responses, each with a digest of what was new in its request. A replay
//! answers a session from the recording and stops where the session says something else, so that
//! a tool that works differently cannot go unnoticed. What varies from run to run is masked before
//! texts are compared. Hosts read and write the files; nothing here does I/O.

use alloc::{
    format,
    string::{String, ToString},
    vec::{self, Vec},
};
use innerloop_core::{
    History,
    bytes::BodyBytes,
    digest::DigestBuilder,
    message::{VisibleTurn, joined_text},
    secret::without_digests,
    text::prefix,
};
use innerloop_json::{FromJson, IntoList, ToJson, from_str, to_string};

/// The maximum number of bytes of what was said that a recording keeps; the digest covers all.
const KEPT: usize = 64 * 1024;

/// The maximum number of bytes of each text that a mismatch shows.
const SHOWN: usize = 2_000;

/// One recorded exchange: a line of the recording.
#[derive(Clone, Debug, PartialEq, Eq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
pub struct TrafficExchange {
    /// The model call, counted from 1.
    pub call: u32,
    /// The digest of what was new in the request (FNV-1a, 64 bits, hexadecimal).
    pub digest: String,
    /// The beginning of what was new in the request, for people.
    pub said: String,
    /// The response's status.
    pub status: u16,
    /// The response's headers that a replay needs: the content type and what says when to retry.
    #[json(default)]
    pub headers: Vec<(String, String)>,
    /// The response's body, as far as it came.
    pub body: BodyBytes,
    /// The text that says how the exchange broke, if it did.
    #[json(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A recorder of exchanges, which numbers them.
#[derive(Clone, Debug, Default)]
pub struct TrafficRecorder {
    calls: u32,
}

impl TrafficRecorder {
    /// Begins an exchange with the next number and with what is new in its request (see [`said`]).
    #[must_use]
    pub fn begin(&mut self, said: &str) -> TrafficExchange {
        self.calls = self.calls.saturating_add(1);
        TrafficExchange {
            call: self.calls,
            digest: digest(said),
            said: prefix(said, KEPT).into(),
            status: 0,
            headers: Vec::new(),
            body: BodyBytes::default(),
            failed: None,
        }
    }
}

impl TrafficExchange {
    /// Notes the status, and of the headers those that a replay needs.
    pub fn head(&mut self, status: u16, headers: &[(String, String)]) {
        // A list of what is kept, not of what is left out: recordings are committed and shared, and
        // responses carry cookies. Names come in lower case (see `ResponseHead`).
        const KEPT: [&str; 4] = ["content-type", "retry-after", "retry-after-ms", "x-should-retry"];
        self.status = status;
        let kept = headers.iter().filter(|(name, _)| KEPT.contains(&name.as_str()));
        self.headers = kept.cloned().into_list();
    }

    /// Returns the exchange as a line of the recording, with its line feed.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = to_string(self);
        line.push('\n');
        line
    }
}

/// A player that answers model calls from a recording, in its order.
#[derive(Clone, Debug)]
pub struct TrafficPlayer {
    exchanges: vec::IntoIter<TrafficExchange>,
    calls: u32,
}

/// The reason why a recording does not answer a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    /// The recording cannot be read.
    #[error("line {line} of the recording cannot be read: {message}")]
    Unreadable {
        /// The line's number, counted from 1.
        line: usize,
        /// The reason why it cannot be read.
        message: String,
    },
    /// The recording holds no more answers.
    #[error("the recording ends before model call {call}")]
    Exhausted {
        /// The call, counted from 1.
        call: u32,
    },
    /// The session says something else than when the recording was made.
    #[error(
        "model call {call} differs from the recording.\n--- recorded:\n{expected}\n--- now:\n\
         {found}"
    )]
    Mismatch {
        /// The call, counted from 1.
        call: u32,
        /// The text that was new in the recorded request.
        expected: String,
        /// The text that is new in this one.
        found: String,
    },
}

impl TrafficPlayer {
    /// Reads a recording.
    ///
    /// # Errors
    /// The first line that cannot be read, or that there is none.
    pub fn parse(text: &str) -> Result<Self, TrafficError> {
        let mut exchanges = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let unreadable = |message| TrafficError::Unreadable { line: index + 1, message };
            let exchange: TrafficExchange =
                from_str(line).map_err(|error| unreadable(error.to_string()))?;
            // A status of 0 stands for no response, and then needs a failure: with neither, the
            // session would wait for ever.
            let is_answer = matches!(exchange.status, 100..1000);
            if !is_answer && (exchange.status != 0 || exchange.failed.is_none()) {
                return Err(unreadable("no response has its status".into()));
            }
            exchanges.push(exchange);
        }
        if exchanges.is_empty() {
            let message = "it is empty".to_string();
            return Err(TrafficError::Unreadable { line: 1, message });
        }
        Ok(Self { exchanges: exchanges.into_iter(), calls: 0 })
    }

    /// Returns the answer to the next call, in whose request `said` is new (see [`said`]).
    ///
    /// # Errors
    /// The recording is exhausted, or was made with another text.
    pub fn next(&mut self, said: &str) -> Result<TrafficExchange, TrafficError> {
        // The exchange is only taken once it fits: a call after a mismatch is compared with the
        // same one, and has the same number.
        let call = self.calls.saturating_add(1);
        let exchange = self.exchanges.as_slice().first().ok_or(TrafficError::Exhausted { call })?;
        // By digest, since of a long text the recording has the beginning only.
        if exchange.digest != digest(said) {
            let (expected, found) = differing(&exchange.said, said);
            return Err(TrafficError::Mismatch { call, expected, found });
        }
        self.calls = call;
        self.exchanges.next().ok_or(TrafficError::Exhausted { call })
    }

    /// Returns how many exchanges have not been asked for.
    #[must_use]
    pub fn left(&self) -> usize {
        self.exchanges.len()
    }
}

/// Returns both texts; of long ones the part that begins with the line in which they differ.
fn differing(expected: &str, found: &str) -> (String, String) {
    let short = expected.len().max(found.len()) <= SHOWN;
    let begin = if short { 0 } else { first_difference(expected, found) };
    (part(expected, begin), part(found, begin))
}

/// Returns the start of the first line that differs, or a place shortly before the difference if
/// the line is long. It is the same place in both texts, on a character border.
fn first_difference(expected: &str, found: &str) -> usize {
    // Two characters may share their first bytes: `prefix` goes back to a border in `expected`,
    // which is one in `found`, too, as all before it is the same.
    let pairs = expected.bytes().zip(found.bytes());
    let same = prefix(expected, pairs.take_while(|(a, b)| a == b).count());
    let line = same.rfind('\n').map_or(0, |end| end + 1);
    let near = prefix(expected, same.len().saturating_sub(SHOWN / 2)).len();
    line.max(near)
}

/// Returns at most [`SHOWN`] bytes from `begin` on, with a mark where something is left out.
fn part(text: &str, begin: usize) -> String {
    let rest = text.get(begin..).unwrap_or_default();
    let shown = prefix(rest, SHOWN);
    let before = if begin > 0 { "[… the same …]\n" } else { "" };
    let after = if shown.len() < rest.len() { "[…]" } else { "" };
    format!("{before}{shown}{after}")
}

/// Returns what is new since the model's last reply: the user's words and the tools' results. What
/// differs from run to run is masked: durations, dates, the folders of absolute paths, and the
/// digests of secrets.
#[must_use]
pub fn said(history: &History) -> String {
    // Not the request's body: its system prompt names the date, the system and the folder, which
    // differ wherever the recording is played.
    let mut out = String::new();
    for said in history.unread() {
        match said {
            VisibleTurn::User(parts) | VisibleTurn::Steering(parts) => {
                out.push_str(&format!("user: {}\n", masked(&joined_text(&parts))));
            }
            VisibleTurn::System(text) => out.push_str(&format!("system: {}\n", masked(text))),
            VisibleTurn::ToolResults(results) => {
                for result in results.iter() {
                    let kind = if result.is_error { "error" } else { "result" };
                    let text = masked(&joined_text(&result.parts));
                    out.push_str(&format!("{kind} of {}: {text}\n", result.call_id));
                }
            }
            VisibleTurn::Assistant(_) => {}
        }
    }
    out
}

fn digest(text: &str) -> String {
    format!("{:016x}", DigestBuilder::of(text.as_bytes()).0)
}

/// The characters that may stand before a word; those of [`CLOSE`] may stand behind it.
const OPEN: [char; 5] = ['(', '[', '"', '\'', '`'];
const CLOSE: [char; 9] = [')', ']', '"', '\'', '`', ',', '.', ';', ':'];

/// Masks a text word by word; what stands around and between words stays as it is.
fn masked(text: &str) -> String {
    let text = without_digests(text);
    let mut out = String::with_capacity(text.len());
    let mut words = text.split_inclusive(char::is_whitespace).peekable();
    while let Some(word) = words.next() {
        let (open, core, after) = bared(word);
        out.push_str(open);
        // «12 ms» is two words: only together are they a duration, and a bare number is none.
        let unit = words.next_if(|next| {
            is_number(core) && after.trim_end().is_empty() && is_unit(bared(next).1)
        });
        match unit {
            Some(unit) => {
                out.push_str("<time>");
                out.push_str(bared(unit).2);
            }
            None => {
                out.push_str(&masked_word(core));
                out.push_str(after);
            }
        }
    }
    out
}

/// Splits a word into what opens before it, the word itself, and all that follows it.
fn bared(word: &str) -> (&str, &str, &str) {
    let rest = word.trim_start_matches(OPEN);
    let core = rest.trim_end().trim_end_matches(CLOSE);
    let open = word.get(..word.len() - rest.len()).unwrap_or_default();
    (open, core, rest.get(core.len()..).unwrap_or_default())
}

fn masked_word(word: &str) -> String {
    // `µ` is not ASCII, but programs print it in durations.
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
    let unit = word.get(number.len()..).unwrap_or_default();
    if is_number(number) && is_unit(unit) {
        "<time>".to_string()
    } else if is_date(word) {
        "<date>".to_string()
    } else {
        masked_path(word)
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_unit(text: &str) -> bool {
    matches!(text, "ns" | "µs" | "us" | "ms" | "s" | "sec" | "seconds" | "milliseconds")
}

/// Returns whether the text is a date such as `2026-11-21`, alone or before a time of day.
fn is_date(text: &str) -> bool {
    let is_shape = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() >= 10
        && text.bytes().take(10).enumerate().all(is_shape)
        && text.get(10..).is_some_and(|rest| rest.is_empty() || rest.starts_with('T'))
}

/// Masks the folders of an absolute path: `/home/me/project/a.js` becomes `<path>/a.js`. A path
/// without a folder, such as `/a.js`, stays.
fn masked_path(word: &str) -> String {
    let is_absolute = word.starts_with('/') && !word.starts_with("//");
    match word.rsplit_once('/') {
        Some((folders, name)) if is_absolute && folders.len() > 1 => format!("<path>/{name}"),
        _ => word.to_string(),
    }
}

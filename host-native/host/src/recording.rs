//! Recordings of model traffic on disk: one that is being made, with a line for each exchange, and
//! the reading of one. A first line may name the model that was talked to; the lines after it are
//! the driver's. Requests are not recorded, and so no key is.

use crate::journal::private;
use innerloop_core::json::{FromJson, ToJson, from_str, to_string};
use innerloop_driver::traffic::{TrafficError, TrafficPlayer};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A recording that is being made, with the first failure of writing it.
#[derive(Debug)]
pub struct RecordingWriter {
    path: PathBuf,
    file: File,
    error: Option<io::Error>,
}

/// A recording cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Something is there already, and a recording is never overwritten.
    #[error("{} exists already; name a new file for the recording", .0.display())]
    Exists(PathBuf),
    /// The file cannot be made.
    #[error("cannot create the recording {}: {error}; name another file", path.display())]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// A line could not be written.
    #[error("the recording {} is not whole: {error}; make room and record again", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the recording {}: {error}; name another file", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The reason for the failure.
        error: io::Error,
    },
    /// The content of the file is not a recording.
    #[error("{} is no recording: {error}; make a new one with --record", path.display())]
    Parse {
        /// The path of the file.
        path: PathBuf,
        /// The reason why it is not.
        error: TrafficError,
    },
}

impl RecordingWriter {
    /// Creates the file, which must not exist; a pipe or a device is written to as it is.
    ///
    /// # Errors
    /// [`RecordingError`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        // `create_new` fails on anything that is there, and a pipe such as `/dev/stdout` always is.
        let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = OpenOptions::new();
        let file = private(options.write(true).create_new(!is_stream)).open(path);
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Self { path, file, error: None }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RecordingError::Exists(path))
            }
            Err(error) => Err(RecordingError::Create { path, error }),
        }
    }

    /// Writes the first line, which names the model that the session talks to.
    pub fn begin(&mut self, origin: &RecordingOrigin) {
        let RecordingOrigin { provider, model, vocabulary } = origin.clone();
        let first = FirstLine { recording: VERSION, provider, model, vocabulary };
        self.append(&format!("{}\n", to_string(&first)));
    }

    /// Writes lines. The first failure is kept for [`RecordingWriter::finish`], and the run goes
    /// on.
    pub(crate) fn append(&mut self, lines: &str) {
        if let Err(error) = self.file.write_all(lines.as_bytes()) {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the recording, and returns whether all of it was written.
    ///
    /// # Errors
    /// [`RecordingError::Write`] with the first thing that went wrong.
    pub fn finish(self) -> Result<(), RecordingError> {
        let Self { path, error, .. } = self;
        error.map_or(Ok(()), |error| Err(RecordingError::Write { path, error }))
    }
}

/// The provider and the model that a session talks to, as its recording names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingOrigin {
    /// The name of the provider.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The names under which the model sees its tools: `native` or `seed`.
    pub vocabulary: String,
}

/// The beginning of a recording whose first line names its origin.
const BEGIN: &str = "{\"recording\":";

/// The version of the format of recordings.
const VERSION: u32 = 1;

#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct FirstLine {
    recording: u32,
    provider: String,
    model: String,
    vocabulary: String,
}

/// A recording that was read.
#[derive(Clone, Debug)]
pub struct SavedRecording {
    /// The origin of the recording; recordings of earlier versions do not name it.
    pub origin: Option<RecordingOrigin>,
    /// The player of the recorded answers.
    pub player: TrafficPlayer,
}

/// Reads a recording from a file.
///
/// # Errors
/// [`RecordingError`] if the file cannot be read or is no recording.
pub fn read(path: &Path) -> Result<SavedRecording, RecordingError> {
    let text = fs::read_to_string(path)
        .map_err(|error| RecordingError::Read { path: path.to_owned(), error })?;
    parse(&text).map_err(|error| RecordingError::Parse { path: path.to_owned(), error })
}

fn parse(text: &str) -> Result<SavedRecording, TrafficError> {
    let first = text.lines().next().filter(|line| line.starts_with(BEGIN));
    let Some(first) = first else {
        // Recordings that were made before there was a first line still play.
        return Ok(SavedRecording { origin: None, player: TrafficPlayer::parse(text)? });
    };
    let unreadable = |message: String| TrafficError::Unreadable { line: 1, message };
    let line: FirstLine = from_str(first).map_err(|error| unreadable(error.to_string()))?;
    if line.recording != VERSION {
        let message =
            format!("it is of version {}, and this program reads {VERSION}", line.recording);
        return Err(unreadable(message));
    }
    // The line feed stays, so that the player counts later lines as the file does.
    let player = TrafficPlayer::parse(text.get(first.len()..).unwrap_or_default())?;
    let FirstLine { provider, model, vocabulary, .. } = line;
    Ok(SavedRecording { origin: Some(RecordingOrigin { provider, model, vocabulary }), player })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str =
        r#"{"recording":1,"provider":"openai","model":"gpt-5","vocabulary":"native"}"#;
    const EXCHANGE: &str =
        r#"{"call":1,"digest":"0","said":"","status":200,"headers":[],"body":"x"}"#;

    #[test]
    fn a_first_line_says_what_was_talked_to_and_may_be_missing() {
        let said = parse(&format!("{FIRST}\n{EXCHANGE}\n")).unwrap();
        let origin = said.origin.unwrap();
        let told = (&*origin.provider, &*origin.model, &*origin.vocabulary);
        assert_eq!((told, said.player.left()), (("openai", "gpt-5", "native"), 1));
        let old = parse(EXCHANGE).unwrap();
        assert_eq!((old.origin, old.player.left()), (None, 1));
    }

    #[test]
    fn what_is_wrong_in_which_line_is_told() {
        let complaint = |text: &str| parse(text).unwrap_err().to_string();
        let newer = FIRST.replacen('1', "2", 1);
        assert!(complaint(&newer).contains("line 1 of the recording"), "{}", complaint(&newer));
        assert!(complaint(&newer).contains("version 2"), "{}", complaint(&newer));
        let odd = format!("{FIRST}\n{EXCHANGE}\n{{}}\n");
        assert!(complaint(&odd).contains("line 3 of the recording"), "{}", complaint(&odd));
        assert!(complaint(FIRST).contains("it is empty"), "{}", complaint(FIRST));
        assert!(complaint("{\"recording\":1}").contains("line 1"));
    }
}

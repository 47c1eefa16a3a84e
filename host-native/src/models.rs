//! Where model traffic goes: to the endpoints, perhaps recorded on the way, or to a recording
//! that answers in their place.

use crate::{http::Http, journal::private};
use innerloop_core::{
    History,
    bytes::Bytes,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    output::HttpRequest,
    time::UnixMillis,
};
use innerloop_driver::traffic::{Exchange, Player, Recorder, TrafficError, said};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Where model traffic goes.
#[derive(Debug)]
pub enum Models {
    /// To the endpoints.
    Live(Arc<Http>, Option<Recording>),
    /// To a recording.
    Replay(Player),
}

/// A recording that is being made: a line for each exchange, written as it ends. Requests are
/// not in it, and so neither is any key.
#[derive(Debug)]
pub struct Recording {
    recorder: Recorder,
    file: Arc<RecordingFile>,
}

/// A recording's file, with what went wrong when it was written.
#[derive(Debug)]
pub struct RecordingFile {
    path: PathBuf,
    state: Mutex<(File, Option<io::Error>)>,
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
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line could not be written.
    #[error("the recording {} is not whole: {error}; make room and record again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// The file cannot be read.
    #[error("cannot read the recording {}: {error}; name another file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is in it is no recording.
    #[error("{} is no recording: {error}; make a new one with --record", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Why.
        error: TrafficError,
    },
}

impl Recording {
    /// Creates the file, which must not exist; a pipe or a device is written to as it is.
    ///
    /// # Errors
    /// [`RecordingError`] if it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        let is_stream =
            std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let mut options = OpenOptions::new();
        let file = private(options.write(true).create_new(!is_stream)).open(path);
        let path = path.to_owned();
        match file {
            Ok(file) => {
                let state = Mutex::new((file, None));
                let file = Arc::new(RecordingFile { path, state });
                Ok(Self { recorder: Recorder::default(), file })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RecordingError::Exists(path))
            }
            Err(error) => Err(RecordingError::Create { path, error }),
        }
    }

    /// The file, for a look at the end.
    #[must_use]
    pub fn file(&self) -> Arc<RecordingFile> {
        Arc::clone(&self.file)
    }
}

impl RecordingFile {
    /// Whether everything was written.
    ///
    /// # Errors
    /// [`RecordingError::Write`] with the first thing that went wrong.
    pub fn check(&self) -> Result<(), RecordingError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.1 {
            None => Ok(()),
            Some(error) => {
                Err(RecordingError::Write { path: self.path.clone(), error: error.to_string() })
            }
        }
    }

    fn append(&self, exchange: &Exchange) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, error) = &mut *state;
        if let Err(failed) = file.write_all(exchange.line().as_bytes()) {
            error.get_or_insert(failed);
        }
    }
}

/// Reads a recording.
///
/// # Errors
/// [`RecordingError`] if the file cannot be read or is no recording.
pub fn player(path: &Path) -> Result<Player, RecordingError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| RecordingError::Read { path: path.to_owned(), error })?;
    Player::parse(&text).map_err(|error| RecordingError::Parse { path: path.to_owned(), error })
}

impl Models {
    /// Begins an exchange; `history` is what the request's agent has said so far.
    pub(crate) fn begin(&mut self, request: HttpRequest, history: Option<&History>) -> Exchanging {
        let said = || history.map(said).unwrap_or_default();
        match self {
            Self::Live(http, recording) => {
                let recording = recording.as_mut().map(|recording| {
                    (recording.recorder.begin(&said()), Arc::clone(&recording.file))
                });
                Exchanging::Live { http: Arc::clone(http), request, recording }
            }
            Self::Replay(player) => Exchanging::Replay(player.next(&said()).map(Box::new)),
        }
    }
}

/// An exchange that has begun.
pub(crate) enum Exchanging {
    Live {
        http: Arc<Http>,
        request: HttpRequest,
        recording: Option<(Exchange, Arc<RecordingFile>)>,
    },
    Replay(Result<Box<Exchange>, TrafficError>),
}

impl Exchanging {
    /// Carries the exchange out; `report` gets what [`Http::exchange`] says.
    pub(crate) async fn carry_out(self, mut report: impl FnMut(HttpInput)) {
        match self {
            Self::Replay(Ok(exchange)) => play(*exchange, report).await,
            Self::Replay(Err(error)) => report(refused(&error)),
            Self::Live { http, request, recording: None } => http.exchange(request, report).await,
            Self::Live { http, request, recording: Some((mut exchange, file)) } => {
                let record = |input: HttpInput| {
                    note(&mut exchange, &input);
                    // The line stands before the answer goes on: a run never ends without it.
                    if input.is_terminal() {
                        file.append(&exchange);
                    }
                    report(input);
                };
                http.exchange(request, record).await;
            }
        }
    }
}

fn note(exchange: &mut Exchange, input: &HttpInput) {
    match input {
        HttpInput::Head(head) => exchange.head(head.status, &head.headers),
        HttpInput::Chunk(bytes) => exchange.body.0.extend_from_slice(bytes),
        HttpInput::End => {}
        HttpInput::Failed(failure) => exchange.failed = Some(failure.message.clone()),
    }
}

/// Reports a recorded exchange, event by event, so that it streams as it once did.
async fn play(exchange: Exchange, mut report: impl FnMut(HttpInput)) {
    if exchange.status != 0 {
        let (status, headers) = (exchange.status, exchange.headers);
        report(HttpInput::Head(ResponseHead { status, headers, at: UnixMillis(0) }));
        for piece in pieces(&exchange.body) {
            report(HttpInput::Chunk(Bytes::from(piece.to_vec())));
            tokio::task::yield_now().await;
        }
    }
    report(match exchange.failed {
        None => HttpInput::End,
        Some(message) => HttpInput::Failed(HttpFailure { kind: HttpFailureKind::Network, message }),
    });
}

/// The body cut after each blank line.
fn pieces(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let end = rest.windows(2).position(|pair| pair == b"\n\n");
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |at| at + 2));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn refused(error: &TrafficError) -> HttpInput {
    let what = match error {
        TrafficError::Mismatch { .. } => "replay stopped: ",
        _ => "",
    };
    let advice = match error {
        TrafficError::Mismatch { .. } => {
            "\nthe tools, the files or the prompt are not those of the recording; \
             restore them, or record again with --record"
        }
        _ => "; record again with --record",
    };
    let message = format!("{what}{error}{advice}");
    HttpInput::Failed(HttpFailure { kind: HttpFailureKind::Refused, message })
}

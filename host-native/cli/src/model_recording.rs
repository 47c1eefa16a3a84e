//! A recording in place of a model. Provider, model and vocabulary are those that it names, unless
//! options name others; a difference is warned of, since replies may not fit then.

use super::{
    args::{SessionArgs, ToolVocabulary},
    exit::CliError,
};
use clap::ValueEnum as _;
use innerloop_core::{config::SessionConfig, json::to_string};
use innerloop_driver::{
    providers::{self, Provider},
    traffic::TrafficPlayer,
};
use innerloop_host::recording::{self, RecordingOrigin, SavedRecording};

/// A recording that is to be played.
#[derive(Debug)]
pub(super) struct Replay {
    player: TrafficPlayer,
    /// The origin of the recording, if the recording names it.
    origin: Option<RecordingOrigin>,
}

impl Replay {
    /// Reads the recording of `--replay`, if there is one, and fills in the arguments that it
    /// names.
    ///
    /// # Errors
    /// It can't be read, or names a provider or a vocabulary that this program does not know.
    pub(super) fn read(args: &mut SessionArgs) -> Result<Option<Self>, CliError> {
        let Some(path) = &args.files.replay else { return Ok(None) };
        let SavedRecording { origin, player } =
            recording::read(path).map_err(CliError::configuration)?;
        if let Some(origin) = &origin {
            let unknown = |what: &dyn std::fmt::Display| {
                CliError::configuration(format!("{}: {what}", path.display()))
            };
            if args.model.provider.is_none() {
                providers::find(&origin.provider).map_err(|error| unknown(&error))?;
                args.model.provider = Some(origin.provider.clone());
            }
            // With another provider the recorded model's name would mean nothing.
            if args.model.provider.as_ref() == Some(&origin.provider) {
                args.model.model.get_or_insert_with(|| origin.model.clone());
            }
            if args.tuning.vocabulary.is_none() {
                let words = ToolVocabulary::from_str(&origin.vocabulary, false);
                args.tuning.vocabulary = Some(words.map_err(|_| {
                    unknown(&format!("unknown vocabulary {:?}", origin.vocabulary))
                })?);
            }
        }
        Ok(Some(Self { player, origin }))
    }

    /// Returns the player, and the origin of the recording.
    pub(super) fn parts(self) -> (TrafficPlayer, Option<RecordingOrigin>) {
        (self.player, self.origin)
    }
}

/// Returns the origin that a recording of a session would name.
pub(super) fn origin(provider: &Provider, config: &SessionConfig) -> RecordingOrigin {
    RecordingOrigin {
        provider: provider.name.clone(),
        model: config.model.name.clone(),
        vocabulary: to_string(&config.model.vocabulary).trim_matches('"').to_owned(),
    }
}

/// Returns the difference between a session and the recorded one, for people; none if they agree.
pub(super) fn difference(recorded: &RecordingOrigin, now: &RecordingOrigin) -> Option<String> {
    let told = |RecordingOrigin { provider, model, vocabulary }: &RecordingOrigin| {
        format!("{provider}, {model}, vocabulary {vocabulary}")
    };
    let what = || format!("the recording is of {}; this run is for {}", told(recorded), told(now));
    (recorded != now).then(what)
}

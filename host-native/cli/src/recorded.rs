//! A recording in place of a model: what it names is taken where the options name nothing else,
//! and where they do, the difference is told.

use super::{
    args::{SessionArgs, Words},
    exit::Failure,
};
use clap::ValueEnum as _;
use innerloop_core::{config::SessionConfig, json::to_string};
use innerloop_driver::{
    providers::{self, Provider},
    traffic::Player,
};
use innerloop_host::recording::{self, Origin, Recorded};

/// A recording that is to be played.
#[derive(Debug)]
pub(super) struct Replay {
    player: Player,
    /// What was played to, where the recording says so.
    origin: Option<Origin>,
}

impl Replay {
    /// Reads the recording that is to be played, if one is, and has the arguments name what it
    /// names.
    ///
    /// # Errors
    /// It can't be read, or names what is not known here.
    pub(super) fn read(args: &mut SessionArgs) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.files.replay else { return Ok(None) };
        let Recorded { origin, player } = recording::read(path).map_err(Failure::configuration)?;
        if let Some(origin) = &origin {
            let unknown = |what: &dyn std::fmt::Display| {
                Failure::configuration(format!("{}: {what}", path.display()))
            };
            if args.model.provider.is_none() {
                providers::find(&origin.provider).map_err(|error| unknown(&error))?;
                args.model.provider = Some(origin.provider.clone());
            }
            // Another provider has other models.
            if args.model.provider.as_ref() == Some(&origin.provider) {
                args.model.model.get_or_insert_with(|| origin.model.clone());
            }
            if args.tuning.vocabulary.is_none() {
                let words = Words::from_str(&origin.vocabulary, false);
                args.tuning.vocabulary = Some(words.map_err(|_| {
                    unknown(&format!("unknown vocabulary {:?}", origin.vocabulary))
                })?);
            }
        }
        Ok(Some(Self { player, origin }))
    }

    /// What is played, and what it was played to.
    pub(super) fn parts(self) -> (Player, Option<Origin>) {
        (self.player, self.origin)
    }
}

/// What a recording says of a session.
pub(super) fn origin(provider: &Provider, config: &SessionConfig) -> Origin {
    Origin {
        provider: provider.name.clone(),
        model: config.model.name.clone(),
        vocabulary: to_string(&config.model.vocabulary).trim_matches('"').to_owned(),
    }
}

/// In which way a session is another than the recorded one, for people.
pub(super) fn difference(recorded: &Origin, now: &Origin) -> Option<String> {
    let told = |Origin { provider, model, vocabulary }: &Origin| {
        format!("{provider}, {model}, vocabulary {vocabulary}")
    };
    let what = || format!("the recording is of {}; this run is for {}", told(recorded), told(now));
    (recorded != now).then(what)
}

//! What agents of the same options share: their configuration with all that is made of it. A
//! program that opens an agent for each of its users does so with the same options, so that the
//! newest ones are kept.

use crate::{
    clock::wall,
    misuse::Misuse,
    options::{Docs, Options},
};
use innerloop_core::{Blueprint, id::SessionId};
use innerloop_driver::{Driver, Endpoints, Models, Parts, People};
use innerloop_tools::Memory;
use std::cell::RefCell;

thread_local! {
    /// Options, as JSON, and what came of them.
    static NEWEST: RefCell<Option<(String, Shared)>> = const { RefCell::new(None) };
}

/// What the same options always come to, as long as the project's instruction files are the same.
struct Shared {
    blueprint: Blueprint,
    endpoints: Endpoints,
    people: People,
    #[cfg(feature = "log")]
    keeps_log: bool,
}

/// A driver for a session of that id with these options, as JSON, in a workspace. A recording is
/// read for each of them.
///
/// # Errors
/// Those of [`Options`], or `bad_option` for the id.
pub(crate) fn open(options: &str, id: String, files: &Memory) -> Result<Driver, Misuse> {
    let newest = NEWEST.take().filter(|(newest, Shared { blueprint, .. })| {
        let config = blueprint.config();
        newest == options && Docs::of(config.model.profile, files).are_of(&config.facts)
    });
    let (shared, models) = match newest {
        Some((_, shared)) => (shared, Models::Live),
        None => Shared::of(options, &id, files)?,
    };
    let is_live = matches!(models, Models::Live);
    let driver = Driver::open_as(&shared.blueprint, SessionId(id), wall(), shared.parts(models));
    if is_live {
        NEWEST.set(Some((options.to_owned(), shared)));
    }
    driver.map_err(Misuse::from)
}

impl Shared {
    /// That of these options, and where the answers come from.
    fn of(options: &str, id: &str, files: &Memory) -> Result<(Self, Models), Misuse> {
        let mut read = Options::read(options)?;
        let parts = read.parts()?;
        // Each session has its own id, but there is no configuration without one.
        id.clone_into(&mut read.id);
        let blueprint = Driver::blueprint(read.config(files)?, &parts);
        let shared = Self {
            blueprint: blueprint.map_err(Misuse::from)?,
            endpoints: parts.endpoints,
            people: parts.people,
            #[cfg(feature = "log")]
            keeps_log: parts.keeps_log,
        };
        Ok((shared, parts.models))
    }

    fn parts(&self, models: Models) -> Parts {
        Parts {
            endpoints: self.endpoints.clone(),
            models,
            people: self.people.clone(),
            #[cfg(feature = "log")]
            keeps_log: self.keeps_log,
        }
    }
}

//! The setup that agents with the same options share: their configuration with all that is made of
//! it. A program that opens an agent for each of its users uses the same options each time, so the
//! newest setup is kept. It is used again only if it would come out the same.

use crate::{
    clock::wall,
    misuse::CallerError,
    options::{AgentOptions, ProjectDocs},
};
use innerloop_core::{SessionBlueprint, id::SessionId};
use innerloop_driver::{Driver, DriverOptions, EndpointTable, HostCapabilities, ModelSource};
use innerloop_tools::InMemoryFiles;
use std::cell::RefCell;

thread_local! {
    // One setup and not a map by options: options hold keys, which are not to be kept for longer
    // than they are used, and a map would grow with each user who has options of their own.
    /// The newest options, as JSON, and their setup.
    static NEWEST: RefCell<Option<(String, SharedSetup)>> = const { RefCell::new(None) };
}

/// The setup that the same options lead to as long as the project's instruction files are the same.
struct SharedSetup {
    blueprint: SessionBlueprint,
    docs: ProjectDocs,
    endpoints: EndpointTable,
    people: HostCapabilities,
    #[cfg(feature = "log")]
    keeps_log: bool,
}

/// Opens a driver for a session of that id with these options, as JSON, in a workspace. A recording
/// is read anew for each driver.
///
/// # Errors
/// Those of [`AgentOptions`], or `bad_option` for the id.
pub(crate) fn open(
    options: &str,
    id: String,
    files: &InMemoryFiles,
) -> Result<Driver, CallerError> {
    // The instruction files are compared, too: the options do not name them, and a tool or the user
    // may have changed them since.
    let newest = NEWEST.take().filter(|(newest, SharedSetup { blueprint, docs, .. })| {
        newest == options && ProjectDocs::of(blueprint.config().model.profile, files) == *docs
    });
    let (shared, models) = match newest {
        Some((_, shared)) => (shared, ModelSource::Live),
        None => SharedSetup::of(options, &id, files)?,
    };
    // A recording is used up by the session that it answers, so that its setup is not kept.
    let is_live = matches!(models, ModelSource::Live);
    let driver = Driver::open_as(&shared.blueprint, SessionId(id), wall(), shared.parts(models));
    if is_live {
        NEWEST.set(Some((options.to_owned(), shared)));
    }
    driver.map_err(CallerError::from)
}

impl SharedSetup {
    /// Makes the setup of these options, and the source of the models' answers.
    fn of(
        options: &str,
        id: &str,
        files: &InMemoryFiles,
    ) -> Result<(Self, ModelSource), CallerError> {
        let mut read = AgentOptions::read(options)?;
        let parts = read.parts()?;
        // Each session gets its own id from the blueprint, but a configuration without one is
        // refused.
        id.clone_into(&mut read.id);
        let (config, docs) = read.config(files)?;
        let blueprint = Driver::blueprint(config, &parts);
        let shared = Self {
            blueprint: blueprint.map_err(CallerError::from)?,
            docs,
            endpoints: parts.endpoints,
            people: parts.people,
            #[cfg(feature = "log")]
            keeps_log: parts.keeps_log,
        };
        Ok((shared, parts.models))
    }

    fn parts(&self, models: ModelSource) -> DriverOptions {
        DriverOptions {
            endpoints: self.endpoints.clone(),
            models,
            people: self.people.clone(),
            #[cfg(feature = "log")]
            keeps_log: self.keeps_log,
        }
    }
}

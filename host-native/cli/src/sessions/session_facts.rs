//! The facts about a session that its log does not hold: where it works, and the options that are
//! not part of its configuration. They are stored as `about.json`, which other versions of this
//! program read, too: new fields have defaults.

use super::show::title;
use crate::{
    args::{EnvironmentArgs, GuestArgs, SessionArgs, WebArgs},
    exit::CliError,
    mode::ChangeMode,
};
use innerloop_core::{Session, id::AgentId, message::TurnKind};
use innerloop_driver::providers;
use innerloop_host::http::wall_time;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The facts that are known of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionInfo {
    /// The session's id.
    pub(crate) id: String,
    /// The time at which it was opened, in milliseconds since 1970.
    #[serde(default)]
    pub(crate) opened: u64,
    /// The first words that were said to it; empty before that.
    #[serde(default)]
    pub(crate) title: String,
    /// The folder that it works on.
    pub(crate) workspace: PathBuf,
    /// The provider's name.
    pub(crate) provider: String,
    /// The model's name.
    #[serde(default)]
    pub(crate) model: String,
    /// The session that this one is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fork_of: Option<String>,
    /// True if changes that the agent has made were not taken over, and it has not been told.
    #[serde(default)]
    pub(crate) dropped: bool,
    #[serde(default)]
    pub(crate) options: SessionOptions,
}

/// The options with which a session is opened again. Options that this version of the program does
/// not know, or that are missing, count as not given.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionOptions {
    pub(crate) mode: ChangeMode,
    pub(crate) any_folder: bool,
    pub(crate) base_url: Option<String>,
    pub(crate) web: WebArgs,
    /// The calls that run without a question, as options named them.
    pub(crate) allow: Vec<String>,
    /// True if it only reads.
    pub(crate) read_only: bool,
    pub(crate) guests: GuestArgs,
    /// The environment of commands; of the variables that it sets, only the names are stored.
    pub(crate) environment: EnvironmentArgs,
}

impl SessionOptions {
    /// Returns the options of a new session. Paths become absolute: it may be resumed from another
    /// folder.
    pub(crate) fn of(args: &SessionArgs, mode: ChangeMode) -> Self {
        let SessionArgs { any_folder, model, tuning, guests, environment, .. } = args;
        let here = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Self {
            mode,
            any_folder: *any_folder,
            base_url: model.base_url.clone(),
            web: tuning.web.clone(),
            allow: tuning.allow.clone(),
            read_only: tuning.read_only,
            guests: GuestArgs {
                programs: guests.programs.as_ref().map(here),
                tools: guests.tools.iter().map(here).collect(),
                ..guests.clone()
            },
            environment: EnvironmentArgs {
                set_env: names(&environment.set_env),
                ..environment.clone()
            },
        }
    }
}

/// Returns the names of variables without their values, which may be secrets.
pub(crate) fn names(set: &[String]) -> Vec<String> {
    let name = |text: &String| text.split('=').next().unwrap_or_default().to_owned();
    set.iter().map(name).collect()
}

impl SessionInfo {
    /// Returns the facts of a session of which only the log is there, and which goes on in this
    /// folder.
    ///
    /// # Errors
    /// The folder does not exist, or this program does not know the session's provider.
    pub(crate) fn of_log(session: &Session, folder: &Path) -> Result<Self, CliError> {
        let unusable = |error| CliError::usage(format!("{}: {error}", folder.display()));
        let model = &session.config().model;
        let provider = providers::find(&model.endpoint.0).map_err(|error| {
            CliError::configuration(format!("the log is of a session with another host: {error}"))
        })?;
        let mut turns = session.history(AgentId::ROOT).into_iter().flat_map(|it| it.turns());
        let title = turns.find_map(|turn| match &turn.kind {
            TurnKind::User(parts) => Some(title(parts)),
            _ => None,
        });
        Ok(Self {
            id: session.id().0.clone(),
            opened: wall_time().0,
            title: title.unwrap_or_default(),
            workspace: fs::canonicalize(folder).map_err(unusable)?,
            provider: provider.name,
            model: model.name.clone(),
            fork_of: None,
            dropped: false,
            options: SessionOptions::default(),
        })
    }
}

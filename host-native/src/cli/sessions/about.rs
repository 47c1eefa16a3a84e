//! What is known of a session beside its log: where it works, and the options that are no part of
//! its configuration.

use crate::cli::{
    args::{EnvironmentArgs, GuestArgs, SessionArgs, WebArgs},
    review::Mode,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is known of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    /// The session's id.
    pub(crate) id: String,
    /// When it was opened, in milliseconds since 1970.
    pub(crate) opened: u64,
    /// The first words that were said to it; empty before that.
    pub(crate) title: String,
    /// The folder that it works on.
    pub(crate) workspace: PathBuf,
    /// The provider's name.
    pub(crate) provider: String,
    /// The model's name.
    pub(crate) model: String,
    /// The session that this one is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fork_of: Option<String>,
    /// Whether changes that the agent has made were not taken over, and it has not been told.
    #[serde(default)]
    pub(crate) dropped: bool,
    pub(crate) options: Options,
}

/// The options with which a session is opened again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) any_folder: bool,
    pub(crate) base_url: Option<String>,
    pub(crate) web: WebArgs,
    pub(crate) guests: GuestArgs,
    pub(crate) environment: EnvironmentArgs,
}

impl Options {
    /// Those of a new session, from wherever it is opened again.
    pub(crate) fn of(args: &SessionArgs, mode: Mode) -> Self {
        let SessionArgs { any_folder, model, tuning, guests, environment, .. } = args;
        let here = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Self {
            mode,
            any_folder: *any_folder,
            base_url: model.base_url.clone(),
            web: tuning.web.clone(),
            guests: GuestArgs {
                programs: guests.programs.as_ref().map(here),
                tools: guests.tools.iter().map(here).collect(),
                ..guests.clone()
            },
            environment: environment.clone(),
        }
    }
}

//! The source of a session: the plan of a new one, or one that was kept. The configuration of a
//! kept session comes from its log; only what the user asks for now is changed in it.

use crate::{
    args::TuningArgs,
    call_summary::CallDescriber,
    config::{self, SessionPlan},
    exit::CliError,
    resumed_session::ResumableSession,
};
use innerloop_core::{config::SessionConfig, preset::ConfigPreset, routing::RoutedModel};
use innerloop_host::setup::{OpenSession, SessionSetup, WorkSite};

/// The source of a session.
pub(super) enum SessionSource {
    New(Box<SessionPlan>),
    Kept(Box<ResumableSession>),
}

impl SessionSource {
    /// Returns its configuration, with the tools of the site.
    pub(super) async fn config(&self, site: &WorkSite) -> Result<SessionConfig, CliError> {
        match self {
            Self::Kept(past) => Ok(past.session().config().clone()),
            Self::New(plan) => plan.config(site).await,
        }
    }

    /// Returns the models that take over where the session's own fails.
    pub(super) fn fallbacks(&self) -> Result<Vec<RoutedModel>, CliError> {
        Ok(match self {
            Self::Kept(past) => past.session().config().routing.models.clone(),
            Self::New(plan) => plan.draft()?.routing.models,
        })
    }

    /// Returns the preset of a new session.
    pub(super) fn preset(&self) -> Option<ConfigPreset> {
        match self {
            Self::Kept(_) => None,
            Self::New(plan) => Some(plan.preset()),
        }
    }

    /// Opens a new session with that configuration, or restores the kept one and adapts it; also
    /// returns the words in which its calls are shown.
    pub(super) fn begin(
        self,
        setup: SessionSetup,
        config: SessionConfig,
        tuning: &TuningArgs,
    ) -> Result<(OpenSession, CallDescriber), CliError> {
        let (opened, told) = match self {
            Self::Kept(mut past) => {
                let told = past.open_calls();
                past.adapt(&config)?;
                let snapshot = past.session().snapshot();
                (setup.restore(&snapshot).map_err(CliError::configuration)?, told)
            }
            Self::New(_) => {
                let opened = setup.open(config);
                (opened.map_err(|error| config::unworkable(&error, tuning))?, Vec::new())
            }
        };
        let words = CallDescriber::new(opened.session().config()).with_told(told);
        Ok((opened, words))
    }
}

//! The source of a session: a plan of a new one, or one that was kept.

use crate::{
    args::TuningArgs,
    call_summary::CallDescriber,
    config::{self, SessionPlan},
    exit::CliError,
    resumed_session::ResumableSession,
};
use innerloop_core::config::SessionConfig;
use innerloop_host::setup::{OpenSession, SessionSetup, WorkSite};

/// The source of a session.
pub(super) enum SessionSource {
    New(Box<SessionPlan>),
    Kept(Box<ResumableSession>),
}

impl SessionSource {
    /// Its configuration, where the tools of the site are.
    pub(super) async fn config(&self, site: &WorkSite) -> Result<SessionConfig, CliError> {
        match self {
            Self::Kept(past) => Ok(past.session().config().clone()),
            Self::New(plan) => plan.config(site).await,
        }
    }

    /// The session: a new one of that configuration, or the one that was kept, with what is
    /// otherwise by now; and the words in which its calls are told.
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

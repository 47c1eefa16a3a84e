//! The choice of a provider, its catalogue of models, and the session that will use them: a new one
//! or one that goes on.

use super::{source::SessionSource, user_wishes::SessionRequest};
use crate::{
    config,
    exit::CliError,
    setup::{self, ProviderChoice},
};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};

/// A provider with its models, and the session that uses it.
pub(super) struct SessionChoice {
    pub(super) provider: Provider,
    /// The reason for that provider, where nobody has named one.
    pub(super) because: Option<String>,
    /// The provider's models, as far as they are known.
    pub(super) catalogue: Catalogue,
    pub(super) source: SessionSource,
}

impl SessionChoice {
    /// Makes the choice that was asked for.
    pub(super) async fn of(
        asked: &mut SessionRequest,
        is_attended: bool,
    ) -> Result<Self, CliError> {
        let ProviderChoice { provider, because } = match asked.args.files.replay {
            None => setup::provider(&asked.args.model)?,
            Some(_) => setup::recorded_provider(&asked.args.model)?,
        };
        let catalogue = config::catalogue(asked.args.tuning.models.as_deref())?;
        let source = asked.source(&provider, &catalogue, is_attended).await?;
        Ok(Self { provider, because, catalogue, source })
    }
}

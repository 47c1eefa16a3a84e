//! Which model is spoken to, and in which session.

use super::{asked::Asked, source::Source};
use crate::{
    config,
    exit::Failure,
    setup::{self, Choice},
};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};

/// Which model is spoken to, and in which session.
pub(super) struct Chosen {
    pub(super) provider: Provider,
    /// Why it is that provider, where nobody has named one.
    pub(super) because: Option<String>,
    /// What is known of its models.
    pub(super) catalogue: Catalogue,
    pub(super) source: Source,
}

impl Chosen {
    /// What was asked for.
    pub(super) async fn of(asked: &mut Asked, is_attended: bool) -> Result<Self, Failure> {
        let Choice { provider, because } = match asked.args.files.replay {
            None => setup::provider(&asked.args.model)?,
            Some(_) => setup::recorded_provider(&asked.args.model)?,
        };
        let catalogue = config::catalogue(asked.args.tuning.models.as_deref())?;
        let source = asked.source(&provider, &catalogue, is_attended).await?;
        Ok(Self { provider, because, catalogue, source })
    }
}

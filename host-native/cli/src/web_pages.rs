//! The access of a session's agent to pages of the web: the allowed domains, and questions to the
//! person about others, if there is one.

use super::approval::PersonHandle;
use innerloop_host::{
    tools::OwnTool,
    web::{self, AllowedDomains, DomainRequest, SessionDomains},
};
use tokio::sync::mpsc::UnboundedReceiver;

/// The pages that a session's agent may read.
pub(super) struct PageAccess {
    domains: SessionDomains,
    /// The requests for domains that are not allowed; `None` if nobody can be asked.
    wanted: Option<UnboundedReceiver<DomainRequest>>,
}

impl PageAccess {
    /// Allows the domains that were named, and others if somebody can be asked about them.
    pub(super) fn of(allowed: AllowedDomains, may_ask: bool) -> Self {
        if !may_ask {
            return Self { domains: SessionDomains::new(allowed), wanted: None };
        }
        let (domains, wanted) = SessionDomains::asking(allowed);
        Self { domains, wanted: Some(wanted) }
    }

    /// Returns the tool that reads them.
    pub(super) fn reader(&self) -> OwnTool {
        web::reader(self.domains.clone())
    }

    /// Returns whether somebody can be asked about others.
    pub(super) const fn can_be_asked_for(&self) -> bool {
        self.wanted.is_some()
    }

    /// Has the person asked about other domains from now on; returns the allowed ones.
    pub(super) fn ask(self, person: Option<&PersonHandle>) -> SessionDomains {
        let Self { domains, wanted } = self;
        if let Some((mut wanted, person)) = wanted.zip(person.cloned()) {
            tokio::spawn(async move {
                while let Some(page) = wanted.recv().await {
                    person.ask_for_page(page);
                }
            });
        }
        domains
    }
}

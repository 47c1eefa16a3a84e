//! Questions about domains that are not allowed: who is asked, and what one call may read after the
//! answer. An answer for one call ends with it; one for good belongs to the session.

use super::{
    allowed_domains::{AllowedDomains, DeniedAddress, PageAddress},
    fault::{FetchError, refused},
};
use crate::tools::OwnToolCall;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::{
    Mutex,
    mpsc::{UnboundedReceiver, UnboundedSender},
    oneshot,
};

/// The text that the model reads after a denial.
const NO: &str = "the user was asked and said no. Do without it";

/// The domains of a session: those that were allowed at its beginning, and those that somebody has
/// allowed since. Clones belong to the same session.
#[derive(Clone, Debug)]
pub struct SessionDomains {
    allowed: Arc<RwLock<AllowedDomains>>,
    /// The domains that were allowed at the beginning.
    first: Arc<AllowedDomains>,
    /// The channel for questions; `None` if nobody can be asked.
    asks: Option<UnboundedSender<DomainRequest>>,
}

/// A question about a page of a domain that is not allowed. If it is dropped, the page is refused
/// as if nobody were there.
#[derive(Debug)]
pub struct DomainRequest {
    /// The address of the page.
    pub address: String,
    /// Its domain, with the port where that is not the usual one.
    pub domain: String,
    /// The address of the page that leads there, if one does.
    pub from: Option<String>,
    /// The domains that are allowed already.
    pub allowed: Vec<String>,
    answer: oneshot::Sender<DomainAnswer>,
}

/// The answer to a question about a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainAnswer {
    /// The call that asks may read pages of the domain.
    Once,
    /// Pages of the domain and of those below it may be read from now on.
    Always,
    /// The domain may not be read.
    No,
}

impl SessionDomains {
    /// Allows those domains, and no others.
    #[must_use]
    pub fn new(allowed: AllowedDomains) -> Self {
        let first = Arc::new(allowed.clone());
        Self { allowed: Arc::new(RwLock::new(allowed)), first, asks: None }
    }

    /// Allows those domains, and asks somebody about others, by the receiver.
    #[must_use]
    pub fn asking(allowed: AllowedDomains) -> (Self, UnboundedReceiver<DomainRequest>) {
        let (asks, asked) = tokio::sync::mpsc::unbounded_channel();
        (Self { asks: Some(asks), ..Self::new(allowed) }, asked)
    }

    /// Returns whether every page of these addresses needs a question first.
    #[must_use]
    pub fn asks_for_all(&self, urls: &[String]) -> bool {
        self.asks.is_some() && urls.iter().all(|url| self.with(|it| it.judge(url)).is_err())
    }

    /// Undoes what somebody has allowed since the beginning.
    pub fn forget(&self) {
        *self.allowed.write().unwrap_or_else(PoisonError::into_inner) = (*self.first).clone();
    }

    fn with<T>(&self, judge: impl FnOnce(&AllowedDomains) -> T) -> T {
        judge(&self.allowed.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, address: &PageAddress) {
        self.allowed.write().unwrap_or_else(PoisonError::into_inner).add(address);
    }
}

impl DomainRequest {
    /// Answers the question for the call.
    pub fn answer(self, word: DomainAnswer) {
        // The call may have ended meanwhile, and needs no answer then.
        let _heard = self.answer.send(word);
    }

    /// Waits until no answer is needed any more.
    pub async fn is_withdrawn(&mut self) {
        self.answer.closed().await;
    }
}

/// The gate of one call, which decides about each address that it reads.
#[derive(Debug)]
pub(super) struct FetchGate {
    domains: SessionDomains,
    call: OwnToolCall,
    /// The answers for this call alone. The lock is held during a question: pages that are read
    /// side by side ask one after the other, and not twice about one domain.
    said: Mutex<Vec<(String, DomainAnswer)>>,
}

impl FetchGate {
    pub(super) fn new(domains: SessionDomains, call: OwnToolCall) -> Self {
        Self { domains, call, said: Mutex::default() }
    }

    /// Returns the address in a text, if it may be read.
    pub(super) async fn enter(&self, text: &str) -> Result<PageAddress, FetchError> {
        match self.domains.with(|allowed| allowed.judge(text)) {
            Ok(address) => Ok(address),
            Err(denied) => self.ask(denied, None).await,
        }
    }

    /// Returns the address that a page leads to, if it may be read.
    pub(super) async fn follow(
        &self,
        from: &PageAddress,
        location: &str,
    ) -> Result<PageAddress, FetchError> {
        match self.domains.with(|allowed| allowed.follow(from, location)) {
            Ok(address) => Ok(address),
            Err(denied) => self.ask(denied, Some(from)).await,
        }
    }

    /// Returns the address if somebody allows it.
    async fn ask(
        &self,
        denied: DeniedAddress,
        from: Option<&PageAddress>,
    ) -> Result<PageAddress, FetchError> {
        let DeniedAddress { why, unless } = denied;
        let (Some(address), Some(asks)) = (unless, &self.domains.asks) else {
            return Err(refused(why));
        };
        let domain = address.domain();
        let mut said = self.said.lock().await;
        // Another page or call may have got an answer for good while this one waited for the lock.
        if self.domains.with(|allowed| allowed.covers(&address)) {
            return Ok(address);
        }
        let before = said.iter().find(|(other, _)| *other == domain).map(|(_, word)| *word);
        let word = match before {
            Some(word) => Some(word),
            None => {
                let (answer, answered) = oneshot::channel();
                let wanted = DomainRequest {
                    address: address.to_string(),
                    domain: domain.clone(),
                    from: from.map(PageAddress::to_string),
                    allowed: self.domains.with(AllowedDomains::names),
                    answer,
                };
                // If the receiver is gone, the request is dropped with its sender, and the wait
                // below ends without an answer.
                drop(asks.send(wanted));
                self.call.unhurried(answered).await.ok()
            }
        };
        said.extend(word.map(|word| (domain.clone(), word)));
        drop(said);
        match word {
            Some(DomainAnswer::Once) => Ok(address),
            Some(DomainAnswer::Always) => {
                self.domains.add(&address);
                Ok(address)
            }
            Some(DomainAnswer::No) => {
                let leads = from.map(|_| format!("It leads to {address}. ")).unwrap_or_default();
                Err(refused(format!("{leads}{domain} is not allowed here: {NO}.")))
            }
            None => Err(refused(why)),
        }
    }
}

//! The table from an endpoint's name to its base URL, its way to authenticate and its key. A
//! session knows only the name. A key leaves the table for one purpose: the header of a request to
//! its own origin.

use crate::{base_url::BaseUrl, masking::SecretKeys, providers::Provider, secret_key::ApiKey};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::mem;
use innerloop_core::{
    bytes::BodyBytes,
    id::EndpointId,
    input::{HttpFailure, HttpFailureKind},
    output::HttpRequest,
};
use innerloop_json::quoted;

/// The address of an endpoint, with the key and the headers that it wants.
#[derive(Clone, Debug)]
pub struct Endpoint {
    base: BaseUrl,
    header: String,
    prefix: String,
    key: ApiKey,
    headers: Vec<(String, String)>,
}

/// The reason why an endpoint cannot be used. The host knows what to do about a missing key or URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The provider needs a key, and none is given.
    #[error("there is no key for the provider")]
    MissingKey,
    /// The key cannot stand in a header.
    #[error("the key holds characters that no API key has")]
    BadKey,
    /// Every user of the provider has a URL of their own, and none is given.
    #[error("the provider is at a place of your own, and no base URL is given")]
    MissingUrl,
    /// The base URL is not an origin with an optional path.
    #[error("{} is no base URL ({why}); give one like https://api.anthropic.com", quoted(url))]
    BadUrl {
        /// The URL that was given, without any password.
        url: String,
        /// The reason why it is not a base URL.
        why: &'static str,
    },
}

impl Endpoint {
    /// Makes the endpoint of `provider`, at `base_url` if one is given, else at the provider's own.
    ///
    /// # Errors
    /// [`EndpointError`] if the key is missing or cannot stand in a header, or if the URL is
    /// missing or is not a base URL.
    pub fn new(
        provider: &Provider,
        base_url: Option<&str>,
        key: ApiKey,
    ) -> Result<Self, EndpointError> {
        if key.is_empty() && !provider.key_optional {
            return Err(EndpointError::MissingKey);
        }
        Self::without_check(provider, base_url, key)
    }

    /// As [`Endpoint::new`], but the key may be missing: whoever sends the requests adds it.
    ///
    /// # Errors
    /// [`EndpointError`] if the key cannot stand in a header, or if the URL is missing or is not a
    /// base URL.
    pub fn without_check(
        provider: &Provider,
        base_url: Option<&str>,
        key: ApiKey,
    ) -> Result<Self, EndpointError> {
        if !key.fits_header() {
            return Err(EndpointError::BadKey);
        }
        let url = base_url.or(provider.base_url.as_deref()).ok_or(EndpointError::MissingUrl)?;
        let base = BaseUrl::parse(url)
            .map_err(|why| EndpointError::BadUrl { url: shown(url.trim()), why })?
            .for_wire(provider.wire);
        let (header, prefix) = (provider.auth.header.clone(), provider.auth.prefix.clone());
        Ok(Self { base, header, prefix, key, headers: Vec::new() })
    }

    /// Returns the endpoint with further headers, whose values are not secret.
    #[must_use]
    pub fn with_headers(self, headers: Vec<(String, String)>) -> Self {
        Self { headers, ..self }
    }

    /// Returns the base URL of the endpoint.
    #[must_use]
    pub const fn base(&self) -> &BaseUrl {
        &self.base
    }

    fn request(&self, request: HttpRequest) -> Result<EndpointRequest, HttpFailure> {
        let Some(url) = self.base.join(&request.path) else {
            return Err(refused(format!("{} is no path of {}", quoted(&request.path), self.base)));
        };
        // The endpoint's headers replace the session's of the same name, in any case of letters: a
        // request with two of one name is read differently from server to server.
        let own = |name: &str| {
            let is = |other: &str| other.eq_ignore_ascii_case(name);
            is(&self.header) || self.headers.iter().any(|(other, _)| is(other))
        };
        let mut headers = request.headers;
        headers.retain(|(name, _)| !own(name));
        headers.extend(self.headers.iter().cloned());
        // Apart from the headers and as an `ApiKey`, so that printing the request does not show it.
        let key =
            (!self.key.is_empty()).then(|| (self.header.clone(), self.key.behind(&self.prefix)));
        let (endpoint, body, base) = (request.endpoint, request.body, self.base.clone());
        Ok(EndpointRequest { endpoint, url, headers, key, body, base })
    }
}

/// Returns the part of a URL that may be shown: without a user name and password.
fn shown(text: &str) -> String {
    // Up to the last `@`, since a password may have one. The text is no valid URL, so it cannot be
    // taken apart any better.
    text.rsplit_once('@').map_or_else(|| text.into(), |(_, rest)| format!("…@{rest}"))
}

/// A `POST` request that a host sends as it is, without following redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointRequest {
    /// The endpoint's name.
    pub endpoint: EndpointId,
    /// The whole URL.
    pub url: String,
    /// The headers that hold no secret.
    pub headers: Vec<(String, String)>,
    /// The header that holds the key, if there is one; its value must not be shown or stored.
    pub key: Option<(String, ApiKey)>,
    /// The body.
    pub body: BodyBytes,
    /// The endpoint's base URL, for messages.
    pub base: BaseUrl,
}

/// The number of replaced keys that are still masked: a host that gives a new one every hour has no
/// longer list to look through for that.
const MAX_FORMER: usize = 8;

/// The table of endpoints. Its clones share it until one changes.
#[derive(Clone, Debug, Default)]
pub struct EndpointTable {
    table: Arc<Vec<(EndpointId, Endpoint)>>,
    /// The keys that were replaced last: texts that come in may still hold them.
    former: Vec<ApiKey>,
}

impl EndpointTable {
    /// Adds an endpoint; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, id: EndpointId, endpoint: Endpoint) -> Self {
        let table = Arc::make_mut(&mut self.table);
        table.retain(|(known, _)| *known != id);
        table.push((id, endpoint));
        self
    }

    /// Adds further endpoints. The key of one that is replaced is remembered.
    pub(crate) fn extend(&mut self, more: Self) {
        for (id, endpoint) in Arc::unwrap_or_clone(more.table) {
            // First the key alone: `with` drops the old endpoint, and `former` would not have it.
            self.rekey(&id, endpoint.key.clone());
            *self = mem::take(self).with(id, endpoint);
        }
    }

    /// Gives an endpoint another key, for the requests from now on.
    pub(crate) fn rekey(&mut self, id: &EndpointId, key: ApiKey) {
        // Hosts may give the same key again. It leaves the table shared by all its sessions, and
        // does not push the former key out.
        if self.find(id).is_none_or(|endpoint| endpoint.key == key) {
            return;
        }
        let table = Arc::make_mut(&mut self.table);
        if let Some((_, endpoint)) = table.iter_mut().find(|(known, _)| known == id) {
            self.former.push(mem::replace(&mut endpoint.key, key));
            let old = self.former.len().saturating_sub(MAX_FORMER);
            self.former.drain(..old);
        }
    }

    /// Returns the endpoint of that name.
    #[must_use]
    pub fn find(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.table.iter().find(|(known, _)| known == id).map(|(_, endpoint)| endpoint)
    }

    /// Returns whether all endpoints are on this machine.
    #[must_use]
    pub fn are_loopback(&self) -> bool {
        self.table.iter().all(|(_, endpoint)| endpoint.base.is_loopback())
    }

    /// Returns the keys of all endpoints, and those that were replaced last.
    #[must_use]
    pub fn keys(&self) -> SecretKeys {
        SecretKeys::new(self.table.iter().map(|(_, endpoint)| &endpoint.key).chain(&self.former))
    }

    /// Returns the request of a session as it is sent.
    ///
    /// # Errors
    /// A refusal: the table has no such endpoint, or the path does not lead below its base URL.
    pub fn request(&self, request: HttpRequest) -> Result<EndpointRequest, HttpFailure> {
        match self.find(&request.endpoint) {
            Some(endpoint) => endpoint.request(request),
            None => {
                Err(refused(format!("this host knows no endpoint {}", quoted(&request.endpoint.0))))
            }
        }
    }
}

/// Returns the failure of a request that is not sent.
pub(crate) const fn refused(message: String) -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Refused, message }
}

//! The host's table from an endpoint's name to its origin, its way to authenticate and its key
//! (DESIGN rule 8). The core knows the name only; a key leaves this table for the one header of
//! a request to its own origin.

use crate::secret::Key;
use innerloop_core::{
    config::{ProfileKind, WireKind},
    id::EndpointId,
};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use std::{collections::BTreeMap, net::IpAddr};

/// A model provider that the host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic, or a server that speaks its protocol.
    Anthropic,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 1] = [Self::Anthropic];

    /// The provider of that name.
    ///
    /// # Errors
    /// [`EndpointError::UnknownProvider`] if there is none.
    pub fn named(name: &str) -> Result<Self, EndpointError> {
        let found = Self::ALL.into_iter().find(|provider| provider.name() == name);
        found.ok_or_else(|| EndpointError::UnknownProvider(name.to_owned()))
    }

    /// Its name on the command line, which is also its endpoint's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
        }
    }

    /// The environment variable that holds its key.
    #[must_use]
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// The environment variable that may hold another base URL.
    #[must_use]
    pub const fn base_url_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_BASE_URL",
        }
    }

    /// Where it is reached if nothing else is said.
    #[must_use]
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
        }
    }

    /// The model that is used if none is named.
    #[must_use]
    pub const fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-5-5",
        }
    }

    /// The protocol it speaks.
    #[must_use]
    pub const fn wire(self) -> WireKind {
        match self {
            Self::Anthropic => WireKind::Anthropic,
        }
    }

    /// The family of its models.
    #[must_use]
    pub const fn profile(self) -> ProfileKind {
        match self {
            Self::Anthropic => ProfileKind::Anthropic,
        }
    }

    /// The name under which the core knows its endpoint.
    #[must_use]
    pub fn endpoint(self) -> EndpointId {
        EndpointId(self.name().to_owned())
    }

    /// Header and prefix of the key.
    const fn authentication(self) -> (HeaderName, &'static str) {
        match self {
            Self::Anthropic => (HeaderName::from_static("x-api-key"), ""),
        }
    }
}

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// No provider of that name.
    #[error("unknown provider {0:?}; known: anthropic")]
    UnknownProvider(String),
    /// The key's variable is not set, or empty.
    #[error("{0} is not set; put your API key in it, or use --replay with a recording")]
    MissingKey(&'static str),
    /// The key cannot stand in a header.
    #[error("{0} holds characters that no API key has; set it again")]
    BadKey(&'static str),
    /// The base URL does not parse, or is no origin with an optional path.
    #[error("{url:?} is no base URL ({why}); give one like https://api.anthropic.com")]
    BadUrl {
        /// What was given, without any password.
        url: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Where an endpoint is, and how it lets one in.
#[derive(Clone, Debug)]
pub struct Endpoint {
    base: Url,
    header: HeaderName,
    prefix: &'static str,
    key: Key,
}

impl Endpoint {
    /// The endpoint of `provider` at `base_url`.
    ///
    /// # Errors
    /// [`EndpointError`] if the key is missing or no header value, or if the URL is none.
    pub fn new(provider: Provider, base_url: &str, key: Key) -> Result<Self, EndpointError> {
        if key.is_empty() {
            return Err(EndpointError::MissingKey(provider.key_variable()));
        }
        let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        if !key.expose().bytes().all(fits) {
            return Err(EndpointError::BadKey(provider.key_variable()));
        }
        let (header, prefix) = provider.authentication();
        Ok(Self { base: base(base_url)?, header, prefix, key })
    }

    /// The base URL, for display.
    #[must_use]
    pub const fn base(&self) -> &Url {
        &self.base
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// Whether the endpoint is on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default();
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// The full URL of `path`, or `None` if that would be another origin.
    #[must_use]
    pub fn url(&self, path: &str) -> Option<Url> {
        let whole = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let url = Url::parse(&whole).ok().filter(|_| path.starts_with('/'))?;
        (url.origin() == self.base.origin() && has_no_user(&url)).then_some(url)
    }

    /// The header that carries the key.
    #[must_use]
    pub fn authentication(&self) -> Option<(HeaderName, HeaderValue)> {
        let value = format!("{}{}", self.prefix, self.key.expose());
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((self.header.clone(), value))
    }
}

/// Reads a base URL: an origin and perhaps a path, nothing else.
fn base(text: &str) -> Result<Url, EndpointError> {
    let text = text.trim();
    let bad = |why: &str| EndpointError::BadUrl { url: shown(text), why: why.to_owned() };
    let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("its scheme is neither http nor https"));
    }
    if !has_no_user(&url) {
        return Err(bad("it holds a user name or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it has a query or fragment"));
    }
    Ok(url)
}

fn has_no_user(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

/// What may be shown of a text that may hold a password.
fn shown(text: &str) -> String {
    text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, rest)| format!("…@{rest}"))
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Endpoints(BTreeMap<EndpointId, Endpoint>);

impl Endpoints {
    /// Enters an endpoint.
    #[must_use]
    pub fn with(mut self, id: EndpointId, endpoint: Endpoint) -> Self {
        self.0.insert(id, endpoint);
        self
    }

    /// The endpoint of that name.
    #[must_use]
    pub fn find(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.0.get(id)
    }

    /// Every endpoint.
    pub fn iter(&self) -> impl Iterator<Item = &Endpoint> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::new(Provider::Anthropic, url, Key::new("sk-ant-0123456789"))
    }

    #[test]
    fn a_path_stays_on_its_origin() {
        let at = endpoint("https://api.anthropic.com").unwrap();
        let url = at.url("/v1/messages").unwrap();
        assert_eq!(url.as_str(), "https://api.anthropic.com/v1/messages");
        for path in ["@evil.example/v1", ".evil.example/", ":8080/x", "v1/messages", ""] {
            assert_eq!(at.url(path), None, "{path}");
        }
        let below = endpoint("http://127.0.0.1:8080/proxy/").unwrap();
        let url = below.url("/v1/messages").unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:8080/proxy/v1/messages");
        assert!(below.is_loopback() && !at.is_loopback());
        assert!(endpoint("http://[::1]:80").unwrap().is_loopback());
    }

    #[test]
    fn what_is_no_base_url_is_said_without_its_password() {
        let urls = ["", "api.anthropic.com", "ftp://a", "https://me:hidden@host", "http://a?b=c"];
        for url in urls {
            let error = endpoint(url).unwrap_err().to_string();
            assert!(error.contains("is no base URL"), "{error}");
            assert!(!error.contains("hidden"), "{error}");
        }
    }

    #[test]
    fn a_key_is_needed_and_never_shown() {
        let missing = Endpoint::new(Provider::Anthropic, "http://a", Key::new("  "));
        assert_eq!(missing.unwrap_err(), EndpointError::MissingKey("ANTHROPIC_API_KEY"));
        let bad = Endpoint::new(Provider::Anthropic, "http://a", Key::new("sk-ant\nx: y"));
        assert_eq!(bad.unwrap_err(), EndpointError::BadKey("ANTHROPIC_API_KEY"));
        let at = endpoint("https://api.anthropic.com").unwrap();
        let (name, value) = at.authentication().unwrap();
        assert_eq!((name.as_str(), value.as_bytes()), ("x-api-key", &b"sk-ant-0123456789"[..]));
        assert!(!format!("{at:?} {value:?}").contains("0123456789"));
    }

    #[test]
    fn an_unknown_provider_is_named_with_those_that_are_known() {
        let error = Provider::named("openai").unwrap_err().to_string();
        assert_eq!(error, "unknown provider \"openai\"; known: anthropic");
        assert_eq!(Provider::named("anthropic"), Ok(Provider::Anthropic));
    }
}

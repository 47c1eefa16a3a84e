//! The host's table from an endpoint's name to its origin, its way to authenticate and its key
//! (DESIGN rule 8). The core knows the name only; a key leaves this table for the one header of
//! a request to its own origin.

use crate::secret::Key;
use innerloop_core::id::EndpointId;
use innerloop_driver::providers::Provider;
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use std::{collections::BTreeMap, net::IpAddr};

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The key's variable is not set, or empty.
    #[error("{0} is not set; put your API key in it, or use --replay with a recording")]
    MissingKey(String),
    /// The key cannot stand in a header.
    #[error("{0} holds characters that no API key has; set it again")]
    BadKey(String),
    /// The provider has no place of its own.
    #[error(
        "{provider} is at a place of your own; give it as --base-url or in {variable}, for \
         example {example}"
    )]
    MissingUrl {
        /// The provider's name.
        provider: String,
        /// The variable that may hold it.
        variable: String,
        /// What it looks like.
        example: String,
    },
    /// The base URL does not parse, or is no origin with an optional path.
    #[error("{url:?} is no base URL ({why}); give one like https://api.anthropic.com")]
    BadUrl {
        /// What was given, without any password.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The provider's header is none.
    #[error("{0:?} is no name of a header; mend the table of providers")]
    BadHeader(String),
}

/// The names of the variables that may hold the provider's key, for people.
#[must_use]
pub fn key_variables(provider: &Provider) -> String {
    match provider.key_variables.split_first() {
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first} (or {})", others.join(", ")),
        None => "the key's variable".to_owned(),
    }
}

/// Where an endpoint is, and how it lets one in.
#[derive(Clone, Debug)]
pub struct Endpoint {
    base: Url,
    header: HeaderName,
    prefix: String,
    key: Key,
}

impl Endpoint {
    /// The endpoint of `provider`, at `base_url` if it is not at its own.
    ///
    /// # Errors
    /// [`EndpointError`] if the key is missing or no header value, or if there is no URL or none
    /// that is one.
    pub fn new(
        provider: &Provider,
        base_url: Option<&str>,
        key: Key,
    ) -> Result<Self, EndpointError> {
        if key.is_empty() && !provider.key_optional {
            return Err(EndpointError::MissingKey(key_variables(provider)));
        }
        let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        if !key.expose().bytes().all(fits) {
            return Err(EndpointError::BadKey(key_variables(provider)));
        }
        let missing = || EndpointError::MissingUrl {
            provider: provider.name.clone(),
            variable: provider.base_url_variable.clone(),
            example: provider.base_url_example.clone().unwrap_or_default(),
        };
        let url = base_url.or(provider.base_url.as_deref()).ok_or_else(missing)?;
        let header = &provider.auth.header;
        let bad_header = |_| EndpointError::BadHeader(header.clone());
        let header = HeaderName::try_from(header.as_str()).map_err(bad_header)?;
        Ok(Self { base: base(url)?, header, prefix: provider.auth.prefix.clone(), key })
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

    /// The header that carries the key, if there is one.
    #[must_use]
    pub fn authentication(&self) -> Option<(HeaderName, HeaderValue)> {
        if self.key.is_empty() {
            return None;
        }
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

    fn provider(name: &str) -> Provider {
        innerloop_driver::providers::find(name).unwrap()
    }

    fn endpoint(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::new(&provider("anthropic"), Some(url), Key::new("sk-ant-0123456789"))
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
        let anthropic = provider("anthropic");
        let missing = Endpoint::new(&anthropic, None, Key::new("  "));
        assert_eq!(missing.unwrap_err(), EndpointError::MissingKey("ANTHROPIC_API_KEY".into()));
        let bad = Endpoint::new(&anthropic, None, Key::new("sk-ant\nx: y"));
        assert_eq!(bad.unwrap_err(), EndpointError::BadKey("ANTHROPIC_API_KEY".into()));
        let at = endpoint("https://api.anthropic.com").unwrap();
        let (name, value) = at.authentication().unwrap();
        assert_eq!((name.as_str(), value.as_bytes()), ("x-api-key", &b"sk-ant-0123456789"[..]));
        assert!(!format!("{at:?} {value:?}").contains("0123456789"));
    }

    #[test]
    fn each_provider_is_let_in_by_its_own_header() {
        let header = |name: &str| {
            let at = Endpoint::new(&provider(name), None, Key::new("k-0123456789")).unwrap();
            let (name, value) = at.authentication().unwrap();
            format!("{name}: {}", value.to_str().unwrap())
        };
        assert_eq!(header("openai"), "authorization: Bearer k-0123456789");
        assert_eq!(header("gemini"), "x-goog-api-key: k-0123456789");
        let keyless = Endpoint::new(&provider("ollama"), None, Key::default()).unwrap();
        assert!(keyless.authentication().is_none() && keyless.is_loopback());
    }

    #[test]
    fn a_provider_without_a_place_of_its_own_is_told_how_to_give_one() {
        let error = Endpoint::new(&provider("azure"), None, Key::new("k")).unwrap_err();
        let error = error.to_string();
        for part in ["azure", "--base-url", "AZURE_OPENAI_BASE_URL", "openai.azure.com/openai/v1"] {
            assert!(error.contains(part), "{error}");
        }
        let keyless = Endpoint::new(&provider("gemini"), None, Key::default()).unwrap_err();
        assert!(keyless.to_string().starts_with("GEMINI_API_KEY (or GOOGLE_API_KEY) is not set"));
    }
}

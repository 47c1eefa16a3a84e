//! The HTTP clients for all requests of this program, for archives as well as for models. They
//! follow no redirects by themselves: each caller judges where one leads.

use reqwest::{Client, ClientBuilder, Response, header::LOCATION, redirect::Policy};
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;

/// The builder of all clients. They trust the certificates of the operating system (on Linux also
/// those in `SSL_CERT_FILE` and `SSL_CERT_DIR`), use the proxies that the environment names, and
/// follow no redirects.
pub fn client() -> ClientBuilder {
    // The provider is one per process. A second installation fails and leaves the first in place,
    // which is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    // A referrer would tell one server the address of a page on another.
    Client::builder()
        .redirect(Policy::none())
        .referer(false)
        .user_agent(concat!("innerloop/", env!("CARGO_PKG_VERSION")))
}

/// The builder of clients for addresses without TLS.
pub fn plain_client() -> ClientBuilder {
    // Reading all certificates of the machine takes milliseconds, which a local endpoint without
    // TLS would pay for nothing. An empty store trusts nobody, should it come to TLS after all.
    let builder = client();
    let trusting_nobody = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    builder.tls_backend_preconfigured(trusting_nobody.with_no_client_auth())
}

/// The address to which a response redirects; `None` if it is not a redirect.
pub fn leads_to(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?;
    let leads = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    leads.then(|| String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// The text of the innermost cause of an error, without the system's number.
pub fn root(error: &reqwest::Error) -> String {
    // The outer causes name layers of the libraries, and the address with its secrets.
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

//! The HTTP clients that all requests of this machine are made with, for archives as for models.

use reqwest::{Client, ClientBuilder, Response, header::LOCATION, redirect::Policy};
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;

/// Returns what all clients are made of: they trust whom the operating system trusts (on Linux also
/// whom `SSL_CERT_FILE` and `SSL_CERT_DIR` name), use the proxies that the environment names, and
/// follow no redirects by themselves.
pub fn client() -> ClientBuilder {
    // A second installation fails and leaves the first in place, which is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(Policy::none())
        .referer(false)
        .user_agent(concat!("innerloop/", env!("CARGO_PKG_VERSION")))
}

/// The same for addresses without TLS: certificates are not read.
pub fn plain_client() -> ClientBuilder {
    let builder = client();
    let trusting_nobody = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    builder.tls_backend_preconfigured(trusting_nobody.with_no_client_auth())
}

/// Returns where a response leads instead of answering.
pub fn leads_to(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?;
    let leads = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    leads.then(|| String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// The innermost cause, which says what happened; the outer ones say where in the libraries.
pub fn root(error: &reqwest::Error) -> String {
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

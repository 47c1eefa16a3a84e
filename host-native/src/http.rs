//! HTTP for the driver: carries out one request and reports what comes, as it comes. Redirects are
//! not followed, so that a key goes to no other origin. Retries and waiting are the core's
//! business.

use innerloop_core::{
    bytes::Bytes,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};
use innerloop_driver::{BaseUrl, Request};
use reqwest::{
    Client, ClientBuilder, Response,
    header::{HeaderValue, LOCATION},
    redirect::Policy,
};
use rustls::{ClientConfig, RootCertStore};
use std::{
    error::Error,
    future::Future,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Most bytes of the body that are reported at once.
const CHUNK: usize = 64 << 10;

/// For how long a connection is tried, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an endpoint may take to show that it is there.
const REACH_TIMEOUT: Duration = Duration::from_secs(30);

/// A client.
#[derive(Debug)]
pub struct Http {
    is_loopback: bool,
    /// For addresses without TLS on this machine, which need no certificates.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
    /// Whether any response has come so far.
    reached: AtomicBool,
    /// How many connections took too long, and how long that is.
    timed_out: AtomicU32,
    connect_timeout: Duration,
}

impl Http {
    /// A client. If it talks to this machine only, the system's proxies are left out, and its
    /// certificates are read only for an address that begins with `https`.
    ///
    /// # Errors
    /// The operating system's certificates cannot be read.
    pub fn new(is_loopback: bool) -> Result<Self, HttpFailure> {
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        let (reached, timed_out) = (AtomicBool::new(false), AtomicU32::new(0));
        let connect_timeout = CONNECT_TIMEOUT;
        let http = Self { is_loopback, plain, secure, reached, timed_out, connect_timeout };
        if !is_loopback {
            http.client("https")?;
        }
        Ok(http)
    }

    /// The same, but a connection may take this long, TLS included; 10 seconds if nothing is said.
    #[must_use]
    pub fn connecting_within(self, time: Duration) -> Self {
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        Self { connect_timeout: time, plain, secure, ..self }
    }

    /// The client for that address.
    fn client(&self, url: &str) -> Result<&Client, HttpFailure> {
        let is_plain = self.is_loopback && url.starts_with("http://");
        let made = if is_plain { &self.plain } else { &self.secure };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let mut builder = if is_plain { plain_client() } else { client() };
        if self.is_loopback {
            builder = builder.no_proxy();
        }
        let client = builder.connect_timeout(self.connect_timeout).build().map_err(|error| {
            refused(format!("cannot set up TLS: {}; install CA certificates", root(&error)))
        })?;
        Ok(made.get_or_init(|| client))
    }

    /// Carries out one request. `report` gets the head, the chunks and exactly one terminal
    /// answer, in this order; a failure may come at any time and is the last. As long as a report
    /// is under way, nothing more is read from the network.
    pub async fn exchange<R: Future<Output = ()>>(
        &self,
        request: Request,
        mut report: impl FnMut(HttpInput) -> R,
    ) {
        let terminal = match self.stream(request, &mut report).await {
            Ok(()) => HttpInput::End,
            Err(failure) => HttpInput::Failed(failure),
        };
        report(terminal).await;
    }

    /// Whether an endpoint answers at all: the status of a request for its base URL, without key.
    ///
    /// # Errors
    /// No connection, or no answer within 30 seconds.
    pub async fn reach(&self, base: &BaseUrl) -> Result<u16, HttpFailure> {
        let url = base.to_string();
        let sent = self.client(&url)?.get(url).timeout(REACH_TIMEOUT).send().await;
        let response = sent.map_err(|error| {
            if !error.is_timeout() || error.is_connect() {
                return self.unsent(base, &error);
            }
            let time = REACH_TIMEOUT.as_secs();
            refused(format!("{base} takes the connection, and does not answer within {time} s"))
        })?;
        Ok(response.status().as_u16())
    }

    async fn stream<R: Future<Output = ()>>(
        &self,
        request: Request,
        report: &mut impl FnMut(HttpInput) -> R,
    ) -> Result<(), HttpFailure> {
        let base = request.base.clone();
        let mut response = self.send(request).await?;
        report(HttpInput::Head(head(&response))).await;
        while let Some(piece) = response.chunk().await.map_err(|e| broken(&base, &e))? {
            for piece in piece.chunks(CHUNK) {
                report(HttpInput::Chunk(Bytes(piece.to_vec()))).await;
            }
        }
        Ok(())
    }

    async fn send(&self, request: Request) -> Result<Response, HttpFailure> {
        let Request { url, headers, key, body, base } = request;
        let mut call = self.client(&url)?.post(url).body(body.0);
        for (name, value) in headers {
            call = call.header(name, value);
        }
        if let Some((name, key)) = key {
            let unfit = |_| refused("the key cannot stand in a header".to_owned());
            let mut value = HeaderValue::try_from(key.expose()).map_err(unfit)?;
            value.set_sensitive(true);
            call = call.header(name, value);
        }
        let response = call.send().await.map_err(|error| self.unsent(&base, &error))?;
        self.reached.store(true, Ordering::Relaxed);
        Ok(response)
    }

    /// A connection that was never possible is a mistake in the address, not worth a retry.
    fn unsent(&self, base: &BaseUrl, error: &reqwest::Error) -> HttpFailure {
        let first = !self.reached.load(Ordering::Relaxed);
        if error.is_builder() {
            return refused(format!("the request cannot be sent: {}", root(error)));
        }
        if !error.is_connect() && !error.is_timeout() {
            return broken(base, error);
        }
        if error.is_timeout() {
            return self.timed_out(base, first);
        }
        let what = format!("cannot connect to {base}: {}", root(error));
        if first {
            refused(format!("{what}; check that the server runs and that --base-url is right"))
        } else {
            HttpFailure { kind: HttpFailureKind::Network, message: what }
        }
    }

    /// A connection that took too long may be possible the next time, but not for ever.
    fn timed_out(&self, base: &BaseUrl, first: bool) -> HttpFailure {
        let tries = self.timed_out.fetch_add(1, Ordering::Relaxed);
        let what = format!("no connection to {base} within {:?}", self.connect_timeout);
        if first && tries > 0 {
            refused(format!("{what}, twice; check the network, the proxy and --base-url"))
        } else {
            HttpFailure { kind: HttpFailureKind::Network, message: what }
        }
    }
}

/// What all clients are made of: they trust whom the operating system trusts (on Linux also whom
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` name), use the proxies that the environment names, and follow
/// no redirects by themselves.
pub(crate) fn client() -> ClientBuilder {
    // A second installation fails and leaves the first in place, which is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(Policy::none())
        .referer(false)
        .user_agent(concat!("innerloop/", env!("CARGO_PKG_VERSION")))
}

/// The same for addresses without TLS: certificates are not read.
pub(crate) fn plain_client() -> ClientBuilder {
    let builder = client();
    let trusting_nobody = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    builder.tls_backend_preconfigured(trusting_nobody.with_no_client_auth())
}

/// Where a response leads instead of answering.
pub(crate) fn leads_to(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?;
    let leads = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    leads.then(|| String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn head(response: &Response) -> ResponseHead {
    let headers = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    ResponseHead { status: response.status().as_u16(), headers: headers.collect(), at: wall_time() }
}

/// The wall time.
#[must_use]
pub fn wall_time() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn broken(base: &BaseUrl, error: &reqwest::Error) -> HttpFailure {
    let message = format!("the connection to {base} broke: {}", root(error));
    HttpFailure { kind: HttpFailureKind::Network, message }
}

const fn refused(message: String) -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Refused, message }
}

/// The innermost cause, which says what happened; the outer ones say where in the libraries.
pub(crate) fn root(error: &reqwest::Error) -> String {
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

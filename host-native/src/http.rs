//! HTTP for the driver: carries out one request and reports what comes, as it comes. Redirects are
//! not followed, so that a key goes to no other origin. Retries and waiting are the core's
//! business.

use innerloop_core::{
    bytes::Bytes,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};
use innerloop_driver::{BaseUrl, Request};
use reqwest::{Client, Response, header::HeaderValue, redirect::Policy};
use std::{
    error::Error,
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Most bytes of the body that are reported at once.
const CHUNK: usize = 64 << 10;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client.
#[derive(Debug)]
pub struct Http {
    client: Client,
    /// Whether any response has come so far.
    reached: AtomicBool,
}

impl Http {
    /// A client. If it talks to this machine only, the system's proxies are left out.
    ///
    /// # Errors
    /// The operating system's certificates cannot be read.
    pub fn new(is_loopback: bool) -> Result<Self, HttpFailure> {
        // A second installation fails and leaves the first in place, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("innerloop/", env!("CARGO_PKG_VERSION")));
        if is_loopback {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            refused(format!("cannot set up TLS: {}; install CA certificates", root(&error)))
        })?;
        Ok(Self { client, reached: AtomicBool::new(false) })
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
    /// No connection.
    pub async fn reach(&self, base: &BaseUrl) -> Result<u16, HttpFailure> {
        let sent = self.client.get(base.to_string()).send().await;
        let response = sent.map_err(|error| self.unsent(base, &error))?;
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
        let mut call = self.client.post(url).body(body.0);
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
        let what = format!("cannot connect to {base}: {}", root(error));
        if first && !error.is_timeout() {
            refused(format!("{what}; check that the server runs and that --base-url is right"))
        } else {
            HttpFailure { kind: HttpFailureKind::Network, message: what }
        }
    }
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
fn root(error: &reqwest::Error) -> String {
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

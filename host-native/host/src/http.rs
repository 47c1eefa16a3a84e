//! HTTP for the driver: one request at a time is carried out, and everything that comes is reported
//! as it comes. Redirects are not followed, so that a key goes to no other origin. Retries and
//! waiting are the core's business.

use innerloop_core::{
    bytes::BodyBytes,
    config::SessionConfig,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    time::UnixMillis,
};
use innerloop_driver::{BaseUrl, EndpointRequest};
use innerloop_sandbox::{
    client::{client, plain_client, root},
    proxy::ProxySetting,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode, header::HeaderValue};
use serde_json::json;
use std::{
    future::Future,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::time::timeout;

/// The largest number of bytes of the body that are reported at once.
const CHUNK: usize = 64 << 10;

/// The text in a tunnel's error where the proxy asks for a password.
const WANTS_PASSWORD: &str = "proxy authorization required";

/// The time limit of a connection, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limits of a request while nothing comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpTimeouts {
    /// The time limit for the beginning of the answer.
    pub answer: Duration,
    /// The time limit between two parts of it.
    pub more: Duration,
}

/// The percentages that [`HttpTimeouts`] takes of the time after which a session considers a silent
/// call broken. A provider that streams begins to answer soon, even if the model thinks for long. A
/// server without TLS is the user's own; it may be slow, or load its model first.
const SOON: u32 = 40;
const LATE: u32 = 95;

/// A client for one endpoint, which remembers how that has behaved.
#[derive(Debug)]
pub struct HttpClient {
    is_loopback: bool,
    /// The client for addresses without TLS on this machine, which need no certificates.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
    /// True if any response has come so far.
    reached: AtomicBool,
    /// The number of connections that took too long, and the time limit of a connection.
    timed_out: AtomicU32,
    connect_timeout: Duration,
    /// The time since which no answer has come to its end, after one that did not come.
    silent_since: Mutex<Option<Instant>>,
}

/// The reason why an exchange was not completed.
enum ExchangeError {
    Failed(HttpFailure),
    /// The endpoint is silent and not to be tried again for this call. The next call tries it
    /// again.
    GivenUp(String),
}

impl From<HttpFailure> for ExchangeError {
    fn from(failure: HttpFailure) -> Self {
        Self::Failed(failure)
    }
}

impl HttpTimeouts {
    /// Returns the time limits of a session's calls to an address.
    #[must_use]
    pub fn of(config: &SessionConfig, url: &str) -> Self {
        let whole = Duration::from_millis(config.retry.idle_ms);
        // Earlier than the session's own limit, at which it would only try again: this client knows
        // whether the endpoint was silent before.
        let more = whole * LATE / 100;
        let is_soon = config.model.stream && url.starts_with("https");
        Self { answer: if is_soon { whole * SOON / 100 } else { more }, more }
    }
}

impl HttpClient {
    /// Creates a client. If it talks to this machine only, the system's proxies are left out, and
    /// its certificates are read only for an address that begins with `https`.
    ///
    /// # Errors
    /// The operating system's certificates cannot be read.
    pub fn new(is_loopback: bool) -> Result<Self, HttpFailure> {
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        let (reached, timed_out) = (AtomicBool::new(false), AtomicU32::new(0));
        let connect_timeout = CONNECT_TIMEOUT;
        let silent_since = Mutex::default();
        let http =
            Self { is_loopback, plain, secure, reached, timed_out, connect_timeout, silent_since };
        // Made at once, so that missing certificates are reported when the session is set up and
        // not by its first request.
        if !is_loopback {
            http.client("https")?;
        }
        Ok(http)
    }

    /// Returns the same client with another time limit for a connection, TLS included. The default
    /// is 10 seconds.
    #[must_use]
    pub fn connecting_within(self, time: Duration) -> Self {
        // Clients that were made already have the other limit.
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        Self { connect_timeout: time, plain, secure, ..self }
    }

    /// Returns the client for that address.
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

    /// Carries out one request. `report` gets the head, the chunks and exactly one terminal answer,
    /// in this order; a failure may come at any time and is the last. While a report is under way,
    /// nothing more is read from the network. If an endpoint is silent for longer than `patience`
    /// allows, the session tries once more. If it is still silent, that is reported as an answer
    /// with status 504, as a gateway would give it.
    pub async fn exchange<R: Future<Output = ()>>(
        &self,
        request: EndpointRequest,
        patience: HttpTimeouts,
        mut report: impl FnMut(HttpInput) -> R,
    ) {
        let terminal = match self.stream(request, patience, &mut report).await {
            Ok(()) => HttpInput::End,
            Err(ExchangeError::Failed(failure)) => HttpInput::Failed(failure),
            Err(ExchangeError::GivenUp(why)) => {
                for news in given_up(&why) {
                    report(news).await;
                }
                HttpInput::End
            }
        };
        report(terminal).await;
    }

    /// Sends the request with GET instead of POST, and returns the status and the first `most`
    /// bytes of the body. It ends after `patience` at the latest.
    ///
    /// # Errors
    /// No connection, or one that broke.
    pub async fn get(
        &self,
        request: EndpointRequest,
        most: usize,
        patience: Duration,
    ) -> Result<(u16, Vec<u8>), HttpFailure> {
        let base = request.base.clone();
        let call = self.client(&request.url)?.get(&request.url).timeout(patience);
        let mut response = self.sent(call, request).await?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&base, &error))? {
            // The rest is not read at all: an endpoint that never stops would hold the caller until
            // the time is up.
            let room = most - body.len();
            body.extend_from_slice(piece.get(..room).unwrap_or(&piece));
            if body.len() == most {
                break;
            }
        }
        Ok((status, body))
    }

    async fn stream<R: Future<Output = ()>>(
        &self,
        request: EndpointRequest,
        patience: HttpTimeouts,
        report: &mut impl FnMut(HttpInput) -> R,
    ) -> Result<(), ExchangeError> {
        let (base, begun) = (request.base.clone(), Instant::now());
        let HttpTimeouts { answer, more } = patience;
        // The client has no time limit of its own, as that would cover the body, which a model may
        // write for many minutes.
        let sent = timeout(answer, self.send(request)).await;
        let mut response = sent.map_err(|_| self.silent(&base, begun, answer))??;
        report(HttpInput::Head(head(&response))).await;
        loop {
            let piece = timeout(more, response.chunk()).await;
            let piece = piece.map_err(|_| self.silent(&base, begun, more))?;
            let Some(piece) = piece.map_err(|error| broken(&base, &error))? else { break };
            // The inbox counts reports and not bytes, so that their size bounds the memory that an
            // endpoint can fill.
            for piece in piece.chunks(CHUNK) {
                report(HttpInput::Chunk(BodyBytes(piece.to_vec()))).await;
            }
        }
        // Only a complete answer counts as a sign of life. An endpoint that sends a head and falls
        // silent would otherwise be tried for ever.
        *self.silent_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Returns the error for an endpoint that accepted a request and sent nothing. It may have lost
    /// one request, but hardly two in a row.
    fn silent(&self, base: &BaseUrl, begun: Instant, time: Duration) -> ExchangeError {
        let mut since = self.silent_since.lock().unwrap_or_else(PoisonError::into_inner);
        // A call that began before the first silence ran beside it, and is no second try.
        let is_again = since.is_some_and(|since| since <= begun);
        since.get_or_insert_with(Instant::now);
        let what = format!("{base} took the request and said nothing for {} s", seconds(time));
        if is_again {
            let advice = "look at its state and at --base-url, or give it more time with \
                          retry.idle_ms of the configuration";
            return ExchangeError::GivenUp(format!("{what}, twice; {advice}"));
        }
        HttpFailure { kind: HttpFailureKind::Timeout, message: what }.into()
    }

    async fn send(&self, mut request: EndpointRequest) -> Result<Response, HttpFailure> {
        let body = std::mem::take(&mut request.body).0;
        let call = self.client(&request.url)?.post(&request.url).body(body);
        self.sent(call, request).await
    }

    /// Sends a call with the request's headers, and returns the response.
    async fn sent(
        &self,
        call: RequestBuilder,
        request: EndpointRequest,
    ) -> Result<Response, HttpFailure> {
        let EndpointRequest { headers, key, base, .. } = request;
        let mut call = call;
        for (name, value) in headers {
            call = call.header(name, value);
        }
        if let Some((name, key)) = key {
            let unfit = |_| refused("the key cannot stand in a header".to_owned());
            let mut value = HeaderValue::try_from(key.expose()).map_err(unfit)?;
            // The value is then left out of debug output, and out of the tables with which HTTP/2
            // compresses headers.
            value.set_sensitive(true);
            call = call.header(name, value);
        }
        let response = call.send().await.map_err(|error| self.unsent(&base, &error))?;
        // A proxy that forwards plain HTTP answers in place of the endpoint; with a tunnel it is an
        // error of the connection. Either says nothing about the endpoint, which so does not count
        // as reached.
        if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let Some(proxy) = self.proxy(&base)
        {
            return Err(refused(proxy.wants_password()));
        }
        self.reached.store(true, Ordering::Relaxed);
        Ok(response)
    }

    /// Returns the proxy through which an address is reached, if any.
    fn proxy(&self, base: &BaseUrl) -> Option<ProxySetting> {
        if self.is_loopback { None } else { ProxySetting::of(&base.to_string()) }
    }

    /// Returns the failure of a request that got no response. If the endpoint was never reached,
    /// the address is probably wrong, and a retry would not help.
    fn unsent(&self, base: &BaseUrl, error: &reqwest::Error) -> HttpFailure {
        let first = !self.reached.load(Ordering::Relaxed);
        if error.is_builder() {
            return refused(format!("the request cannot be sent: {}", root(error)));
        }
        if !error.is_connect() && !error.is_timeout() {
            return broken(base, error);
        }
        if error.is_timeout() && !error.is_connect() {
            let message = format!("{base} takes the connection, and does not answer in time");
            return HttpFailure { kind: HttpFailureKind::Network, message };
        }
        if error.is_timeout() {
            return self.timed_out(base, first);
        }
        let why = root(error);
        if let Some(proxy) = self.proxy(base) {
            if why.contains(WANTS_PASSWORD) {
                return refused(proxy.wants_password());
            }
            let what = format!("cannot connect to {base} through {proxy}: {why}");
            let kind = if first { HttpFailureKind::Refused } else { HttpFailureKind::Network };
            return HttpFailure { kind, message: format!("{what}; {}", ProxySetting::advice()) };
        }
        let what = format!("cannot connect to {base}: {why}");
        if first {
            refused(format!("{what}; check that the server runs and that --base-url is right"))
        } else {
            HttpFailure { kind: HttpFailureKind::Network, message: what }
        }
    }

    /// Returns the failure of a connection that took too long. The first time it is worth a retry,
    /// after that only if the endpoint was reached before.
    fn timed_out(&self, base: &BaseUrl, first: bool) -> HttpFailure {
        let tries = self.timed_out.fetch_add(1, Ordering::Relaxed);
        let proxy = self.proxy(base);
        let through = proxy.as_ref().map(|proxy| format!(" through {proxy}")).unwrap_or_default();
        let what = format!("no connection to {base}{through} within {:?}", self.connect_timeout);
        if first && tries > 0 {
            let advice =
                proxy.map_or("check the network and --base-url", |_| ProxySetting::advice());
            refused(format!("{what}, twice; {advice}"))
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

/// Returns the wall time.
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

/// Returns the answer that stands in for one that an endpoint does not give.
fn given_up(why: &str) -> [HttpInput; 2] {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers =
        // The core owns retries, so that the client can only ask it not to try again, in the words
        // that providers have for it.
        vec![header("content-type", "application/json"), header("x-should-retry", "false")];
    let body = json!({ "error": { "type": "timeout", "message": why } }).to_string();
    [
        HttpInput::Head(ResponseHead { status: 504, headers, at: wall_time() }),
        HttpInput::Chunk(BodyBytes::from(body.as_str())),
    ]
}

/// Returns a time in seconds with one decimal, as people read it.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).round() / 10.0
}

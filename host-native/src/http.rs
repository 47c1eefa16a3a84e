//! HTTP for the core: carries one request to an endpoint of the table and reports what comes,
//! as it comes. Redirects are not followed, so that a key goes to no other origin. Retries and
//! waiting are the core's business.

use crate::{
    endpoints::{Endpoint, Endpoints},
    secret::Masking,
};
use innerloop_core::{
    bytes::Bytes,
    id::EndpointId,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
    output::HttpRequest,
    time::UnixMillis,
};
use reqwest::{Client, Response, redirect::Policy};
use std::{
    error::Error,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client with the table of endpoints it may talk to.
#[derive(Debug)]
pub struct Http {
    client: Client,
    endpoints: Endpoints,
    reached: AtomicBool,
}

impl Http {
    /// A client for the endpoints of that table.
    ///
    /// # Errors
    /// The operating system's certificates cannot be read.
    pub fn new(endpoints: Endpoints) -> Result<Self, HttpFailure> {
        // A second installation fails and leaves the first in place, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("innerloop/", env!("CARGO_PKG_VERSION")));
        if endpoints.iter().all(Endpoint::is_loopback) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| {
            refused(format!("cannot set up TLS: {}; install CA certificates", root(&error)))
        })?;
        Ok(Self { client, endpoints, reached: AtomicBool::new(false) })
    }

    /// Carries out one request. `report` gets the head, the chunks and exactly one terminal
    /// answer, in this order; a failure may come at any time and is the last.
    pub async fn exchange(&self, request: HttpRequest, mut report: impl FnMut(HttpInput)) {
        let terminal = match self.stream(request, &mut report).await {
            Ok(()) => HttpInput::End,
            Err(failure) => HttpInput::Failed(failure),
        };
        report(terminal);
    }

    /// Whether an endpoint answers at all: the status of a request for its base URL, without key.
    ///
    /// # Errors
    /// No connection, or no such endpoint.
    pub async fn reach(&self, id: &EndpointId) -> Result<u16, HttpFailure> {
        let endpoint = self.endpoints.find(id).ok_or_else(|| unknown(id))?;
        let sent = self.client.get(endpoint.base().clone()).send().await;
        let response = sent.map_err(|error| self.unsent(endpoint, &error))?;
        Ok(response.status().as_u16())
    }

    async fn stream(
        &self,
        request: HttpRequest,
        report: &mut impl FnMut(HttpInput),
    ) -> Result<(), HttpFailure> {
        let id = &request.endpoint;
        let endpoint = self.endpoints.find(id).ok_or_else(|| unknown(id))?;
        let mut response = self.send(endpoint, request).await?;
        if response.status().is_redirection() {
            return Err(refused(format!(
                "{} answered {} and redirects are not followed; set --base-url to the final \
                 address",
                endpoint.base(),
                response.status().as_u16()
            )));
        }
        report(HttpInput::Head(head(endpoint, &response)));
        let mut masking = Masking::new(endpoint.key().clone());
        while let Some(piece) = response.chunk().await.map_err(|e| broken(endpoint, &e))? {
            send_chunk(masking.push(&piece), report);
        }
        send_chunk(masking.end(), report);
        Ok(())
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        request: HttpRequest,
    ) -> Result<Response, HttpFailure> {
        let Some(url) = endpoint.url(&request.path) else {
            return Err(refused(format!("{:?} is no path of {}", request.path, endpoint.base())));
        };
        let mut call = self.client.post(url).body(request.body.0);
        for (name, value) in request.headers {
            call = call.header(name, value);
        }
        if let Some((name, value)) = endpoint.authentication() {
            call = call.header(name, value);
        }
        let response = call.send().await.map_err(|error| self.unsent(endpoint, &error))?;
        self.reached.store(true, Ordering::Relaxed);
        Ok(response)
    }

    /// A connection that was never possible is a mistake in the address, not worth a retry.
    fn unsent(&self, endpoint: &Endpoint, error: &reqwest::Error) -> HttpFailure {
        let first = !self.reached.load(Ordering::Relaxed);
        if error.is_builder() {
            return refused(format!("the request cannot be sent: {}", root(error)));
        }
        if !error.is_connect() && !error.is_timeout() {
            return broken(endpoint, error);
        }
        let what = format!("cannot connect to {}: {}", endpoint.base(), root(error));
        if first && !error.is_timeout() {
            refused(format!("{what}; check that the server runs and that --base-url is right"))
        } else {
            HttpFailure { kind: HttpFailureKind::Network, message: what }
        }
    }
}

fn unknown(id: &EndpointId) -> HttpFailure {
    refused(format!("this host knows no endpoint {:?}", id.0))
}

fn send_chunk(piece: Vec<u8>, report: &mut impl FnMut(HttpInput)) {
    if !piece.is_empty() {
        report(HttpInput::Chunk(Bytes(piece)));
    }
}

fn head(endpoint: &Endpoint, response: &Response) -> ResponseHead {
    let headers = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), endpoint.key().masked(&value).unwrap_or(value))
    });
    ResponseHead { status: response.status().as_u16(), headers: headers.collect(), at: wall_time() }
}

/// The wall time.
#[must_use]
pub fn wall_time() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn broken(endpoint: &Endpoint, error: &reqwest::Error) -> HttpFailure {
    let message = format!("the connection to {} broke: {}", endpoint.base(), root(error));
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

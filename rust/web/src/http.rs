//! One HTTP exchange: the request with `fetch`, the response as it arrives. A redirect is reported
//! and not followed, since the key would go to the new address.

use crate::clock::wall_time;
use gloo_net::http::{Headers, Request as PageRequest};
use gloo_timers::future::TimeoutFuture;
use innerloop_core::{
    bytes::BodyBytes,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
};
use innerloop_driver::EndpointRequest;
use js_sys::Uint8Array;
use std::time::Duration;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, ReadableStreamDefaultReader, ReadableStreamReadResult, RequestRedirect,
    ResponseType,
};
use web_time::Instant;

/// The status that represents any redirect: browsers hide the real one from pages.
const SOME_REDIRECT: u16 = 302;
/// The maximum number of bytes of the body that are reported at once.
const CHUNK: usize = 64 << 10;
/// The maximum time that a fully received body may block the page.
const MOST_BUSY: Duration = Duration::from_millis(50);

/// Carries out a request, reports the response as it arrives, and returns how the exchange ended.
/// If the future is dropped before its end, the request is aborted.
pub(crate) async fn exchange(
    request: EndpointRequest,
    mut report: impl FnMut(HttpInput),
) -> HttpInput {
    match stream(&request, &mut report).await {
        Ok(()) => HttpInput::End,
        Err(failure) => HttpInput::Failed(failure),
    }
}

async fn stream(
    request: &EndpointRequest,
    report: &mut impl FnMut(HttpInput),
) -> Result<(), HttpFailure> {
    let base = &request.base;
    let unfit = |error: JsValue| {
        let message = format!("the request cannot be sent: {}", said(&error));
        HttpFailure { kind: HttpFailureKind::Refused, message }
    };
    let abort = AbortOnDrop(AbortController::new().map_err(unfit)?);
    let headers = web_sys::Headers::new().map_err(unfit)?;
    for (name, value) in &request.headers {
        headers.append(name, value).map_err(unfit)?;
    }
    if let Some((name, key)) = &request.key {
        headers.append(name, key.expose()).map_err(|_| HttpFailure {
            kind: HttpFailureKind::Refused,
            message: "the key cannot stand in a header".to_owned(),
        })?;
    }
    let call = PageRequest::post(&request.url)
        .headers(Headers::from_raw(headers))
        .redirect(RequestRedirect::Manual)
        .abort_signal(Some(&abort.0.signal()))
        .body(Uint8Array::from(&*request.body.0));
    let unsent = |error: gloo_net::Error| {
        let advice = "check the address and that the server lets this page call it (CORS)";
        network(format!("cannot reach {base}: {error}; {advice}"))
    };
    let response = call.map_err(unsent)?.send().await.map_err(unsent)?;
    let status = match response.type_() {
        ResponseType::Opaqueredirect => SOME_REDIRECT,
        _ => response.status(),
    };
    let headers = response.headers().entries().collect();
    report(HttpInput::Head(ResponseHead { status, headers, at: wall_time() }));
    let Some(body) = response.body() else { return Ok(()) };
    let broken =
        |error: JsValue| network(format!("the connection to {base} broke: {}", said(&error)));
    let reader = ReadableStreamDefaultReader::new(&body).map_err(broken)?;
    let mut turn = Instant::now();
    loop {
        let read = JsFuture::from(reader.read()).await.map_err(broken)?;
        let read: ReadableStreamReadResult = read.unchecked_into();
        if read.get_done().unwrap_or(true) {
            return Ok(());
        }
        let piece = Uint8Array::new(&read.get_value()).to_vec();
        for piece in piece.chunks(CHUNK) {
            report(HttpInput::Chunk(BodyBytes(piece.to_vec())));
            // Promises that are settled already run without a pause: without a timer now and then,
            // the page would not paint before the last piece.
            if turn.elapsed() >= MOST_BUSY {
                TimeoutFuture::new(0).await;
                turn = Instant::now();
            }
        }
    }
}

/// A guard that aborts a request on drop; it does nothing if the request is over.
struct AbortOnDrop(AbortController);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const fn network(message: String) -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Network, message }
}

/// Returns the message of a thrown value, which may be any value.
fn said(error: &JsValue) -> String {
    let text: Option<String> = match error.dyn_ref::<js_sys::Error>() {
        Some(error) => Some(error.message().into()),
        None => error.as_string(),
    };
    text.unwrap_or_else(|| "it does not say why".to_owned())
}

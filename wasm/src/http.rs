//! One HTTP exchange: the request by `fetch` or by the user's function, the response as it comes.
//! A redirect is reported and not followed: the key would go along.

use crate::{
    callbacks::Callbacks,
    clock::wall,
    js::{bytes_of, field, message_of},
    task::stopped,
};
use futures::channel::oneshot;
use gloo_net::http::{Headers, Method, Request, RequestBuilder, Response};
use innerloop_core::{
    bytes::Bytes,
    input::{HttpFailure, HttpFailureKind, HttpInput, ResponseHead},
};
use innerloop_driver::{BaseUrl, Request as Prepared};
use js_sys::{Promise, Uint8Array};
use std::pin::pin;
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, AbortSignal, ReadableStreamDefaultReader, RequestRedirect, ResponseType,
};

#[wasm_bindgen]
extern "C" {
    fn fetch(request: &web_sys::Request) -> Promise;
}

/// Pages hide the status of a redirect.
const SOME_REDIRECT: u16 = 302;

/// Carries the request out; reports what comes of it and returns its end.
pub(crate) async fn exchange(
    callbacks: &Callbacks,
    request: Prepared,
    cancel: oneshot::Receiver<()>,
    report: impl Fn(HttpInput),
) -> HttpInput {
    let abort = match AbortController::new() {
        Ok(abort) => abort,
        Err(error) => return failed(HttpFailureKind::Refused, message_of(&error)),
    };
    let signal = abort.signal();
    let mut end = Ok(());
    let work = async { end = converse(callbacks, &request, &signal, report).await };
    let stop = stopped(pin!(work), cancel, None).await;
    abort.abort();
    match (stop, end) {
        (None, Ok(())) => HttpInput::End,
        (None, Err(failure)) => HttpInput::Failed(failure),
        (Some(_), _) => failed(HttpFailureKind::Cancelled, "cancelled, as asked".into()),
    }
}

async fn converse(
    callbacks: &Callbacks,
    request: &Prepared,
    signal: &AbortSignal,
    report: impl Fn(HttpInput),
) -> Result<(), HttpFailure> {
    let base = &request.base;
    let refused = |error: gloo_net::Error| failure(HttpFailureKind::Refused, error.to_string());
    let built = build(request, signal).map_err(refused)?;
    let response = send(callbacks, built).await.map_err(|message| unreachable(base, &message))?;
    report(HttpInput::Head(head(&response)));
    if let Some(body) = response.body() {
        let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
        while let Some(piece) = read(&reader).await.map_err(|message| broken(base, &message))? {
            report(HttpInput::Chunk(Bytes(piece)));
        }
    }
    Ok(())
}

fn build(request: &Prepared, signal: &AbortSignal) -> Result<Request, gloo_net::Error> {
    let headers = Headers::new();
    for (name, value) in &request.headers {
        headers.set(name, value);
    }
    if let Some((name, key)) = &request.key {
        headers.set(name, key.expose());
    }
    RequestBuilder::new(&request.url)
        .method(Method::POST)
        .headers(headers)
        .redirect(RequestRedirect::Manual)
        .abort_signal(Some(signal))
        .body(Uint8Array::from(&*request.body.0))
}

async fn send(callbacks: &Callbacks, request: Request) -> Result<Response, String> {
    let request = web_sys::Request::from(request);
    let sent = if callbacks.sends() { callbacks.send(&request) } else { Ok(fetch(&request)) };
    let promise = sent.map_err(|error| message_of(&error))?;
    let response = JsFuture::from(promise).await.map_err(|error| message_of(&error))?;
    if !response.is_object() {
        return Err(String::from("the option `fetch` returned something that is no Response"));
    }
    // Whatever a user's function returns in place of a response is used as one: it may come
    // from another realm or library.
    Ok(Response::from(response.unchecked_into::<web_sys::Response>()))
}

async fn read(reader: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, String> {
    let result = JsFuture::from(reader.read()).await.map_err(|error| message_of(&error))?;
    let is_done = field(&result, "done").is_truthy();
    Ok((!is_done).then(|| bytes_of(&field(&result, "value"))))
}

fn head(response: &Response) -> ResponseHead {
    let is_hidden = response.type_() == ResponseType::Opaqueredirect;
    let status = if is_hidden { SOME_REDIRECT } else { response.status() };
    ResponseHead { status, headers: response.headers().entries().collect(), at: wall() }
}

fn unreachable(base: &BaseUrl, message: &str) -> HttpFailure {
    failure(HttpFailureKind::Network, format!("cannot reach {base}: {message}"))
}

fn broken(base: &BaseUrl, message: &str) -> HttpFailure {
    failure(HttpFailureKind::Network, format!("the connection to {base} broke: {message}"))
}

const fn failure(kind: HttpFailureKind, message: String) -> HttpFailure {
    HttpFailure { kind, message }
}

const fn failed(kind: HttpFailureKind, message: String) -> HttpInput {
    HttpInput::Failed(failure(kind, message))
}

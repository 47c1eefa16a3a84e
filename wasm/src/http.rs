//! One HTTP exchange: the request by `fetch` or by the user's function, the response as it
//! comes. A redirect is not followed: the key would go along.

use crate::{
    clock::wall,
    desk::Desk,
    endpoint::{Endpoint, refused},
    host::{bytes_of, message_of},
    masking::Masking,
    task::{Stop, until_stopped},
};
use futures::channel::oneshot;
use gloo_net::http::{Request, Response};
use innerloop_core::{
    bytes::Bytes,
    id::EffectId,
    input::{HttpFailure, HttpFailureKind, HttpInput, Input, ResponseHead},
    output::HttpRequest,
};
use js_sys::{Promise, Reflect};
use std::rc::Rc;
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal, ReadableStreamDefaultReader, ResponseType};

#[wasm_bindgen]
extern "C" {
    fn fetch(request: &web_sys::Request) -> Promise;
}

/// Carries the request out and reports what comes of it.
pub(crate) async fn exchange(
    desk: Rc<Desk>,
    id: EffectId,
    request: HttpRequest,
    cancel: oneshot::Receiver<()>,
) {
    let ended = match AbortController::new() {
        Err(error) => Err(refused(message_of(&error))),
        Ok(abort) => {
            let signal = abort.signal();
            let work = converse(&desk, id, &request, &signal);
            let ended = until_stopped(work, cancel, None).await;
            abort.abort();
            ended.unwrap_or_else(|_: Stop| Err(cancelled()))
        }
    };
    let input = ended.map_or_else(HttpInput::Failed, |()| HttpInput::End);
    desk.settle(id, Input::Http { id, input });
}

async fn converse(
    desk: &Rc<Desk>,
    id: EffectId,
    request: &HttpRequest,
    signal: &AbortSignal,
) -> Result<(), HttpFailure> {
    let endpoint = desk.endpoint(&request.endpoint).ok_or_else(|| {
        refused(format!("the endpoint {:?} is not in the host's table", request.endpoint.0))
    })?;
    let request = endpoint.request(request, signal)?;
    let response = send(desk, request).await.map_err(|message| unreachable(endpoint, &message))?;
    if is_redirect(&response) {
        let message = format!(
            "{} redirects elsewhere; the key is not sent along: give the final address as baseUrl",
            endpoint.base()
        );
        return Err(refused(message));
    }
    desk.report(Input::Http { id, input: HttpInput::Head(head(endpoint, &response)) });
    let mut masking = Masking::new(endpoint.key());
    let chunk = |bytes: Vec<u8>| {
        if !bytes.is_empty() {
            desk.report(Input::Http { id, input: HttpInput::Chunk(Bytes(bytes)) });
        }
    };
    if let Some(body) = response.body() {
        let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
        while let Some(piece) = read(&reader).await.map_err(|message| broken(endpoint, &message))? {
            chunk(masking.push(piece));
        }
    }
    chunk(masking.end());
    Ok(())
}

async fn send(desk: &Desk, request: Request) -> Result<Response, String> {
    let request = web_sys::Request::from(request);
    let sent = if desk.host.sends() { desk.host.send(&request) } else { Ok(fetch(&request)) };
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
    let field = |name: &str| Reflect::get(&result, &name.into()).map_err(|e| message_of(&e));
    if field("done")?.is_truthy() { Ok(None) } else { Ok(Some(bytes_of(&field("value")?))) }
}

fn is_redirect(response: &Response) -> bool {
    response.type_() == ResponseType::Opaqueredirect
        || matches!(response.status(), 301 | 302 | 303 | 307 | 308)
}

fn head(endpoint: &Endpoint, response: &Response) -> ResponseHead {
    let headers = response.headers().entries();
    let headers = headers.map(|(name, value)| (name, endpoint.masked(value))).collect();
    ResponseHead { status: response.status(), headers, at: wall() }
}

fn unreachable(endpoint: &Endpoint, message: &str) -> HttpFailure {
    network(endpoint, format!("cannot reach {}: {message}", endpoint.base()))
}

fn broken(endpoint: &Endpoint, message: &str) -> HttpFailure {
    network(endpoint, format!("the connection to {} broke: {message}", endpoint.base()))
}

fn network(endpoint: &Endpoint, message: String) -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Network, message: endpoint.masked(message) }
}

fn cancelled() -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Cancelled, message: String::from("cancelled, as asked") }
}

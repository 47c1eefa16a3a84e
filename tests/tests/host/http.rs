//! The HTTP side against a mock server: what the driver is told of a response and of each fault,
//! and where the key goes.

use innerloop_core::{
    bytes::BodyBytes,
    config::SessionConfig,
    id::EndpointId,
    input::{HttpFailure, HttpFailureKind, HttpInput},
    output::HttpRequest,
};
use innerloop_driver::{ApiKey, Endpoint, EndpointRequest, EndpointTable, providers};
use innerloop_host::http::{HttpClient, HttpTimeouts};
use innerloop_tests::{
    anthropic::Message,
    mock::{Mock, Reply},
    patience::{PATIENCE, in_time},
    program::KEY,
};
use std::{future::ready, time::Duration};
use tokio::sync::Notify;

fn client() -> HttpClient {
    HttpClient::new(true).unwrap()
}

fn request(url: &str) -> EndpointRequest {
    let provider = providers::find("anthropic").unwrap();
    let endpoint = Endpoint::new(&provider, Some(url), ApiKey::new(KEY)).unwrap();
    let id = EndpointId("anthropic".to_owned());
    let request = HttpRequest {
        endpoint: id.clone(),
        path: "/v1/messages".to_owned(),
        headers: vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
        body: BodyBytes::from("{}"),
    };
    EndpointTable::default().with(id, endpoint).request(request).unwrap()
}

/// As long as nobody says otherwise.
fn patience() -> HttpTimeouts {
    HttpTimeouts::of(&SessionConfig::default(), "http://127.0.0.1")
}

async fn exchange(http: &HttpClient, url: &str) -> Vec<HttpInput> {
    exchange_within(http, url, patience()).await
}

async fn exchange_within(http: &HttpClient, url: &str, patience: HttpTimeouts) -> Vec<HttpInput> {
    let mut inputs = Vec::new();
    http.exchange(request(url), patience, |input| {
        inputs.push(input);
        ready(())
    })
    .await;
    inputs
}

fn body(inputs: &[HttpInput]) -> String {
    let mut body = Vec::new();
    for input in inputs {
        if let HttpInput::Chunk(bytes) = input {
            body.extend_from_slice(bytes);
        }
    }
    String::from_utf8(body).unwrap()
}

fn failure(inputs: &[HttpInput]) -> &HttpFailure {
    let Some(HttpInput::Failed(failure)) = inputs.last() else { panic!("no failure: {inputs:?}") };
    let is_terminal = |input: &&HttpInput| matches!(input, HttpInput::End | HttpInput::Failed(_));
    assert_eq!(inputs.iter().filter(is_terminal).count(), 1, "{inputs:?}");
    failure
}

#[tokio::test]
async fn a_response_comes_as_head_chunks_and_end() {
    let message = Message::text("hello");
    let model = Mock::start(vec![Reply::stream(&message).header("request-id", "req_7")]);
    let inputs = exchange(&client(), &model.url()).await;
    let Some(HttpInput::Head(head)) = inputs.first() else { panic!("{inputs:?}") };
    assert_eq!((head.status, head.header("request-id")), (200, Some("req_7")));
    assert!(head.at.0 > 1_700_000_000_000, "{head:?}");
    assert_eq!(body(&inputs), message.events().concat());
    assert_eq!(inputs.last(), Some(&HttpInput::End));
    let [sent] = &model.requests()[..] else { panic!("{:?}", model.requests()) };
    assert_eq!(sent.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(sent.header("x-api-key"), Some(KEY));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(sent.body, "{}");
}

#[tokio::test]
async fn pieces_come_when_they_are_sent() {
    // The end comes later than a test waits.
    let reply = Reply::stream(&Message::text("slow")).and_paused(2 * PATIENCE);
    let model = Mock::start(vec![reply]);
    let first = Notify::new();
    let client = client();
    let whole = client.exchange(request(&model.url()), patience(), |input| {
        if matches!(input, HttpInput::Chunk(_)) {
            first.notify_one();
        }
        ready(())
    });
    tokio::select! {
        _ = whole => panic!("the response is not over"),
        () = in_time("waiting for the first piece", first.notified()) => {}
    }
}

#[tokio::test]
async fn an_error_status_is_a_response_like_any_other() {
    let model = Mock::start(vec![Reply::rate_limited("7")]);
    let inputs = exchange(&client(), &model.url()).await;
    let Some(HttpInput::Head(head)) = inputs.first() else { panic!("{inputs:?}") };
    assert_eq!((head.status, head.header("retry-after")), (429, Some("7")));
    assert_eq!(inputs.last(), Some(&HttpInput::End));
}

#[tokio::test]
async fn a_cut_stream_is_a_broken_connection_after_what_came() {
    let reply = Reply::stream(&Message::text("hello")).cut_after(100);
    let sent = String::from_utf8(reply.body()).unwrap();
    let model = Mock::start(vec![reply]);
    let inputs = exchange(&client(), &model.url()).await;
    assert_eq!(body(&inputs), sent);
    let failure = failure(&inputs);
    assert_eq!(failure.kind, HttpFailureKind::Network);
    assert!(failure.message.starts_with("the connection to http://127.0.0.1"), "{failure:?}");
}

#[tokio::test]
async fn what_is_no_http_is_a_broken_connection() {
    for garbage in [&b"\x00\x01\x02 not http\r\n\r\n"[..], b"", b"HTTP/1.1 two hundred\r\n\r\n"] {
        let model = Mock::start(vec![Reply::garbage(garbage)]);
        let inputs = exchange(&client(), &model.url()).await;
        let failure = failure(&inputs);
        assert_eq!(failure.kind, HttpFailureKind::Network, "{failure:?}");
        assert!(!failure.message.contains('\n') && !failure.message.contains(KEY), "{failure:?}");
    }
}

#[tokio::test]
async fn redirects_are_told_and_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Mock::start(vec![Reply::stream(&Message::text("stolen"))]);
        let model = Mock::start(vec![Reply::redirect(status, &elsewhere.url())]);
        let inputs = exchange(&client(), &model.url()).await;
        let Some(HttpInput::Head(head)) = inputs.first() else { panic!("{inputs:?}") };
        assert_eq!(head.status, status);
        assert_eq!(elsewhere.requests().len(), 0, "status {status}");
    }
}

/// A server that takes connections and never says a word, so that TLS is never agreed on.
#[tokio::test]
async fn a_connection_that_is_never_there_ends_soon() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let http = client().connecting_within(Duration::from_millis(50));
    for (kind, more) in [
        (HttpFailureKind::Network, ""),
        (HttpFailureKind::Refused, ", twice; check the network and --base-url"),
    ] {
        let inputs = exchange(&http, &url).await;
        let failure = failure(&inputs);
        let message = format!("no connection to {url} within 50ms{more}");
        assert_eq!((failure.kind, &failure.message), (kind, &message));
    }
}

#[tokio::test]
async fn a_first_connection_that_is_refused_is_a_mistake_and_a_later_one_is_not() {
    let model = Mock::start(vec![Reply::stream(&Message::text("hello"))]);
    let url = model.url();
    let http = client();
    assert_eq!(exchange(&http, &url).await.last(), Some(&HttpInput::End));
    drop(model);
    let port = url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    innerloop_tests::program::wait_for("the server's end", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_err()
    });
    let inputs = exchange(&http, &url).await;
    assert_eq!(failure(&inputs).kind, HttpFailureKind::Network);
    let inputs = exchange(&client(), &url).await;
    let failure = failure(&inputs);
    assert_eq!(failure.kind, HttpFailureKind::Refused);
    assert!(failure.message.contains("connection refused; check that"), "{failure:?}");
}

/// The status that was told last.
fn status(inputs: &[HttpInput]) -> Option<u16> {
    let mut heads = inputs.iter().rev().filter_map(|input| match input {
        HttpInput::Head(head) => Some(head.status),
        _ => None,
    });
    heads.next()
}

#[test]
fn a_provider_begins_to_answer_sooner_than_a_server_of_ones_own() {
    let mut config = SessionConfig::default();
    let seconds = |config: &SessionConfig, url: &str| {
        let HttpTimeouts { answer, more } = HttpTimeouts::of(config, url);
        (answer.as_secs(), more.as_secs())
    };
    assert_eq!(seconds(&config, "https://api.example/v1"), (120, 285));
    assert_eq!(seconds(&config, "http://10.0.0.7:11434"), (285, 285));
    config.model.stream = false;
    assert_eq!(seconds(&config, "https://api.example/v1"), (285, 285));
    config.retry.idle_ms = 100_000;
    assert_eq!(seconds(&config, "https://api.example/v1"), (95, 95));
}

#[tokio::test]
async fn an_endpoint_that_stays_silent_is_tried_once_more() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let short = Duration::from_millis(300);
    let patience = HttpTimeouts { answer: short, more: short };
    let http = client();
    let both = async || {
        let (one, other) = tokio::join!(
            exchange_within(&http, &url, patience),
            exchange_within(&http, &url, patience)
        );
        [one, other]
    };
    for inputs in both().await {
        let failure = failure(&inputs);
        assert_eq!(failure.kind, HttpFailureKind::Timeout, "{failure:?}");
        let words = format!("{url} took the request and said nothing for 0.3 s");
        assert_eq!(failure.message, words);
    }
    for inputs in both().await {
        assert_eq!(status(&inputs), Some(504), "it may answer the next call: {inputs:?}");
        assert!(body(&inputs).contains("for 0.3 s, twice; "), "{inputs:?}");
    }
    // An answer that comes to its end is another beginning; one that stops in the middle is none.
    let slow = || Reply::stream(&Message::text("hello")).cut_after(100);
    let script = vec![
        slow().and_paused(short * 4),
        slow().and_paused(short * 4),
        Reply::stream(&Message::text("hello")),
        slow().and_paused(short * 4),
    ];
    let (model, http) = (Mock::start(script), client());
    let mut found = Vec::new();
    for _ in 0..4 {
        let inputs = exchange_within(&http, &model.url(), patience).await;
        found.push((status(&inputs), matches!(inputs.last(), Some(HttpInput::Failed(_)))));
    }
    let (broken, given_up, whole) = ((Some(200), true), (Some(504), false), (Some(200), false));
    assert_eq!(found, [broken, given_up, whole, broken]);
}

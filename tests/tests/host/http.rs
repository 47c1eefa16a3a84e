//! The HTTP side against a mock server: what the core is told of a response and of each fault,
//! and where the key goes.

use innerloop_core::{
    bytes::Bytes,
    id::EndpointId,
    input::{HttpFailure, HttpFailureKind, HttpInput},
    output::HttpRequest,
};
use innerloop_driver::providers;
use innerloop_host::{
    endpoints::{Endpoint, Endpoints},
    http::Http,
    secret::Key,
};
use innerloop_tests::{
    anthropic::Message,
    mock::{Mock, Reply},
    program::KEY,
};
use std::time::Duration;

fn client(url: &str) -> Http {
    let provider = providers::find("anthropic").unwrap();
    let endpoint = Endpoint::new(&provider, Some(url), Key::new(KEY)).unwrap();
    Http::new(Endpoints::default().with(provider.endpoint(), endpoint)).unwrap()
}

fn request() -> HttpRequest {
    HttpRequest {
        endpoint: EndpointId("anthropic".to_owned()),
        path: "/v1/messages".to_owned(),
        headers: vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())],
        body: Bytes::from("{}"),
    }
}

async fn exchange(http: &Http, request: HttpRequest) -> Vec<HttpInput> {
    let mut inputs = Vec::new();
    http.exchange(request, |input| inputs.push(input)).await;
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
    let inputs = exchange(&client(&model.url()), request()).await;
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
    let reply = Reply::stream(&Message::text("slow")).paced(Duration::from_millis(30));
    let model = Mock::start(vec![reply]);
    let begun = std::time::Instant::now();
    let mut first = None;
    let http = client(&model.url());
    http.exchange(request(), |input| {
        if matches!(input, HttpInput::Chunk(_)) {
            first.get_or_insert_with(|| begun.elapsed());
        }
    })
    .await;
    assert!(first.unwrap() * 2 < begun.elapsed(), "the first piece waited for the last");
}

#[tokio::test]
async fn an_error_status_is_a_response_like_any_other() {
    let model = Mock::start(vec![Reply::rate_limited("7")]);
    let inputs = exchange(&client(&model.url()), request()).await;
    let Some(HttpInput::Head(head)) = inputs.first() else { panic!("{inputs:?}") };
    assert_eq!((head.status, head.header("retry-after")), (429, Some("7")));
    assert_eq!(inputs.last(), Some(&HttpInput::End));
}

#[tokio::test]
async fn a_cut_stream_is_a_broken_connection_after_what_came() {
    let reply = Reply::stream(&Message::text("hello")).cut_after(100);
    let sent = String::from_utf8(reply.body()).unwrap();
    let model = Mock::start(vec![reply]);
    let inputs = exchange(&client(&model.url()), request()).await;
    assert_eq!(body(&inputs), sent);
    let failure = failure(&inputs);
    assert_eq!(failure.kind, HttpFailureKind::Network);
    assert!(failure.message.starts_with("the connection to http://127.0.0.1"), "{failure:?}");
}

#[tokio::test]
async fn what_is_no_http_is_a_broken_connection() {
    for garbage in [&b"\x00\x01\x02 not http\r\n\r\n"[..], b"", b"HTTP/1.1 two hundred\r\n\r\n"] {
        let model = Mock::start(vec![Reply::garbage(garbage)]);
        let inputs = exchange(&client(&model.url()), request()).await;
        let failure = failure(&inputs);
        assert_eq!(failure.kind, HttpFailureKind::Network, "{failure:?}");
        assert!(!failure.message.contains('\n') && !failure.message.contains(KEY), "{failure:?}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed_and_get_no_key() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Mock::start(vec![Reply::stream(&Message::text("stolen"))]);
        let model = Mock::start(vec![Reply::redirect(status, &elsewhere.url())]);
        let inputs = exchange(&client(&model.url()), request()).await;
        let failure = failure(&inputs);
        assert_eq!(failure.kind, HttpFailureKind::Refused);
        assert!(failure.message.contains("set --base-url to the final address"), "{failure:?}");
        assert_eq!(inputs.len(), 1, "{inputs:?}");
        assert_eq!(elsewhere.requests().len(), 0, "status {status}");
    }
}

#[tokio::test]
async fn only_an_endpoint_of_the_table_is_asked() {
    let model = Mock::start(vec![]);
    let http = client(&model.url());
    let elsewhere = HttpRequest { endpoint: EndpointId("other".to_owned()), ..request() };
    let inputs = exchange(&http, elsewhere).await;
    assert_eq!(failure(&inputs).message, "this host knows no endpoint \"other\"");
    let outside = HttpRequest { path: "@127.0.0.2:1/".to_owned(), ..request() };
    let inputs = exchange(&http, outside).await;
    assert_eq!(failure(&inputs).kind, HttpFailureKind::Refused);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn a_first_connection_that_is_refused_is_a_mistake_and_a_later_one_is_not() {
    let model = Mock::start(vec![Reply::stream(&Message::text("hello"))]);
    let url = model.url();
    let http = client(&url);
    assert_eq!(exchange(&http, request()).await.last(), Some(&HttpInput::End));
    drop(model);
    let port = url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    innerloop_tests::program::wait_for("the server's end", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_err()
    });
    let inputs = exchange(&http, request()).await;
    assert_eq!(failure(&inputs).kind, HttpFailureKind::Network);
    let inputs = exchange(&client(&url), request()).await;
    let failure = failure(&inputs);
    assert_eq!(failure.kind, HttpFailureKind::Refused);
    assert!(failure.message.contains("connection refused; check that"), "{failure:?}");
}

#[tokio::test]
async fn a_key_that_a_server_echoes_is_masked_however_it_is_cut() {
    let text = format!("invalid x-api-key: {KEY}");
    for size in [1, 3, 7, 1000] {
        let reply = Reply::error(401, "authentication_error", &text).header("x-echo", KEY);
        let model = Mock::start(vec![reply.in_pieces_of(size)]);
        let inputs = exchange(&client(&model.url()), request()).await;
        assert!(body(&inputs).contains("invalid x-api-key: ***"), "{inputs:?}");
        assert!(!format!("{inputs:?}").contains(KEY), "{inputs:?}");
    }
}

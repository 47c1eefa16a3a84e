//! Failures of model calls (`docs/wires.md`): every shape of error body, and what follows from it.
//! The protocols share the reading of errors.

use innerloop_core::{
    config::WireKind,
    event::ErrorKind::{
        self, Authentication, ContentFilter, ContextOverflow, InvalidRequest, Overloaded, Protocol,
        Quota, RateLimit, Server,
    },
    input::ResponseHead,
    time::UnixMillis,
};
use innerloop_driver::decode::{DecodedError, decode};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// Sunday, 6 November 1994, 08:49:37 GMT.
const NOW: UnixMillis = UnixMillis(784_111_777_000);

fn head(status: u16, headers: &[(&str, &str)]) -> ResponseHead {
    let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    ResponseHead { status, headers: headers.collect(), at: NOW }
}

/// The failure of a body, which is the same in every chunking.
fn failure(head: &ResponseHead, body: &[u8]) -> DecodedError {
    let of = |size: usize| decode(WireKind::Anthropic, head, body.chunks(size)).error;
    let whole = of(body.len().max(1)).expect("an error");
    assert_eq!(of(1).as_ref(), Some(&whole));
    assert_eq!(of(7).as_ref(), Some(&whole));
    whole
}

fn of_body(status: u16, body: &Value) -> DecodedError {
    failure(&head(status, &[]), body.to_string().as_bytes())
}

/// The kind's name in JSON.
fn shown(kind: ErrorKind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// The failure of an error that comes in a stream with status 200.
fn in_stream(error: &Value) -> DecodedError {
    let event = json!({"type": "error", "error": error});
    let error = failure(&head(200, &[]), format!("event: error\ndata: {event}\n\n").as_bytes());
    assert_eq!(error.status, 200);
    error
}

/// What a body of `fixtures/failures.jsonl` is to be read as; what is absent is not compared.
#[derive(Deserialize)]
struct Case {
    status: u16,
    kind: String,
    message: Option<String>,
    code: Option<String>,
    body: Box<RawValue>,
}

/// The table of `docs/wires.md#failures`, and the shapes of all protocols.
#[test]
fn g2_g3_g4_failures_are_told_apart_by_status_name_and_words() {
    for line in include_str!("../../fixtures/failures.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let error = failure(&head(case.status, &[]), case.body.get().as_bytes());
        assert_eq!((shown(error.kind), error.status), (case.kind, case.status), "{line}");
        if let Some(message) = case.message {
            assert_eq!((error.message, error.code), (message, case.code), "{line}");
        } else if case.code.is_some() {
            assert_eq!(error.code, case.code, "{line}");
        }
    }
}

#[test]
fn a_name_may_stand_in_a_header() {
    let aws = head(400, &[("x-amzn-errortype", "ThrottlingException:http://internal/")]);
    let error = failure(&aws, b"{\"message\":\"slow\"}");
    assert_eq!((error.kind, error.code.as_deref()), (RateLimit, Some("ThrottlingException")));
}

#[test]
fn a_body_that_is_not_json_is_told_with_its_own_words() {
    let cases: [(u16, &str, &str, ErrorKind); 9] = [
        (502, "", "HTTP 502 with an empty body", Server),
        (502, "upstream gone", "HTTP 502: upstream gone", Server),
        (
            413,
            "<html><head><title>413 Payload Too Large</title></head></html>",
            "HTTP 413 with an HTML page instead of an API response: 413 Payload Too Large",
            ContextOverflow,
        ),
        (524, "<!DOCTYPE html><title>a timeout</title>", "a timeout", Server),
        (429, "Rate limited, try again in 3s", "HTTP 429: Rate limited", RateLimit),
        (
            400,
            "event: error\ndata: {\"error\":{\"message\":\"in an event\"}}\n\n",
            "in an event",
            InvalidRequest,
        ),
        (
            400,
            "\u{feff}\n {\"error\":{\"message\":\"half \\ud83d\"}}",
            "half \u{fffd}",
            InvalidRequest,
        ),
        (
            500,
            "{\"error\":{\"message\":\"first\"}}\n{\"error\":{\"message\":\"second\"}}",
            "first",
            Server,
        ),
        (500, "{\"error\":{\"message\":\"cut", "{\"error\":{\"message\":\"cut", Server),
    ];
    for (status, body, message, kind) in cases {
        let error = failure(&head(status, &[]), body.as_bytes());
        assert!(error.message.contains(message), "{error:?}");
        assert_eq!(error.kind, kind, "{body}");
    }
    let odd = failure(&head(500, &[]), b"\xff\x00oops");
    assert!(odd.message.ends_with("oops"));
}

#[test]
fn a_success_that_holds_an_error_is_that_error_and_other_json_is_told() {
    let ok = head(200, &[("content-type", "application/json")]);
    let filtered = json!({"error": {"code": "content_filter", "message": "filtered"}});
    let error = failure(&ok, filtered.to_string().as_bytes());
    assert_eq!((error.kind, error.message.as_str()), (ContentFilter, "filtered"));
    let error = failure(&ok, b"{\"object\":\"error\",\"message\":\"busy\",\"code\":503}");
    assert_eq!((error.kind, error.message.as_str()), (Server, "busy"));
    let error = failure(&ok, b"{\"message\":\"welcome\"}");
    assert_eq!(error.kind, Protocol);
    assert!(error.message.contains("welcome"), "{}", error.message);
}

#[test]
fn a_quota_of_days_is_told_from_one_of_minutes() {
    for (id, kind) in [
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", Quota),
        ("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", RateLimit),
    ] {
        let quota = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": id}]});
        let retry =
            json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"});
        let error = json!({"code": 429, "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota", "details": [quota, retry]});
        let error = of_body(429, &json!({"error": error}));
        assert_eq!((error.kind, error.retry_after_ms), (kind, Some(34_400)));
        assert_eq!(error.code.as_deref(), Some("RESOURCE_EXHAUSTED"));
    }
}

#[test]
fn an_error_in_a_stream_is_told_by_its_own_number_name_or_words() {
    for (error, kind) in [
        (json!({"code": 429, "message": "slow"}), RateLimit),
        (json!({"code": 401, "message": "User not found."}), Authentication),
        (json!({"code": 400, "message": "Token limit reached"}), InvalidRequest),
        (json!({"code": 502, "message": "Network connection lost"}), Server),
        (json!({"code": "429", "message": "slow"}), RateLimit),
        (json!({"code": "context_length_exceeded", "message": "m"}), ContextOverflow),
        (json!({"code": "insufficient_quota", "message": "m"}), Quota),
        (json!({"code": "rate_limit_exceeded", "message": "m"}), RateLimit),
        (json!({"code": "slow_down", "message": "m"}), Overloaded),
        (json!({"code": "bio_policy", "message": "m"}), ContentFilter),
        (json!({"code": "invalid_prompt", "message": "m"}), InvalidRequest),
        (json!({"code": "server_error", "message": "m"}), Server),
        (json!({"code": "brand_new", "message": "m"}), Server),
        (json!({"type": "timeout_error", "message": "m"}), Server),
        (json!("an error was encountered while running the model"), Server),
        (json!("prompt too long"), ContextOverflow),
    ] {
        assert_eq!(in_stream(&error).kind, kind, "{error}");
    }
}

#[test]
fn g2_how_long_to_wait_is_read_in_all_five_forms() {
    let in_head = |name, value| failure(&head(429, &[(name, value)]), b"{}").retry_after_ms;
    assert_eq!(in_head("retry-after-ms", "28.5"), Some(29));
    assert_eq!(in_head("retry-after", "2.5"), Some(2_500));
    assert_eq!(in_head("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(10_000));
    assert_eq!(in_head("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT"), Some(0), "it is over");
    assert_eq!(in_head("retry-after", "Sun, 06 Foo 1994 08:49:47 GMT"), None);
    assert_eq!(in_head("retry-after", "NaN"), None);
    let in_words = |words: &str| of_body(429, &json!({"error": {"message": words}})).retry_after_ms;
    for (words, expected) in [
        ("Please try again in 1.2s. Visit the console", Some(1_200)),
        ("Please try again in 28ms.", Some(28)),
        ("Please retry in 12.3s.", Some(12_300)),
        ("Please retry in 45.837298s.", Some(45_837)),
        ("try again in 6m0s", Some(360_000)),
        ("Try again in 1h2m3.5s", Some(3_723_500)),
        ("Please retry after 20 seconds.", Some(20_000)),
        ("Please try again in 1 minute 30 seconds", Some(90_000)),
        ("please wait 5 seconds", Some(5_000)),
        ("try again in 17.399999999s", Some(17_400)),
        ("try again in a while", None),
        ("try again in 5 times", None),
        ("try again in 1.2.3s", None),
        ("retry after 2025-01-01", None),
        ("slow down", None),
    ] {
        assert_eq!(in_words(words), expected, "{words}");
    }
    let field = |error: Value| of_body(429, &json!({"error": error})).retry_after_ms;
    for name in ["retry_after", "retry_after_seconds", "resets_in_seconds"] {
        assert_eq!(field(json!({"message": "m", name: 1.5})), Some(1_500), "{name}");
    }
    assert_eq!(field(json!({"message": "m", "resets_at": 784_111_787})), Some(10_000));
    assert_eq!(field(json!({"message": "m", "details": [{"retryDelay": "48s"}]})), Some(48_000));
    let reset =
        json!({"message": "m", "metadata": {"headers": {"X-RateLimit-Reset": "784111778000"}}});
    assert_eq!(field(reset), Some(1_000));
    let both = failure(&head(429, &[("retry-after", "3")]), b"{\"error\":\"try again in 9s\"}");
    assert_eq!(both.retry_after_ms, Some(3_000), "a header counts more than words");
    let bad = of_body(400, &json!({"error": {"message": "bad field; try again in 5s"}}));
    assert_eq!(bad.retry_after_ms, None);
}

#[test]
fn a_retry_after_on_a_success_is_about_something_else() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
    let body = format!("data: {error}\n\n");
    let error = failure(&head(200, &[("retry-after", "30")]), body.as_bytes());
    assert_eq!((error.kind, error.retry_after_ms), (Overloaded, None));
    assert_eq!(
        in_stream(&json!({"message": "try again in 2s", "code": 429})).retry_after_ms,
        Some(2_000)
    );
}

#[test]
fn no_body_cut_anywhere_breaks_the_reading() {
    let body =
        json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "grüße 1.2s",
        "details": [{"violations": [{"quotaId": "PerDay"}]}, {"retryDelay": "34.4s"}]}}])
        .to_string();
    for status in [200, 400, 429, 500, 0] {
        for end in 0..body.len() {
            let error = failure(&head(status, &[]), &body.as_bytes()[..end]);
            assert!(!error.message.is_empty());
        }
    }
    for odd in [
        "null",
        "1",
        "[]",
        "[[]]",
        "{}",
        "true",
        "\"\"",
        "{\"error\":{}}",
        "{\"error\":[]}",
        "{\"error\":{\"code\":-1}}",
        "{\"error\":{\"message\":{\"a\":1}}}",
        "[{\"error\":1}]",
    ] {
        assert!(!failure(&head(400, &[]), odd.as_bytes()).message.is_empty(), "{odd}");
    }
    let deep = format!("{}{}", "{\"error\":".repeat(5_000), "}".repeat(5_000));
    assert_eq!(failure(&head(400, &[]), deep.as_bytes()).kind, InvalidRequest);
}

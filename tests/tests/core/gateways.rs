//! Endpoints that refuse a request for a field that they do not know: the request is made without
//! it, and so are all that follow.

use innerloop_core::{
    config::{MaxTokensField, SessionConfig, SystemRole, WireKind},
    event::EventKind,
    log,
};
use innerloop_tests::test_host::{TestHost, config};
use serde_json::{Value, json};

/// A session in OpenAI's own dialect.
fn chat() -> SessionConfig {
    let mut config = config();
    config.model.wire = WireKind::OpenaiChat;
    config.model.reasoning_effort = Some("high".into());
    config
}

fn refuse(host: &mut TestHost, status: u16, message: &str) {
    host.head(status, "application/json");
    let body = json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
    let _ = host.http(innerloop_core::input::HttpInput::Chunk(body.into_bytes().into()));
    let _ = host.http(innerloop_core::input::HttpInput::End);
}

fn answer(host: &mut TestHost) {
    let choice = json!({"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"});
    let event = json!({"id": "c", "choices": [choice]});
    host.stream(format!("data: {event}\n\ndata: [DONE]\n\n").as_bytes(), usize::MAX);
}

fn warnings(host: &TestHost) -> Vec<&str> {
    host.find(|kind| match kind {
        EventKind::Warning { message } => Some(message.as_str()),
        _ => None,
    })
}

fn fields(body: &Value) -> Vec<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn b2_what_a_gateway_does_not_know_is_left_out_once_for_the_whole_session() {
    let mut host = TestHost::open(chat());
    let _ = host.submit("hello");
    let sent = host.body();
    assert_eq!(sent["messages"][0]["role"], "developer");
    for field in ["store", "prompt_cache_key", "max_completion_tokens", "reasoning_effort"] {
        assert!(sent.get(field).is_some(), "{field}: {sent}");
    }
    refuse(
        &mut host,
        400,
        "Unknown fields: ['store', 'prompt_cache_key', 'max_completion_tokens'], roles: \
         ['developer']",
    );
    assert_eq!(host.requests.len(), 2, "asked again at once");
    let sent = host.body();
    assert_eq!(sent["messages"][0]["role"], "system");
    let want = ["max_tokens", "messages", "model", "reasoning_effort", "stream", "stream_options"];
    let have: Vec<&str> = fields(&sent).into_iter().filter(|field| *field != "tools").collect();
    assert_eq!(have, want);
    refuse(&mut host, 422, "body.stream_options: Extra inputs are not permitted");
    refuse(&mut host, 400, "Unrecognized request argument supplied: reasoning_effort");
    assert_eq!(host.requests.len(), 4);
    answer(&mut host);
    let told = [
        "the endpoint does not know role developer, max_completion_tokens, store, \
         prompt_cache_key: left out from now on",
        "the endpoint does not know stream_options: left out from now on",
        "the endpoint does not know reasoning effort: left out from now on",
    ];
    assert_eq!(warnings(&host), told);
    let _ = host.submit("again");
    let have: Vec<Value> = vec![host.body()];
    let have: Vec<&str> = fields(&have[0]).into_iter().filter(|it| *it != "tools").collect();
    assert_eq!(have, ["max_tokens", "messages", "model", "stream"]);
    let replayed = log::replay(&host.log).unwrap();
    assert_eq!(replayed.session.snapshot(), host.session.snapshot());
}

#[test]
fn b2_the_output_limit_goes_under_the_name_that_the_endpoint_knows() {
    let mut config = chat();
    config.model.compat.system_role = SystemRole::System;
    config.model.compat.max_tokens_field = MaxTokensField::MaxTokens;
    let mut host = TestHost::open(config);
    let _ = host.submit("hello");
    let says = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                'max_completion_tokens' instead.";
    refuse(&mut host, 400, says);
    assert!(host.body().get("max_completion_tokens").is_some(), "{}", host.body());
    // One that wants neither is not asked for ever.
    for _ in 0..20 {
        let names = ["max_completion_tokens", "max_tokens"];
        let last = host.body();
        let used = names.iter().find(|name| last.get(name).is_some()).unwrap();
        if host.calls.is_empty() {
            break;
        }
        refuse(&mut host, 400, &format!("unknown {used}, see max_completion_tokens"));
    }
    assert!(host.calls.is_empty() && host.requests.len() <= 9, "{}", host.requests.len());
}

#[test]
fn b2_other_refusals_are_told_as_they_are() {
    for (status, message) in [
        (400, "messages: the stored conversation is too long to restore"),
        (400, "store is full"),
        (401, "unknown parameter: store"),
        (500, "unknown parameter: store"),
        (400, "max_tokens is too large: 16384 is not supported"),
        (400, "unknown parameter: temperature"),
    ] {
        let mut host = TestHost::open(chat());
        let _ = host.submit("hello");
        let asked = host.requests.len();
        refuse(&mut host, status, message);
        assert_eq!((asked, host.requests.len()), (1, 1), "{message}");
    }
}

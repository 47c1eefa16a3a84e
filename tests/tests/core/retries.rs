//! Model calls that fail and are tried again: which, after how long, how often, and what ends the
//! wait.

use innerloop_core::{
    config::SessionConfig,
    event::{ErrorKind, EventKind},
    id::{AgentId, SessionId},
    input::{Command, HttpFailure, HttpFailureKind, HttpInput, Input},
    output::DeadlineReason,
    preset::ConfigPreset,
    status::{AgentState, RunEnd},
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{TestHost, config},
    wires,
};

fn state(host: &TestHost) -> AgentState {
    host.session.status(AgentId::ROOT).unwrap().state
}

fn ends(host: &TestHost) -> Vec<(RunEnd, String)> {
    host.find(|kind| match kind {
        EventKind::ProcessingEnd { end, text, .. } => Some((*end, text.clone())),
        _ => None,
    })
}

fn errors(host: &TestHost) -> Vec<ErrorKind> {
    host.find(|kind| match kind {
        EventKind::Error { kind, .. } => Some(*kind),
        _ => None,
    })
}

fn overloaded(host: &mut TestHost) {
    host.refuse(529, "overloaded_error", "Overloaded", &[]);
}

/// How long the next try is away, as the deadline has it and as the event tells it.
fn delay_ms(host: &TestHost) -> u64 {
    let deadline = host.session.deadline().unwrap();
    assert_eq!(deadline.reason, DeadlineReason::Retry);
    let told = host.find(|kind| match kind {
        EventKind::Retry { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    });
    let delay = deadline.at.0 - host.now;
    assert_eq!(told.last(), Some(&delay));
    delay
}

/// The engine's policy: four tries after 1, 2, 4 and 8 seconds.
fn engine(id: &str) -> SessionConfig {
    let mut config = config();
    config.retry = ConfigPreset::Gnoma.config().retry;
    config.id = SessionId(id.into());
    config
}

/// A session of the engine's policy that waits for its second try.
fn waiting() -> TestHost {
    let mut host = TestHost::open(engine("waiting"));
    let _ = host.submit("hello");
    overloaded(&mut host);
    host
}

#[test]
fn g2_each_transient_failure_is_tried_again_over_every_wire() {
    for (wire, ..) in wires::FAMILIES {
        for status in [429, 500, 501, 502, 503, 504, 529] {
            let mut config = config();
            wires::speak(&mut config.model, wire);
            let mut host = TestHost::open(config);
            let _ = host.submit("hello");
            host.refuse(status, "api_error", "for now", &[]);
            let _ = delay_ms(&host);
            let _ = host.wait();
            host.reply(&Message::text("Hi."));
            assert_eq!(ends(&host), [(RunEnd::Completed, "Hi.".into())], "{wire:?} {status}");
        }
    }
    for kind in [HttpFailureKind::Network, HttpFailureKind::Timeout] {
        let mut host = TestHost::default();
        let _ = host.submit("hello");
        let _ = host.http(HttpInput::Failed(HttpFailure { kind, message: "reset".into() }));
        let _ = delay_ms(&host);
    }
}

#[test]
fn k5_g2_four_tries_come_after_1_2_4_and_8_seconds() {
    for session in 0..20 {
        let mut host = TestHost::open(engine(&format!("session-{session}")));
        let _ = host.submit("hello");
        for whole in [1_000, 2_000, 4_000, 8_000] {
            overloaded(&mut host);
            assert_eq!(delay_ms(&host), whole);
            let _ = host.wait();
        }
        overloaded(&mut host);
        assert_eq!((errors(&host), host.requests.len()), (vec![ErrorKind::Overloaded], 5));
        assert!(host.requests.windows(2).all(|pair| pair[0].body == pair[1].body));
    }
}

#[test]
fn g2_sessions_do_not_come_back_all_at_once() {
    let delays = |percent: u32| {
        let delay = |session: u32| {
            let mut config = engine(&format!("session-{session}"));
            config.retry.jitter_percent = percent;
            let mut host = TestHost::open(config);
            let _ = host.submit("hello");
            overloaded(&mut host);
            delay_ms(&host)
        };
        let mut all: Vec<u64> = (0..200).map(delay).collect();
        all.sort_unstable();
        (all[0], all[199])
    };
    // Each session takes less of its own off: the longest of many is the whole.
    for (percent, least) in [(25, 750), (50, 500), (100, 0), (1_000, 0)] {
        let (shortest, longest) = delays(percent);
        assert!((least..=least + 20).contains(&shortest), "{percent}: {shortest}");
        assert!((990..=1_000).contains(&longest), "{percent}: {longest}");
    }
}

#[test]
fn g2_our_own_default_begins_at_half_a_second_and_ends_at_eight() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    for whole in [500, 1_000, 2_000, 4_000] {
        overloaded(&mut host);
        let delay = delay_ms(&host);
        assert!((whole - whole / 4..=whole).contains(&delay), "{delay} of {whole}");
        let _ = host.wait();
    }
    host.reply(&Message::text("Hi."));
    assert_eq!(ends(&host), [(RunEnd::Completed, "Hi.".into())]);
    let mut config = config();
    config.retry.max_retries = 9;
    let mut host = TestHost::open(config);
    let _ = host.submit("hello");
    for _ in 0..9 {
        overloaded(&mut host);
        assert!(delay_ms(&host) <= 8_000);
        let _ = host.wait();
    }
}

#[test]
fn k5_what_the_provider_asks_for_below_30_seconds_takes_the_place_of_the_delay() {
    for (asked, delay) in [("0.001", 1), ("7", 7_000), ("29.999", 29_999)] {
        let mut host = TestHost::open(engine("s"));
        let _ = host.submit("hello");
        host.refuse(429, "rate_limit_error", "slow down", &[("retry-after", asked)]);
        assert_eq!(delay_ms(&host), delay);
        let _ = host.wait();
        assert_eq!(host.now, delay);
        // The try counts: the next delay of our own is the second one.
        overloaded(&mut host);
        assert!((1_500..=2_000).contains(&delay_ms(&host)));
    }
    for asked in ["30", "31", "3600"] {
        let mut host = TestHost::open(engine("s"));
        let _ = host.submit("hello");
        host.refuse(429, "rate_limit_error", "slow down", &[("retry-after", asked)]);
        assert_eq!((errors(&host), host.requests.len()), (vec![ErrorKind::RateLimit], 1));
        assert_eq!(state(&host), AgentState::Idle, "waiting so long is the user's decision");
    }
}

#[test]
fn k5_g2_a_wait_ends_with_its_run_and_nothing_more_is_sent() {
    let mut host = waiting();
    let outputs = host.command(Command::Interrupt);
    assert_eq!(outputs.effects().count(), 0, "nothing is open that could be cancelled");
    assert_eq!(ends(&host), [(RunEnd::Interrupted, String::new())]);
    assert_eq!((state(&host), host.session.deadline()), (AgentState::Idle, None));
    host.now += 60_000;
    assert_eq!(host.input(Input::Tick).iter().count(), 0);
    assert_eq!(host.requests.len(), 1);
    let _ = host.submit("again");
    host.reply(&Message::text("Hi."));
    assert_eq!(ends(&host)[1], (RunEnd::Completed, "Hi.".into()));

    let mut host = waiting();
    let _ = host.command(Command::Close);
    assert_eq!(host.names(0).last().unwrap(), "session_end", "at once, without the delay");
    assert_eq!((state(&host), host.session.deadline()), (AgentState::Closed, None));

    // A tick before its time changes nothing, and a word of the user does not shorten the wait.
    let mut host = waiting();
    let (at, delay) = (host.session.deadline().unwrap().at.0, delay_ms(&host));
    host.now += delay - 1;
    assert_eq!(host.input(Input::Tick).iter().count(), 0);
    let _ = host.steer("hurry");
    assert_eq!((host.session.deadline().unwrap().at.0, host.requests.len()), (at, 1));
    host.now += 1;
    assert_eq!(host.input(Input::Tick).effects().count(), 1);
}

#[test]
fn g2_the_providers_own_delay_takes_the_place_of_ours() {
    let cases = [("retry-after", "7", 7_000), ("retry-after-ms", "250", 250)];
    for (name, value, expected) in cases {
        let mut host = TestHost::default();
        let _ = host.submit("hello");
        host.refuse(429, "rate_limit_error", "slow down", &[(name, value)]);
        assert_eq!(host.session.deadline().unwrap().at.0, expected, "{name}");
    }
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    host.refuse(429, "rate_limit_error", "come back tomorrow", &[("retry-after", "86400")]);
    assert_eq!(errors(&host), [ErrorKind::RateLimit]);
    assert_eq!(state(&host), AgentState::Idle, "waiting is the user's decision");
    let messages = host.find(|kind| match kind {
        EventKind::Error { message, .. } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(messages, ["come back tomorrow (the provider asks to wait 86400 s)"]);
}

#[test]
fn g2_k5_what_no_repetition_mends_is_not_tried_again() {
    for (status, kind, message, expected, after) in [
        (402, "billing_error", "pay", ErrorKind::Quota, AgentState::Idle),
        (429, "usage_limit_reached", "try again in 1s", ErrorKind::Quota, AgentState::Idle),
        (400, "content_policy_violation", "no", ErrorKind::ContentFilter, AgentState::Idle),
        (
            400,
            "invalid_request_error",
            "Invalid API key",
            ErrorKind::Authentication,
            AgentState::Closed,
        ),
        (400, "invalid_request_error", "bad", ErrorKind::InvalidRequest, AgentState::Closed),
    ] {
        let mut host = TestHost::default();
        let _ = host.submit("hello");
        host.refuse(status, kind, message, &[("retry-after", "1")]);
        assert_eq!((errors(&host), host.requests.len()), (vec![expected], 1), "{kind}");
        assert_eq!(state(&host), after, "{kind}");
    }
    for (told, requests) in [("true", 2), ("false", 1)] {
        let mut host = TestHost::default();
        let _ = host.submit("hello");
        host.refuse(500, "api_error", "oops", &[("x-should-retry", told)]);
        if host.session.deadline().is_some_and(|deadline| deadline.reason == DeadlineReason::Retry)
        {
            let _ = host.wait();
        }
        assert_eq!(host.requests.len(), requests, "x-should-retry: {told}");
    }
}

#[test]
fn g2_a_stream_that_breaks_is_taken_back_and_called_again() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    host.head(200, "text/event-stream");
    let half = Message::text("a rather long answer to all this").events()[..4].concat();
    let _ = host.http(HttpInput::Chunk(half.into_bytes().into()));
    host.broken();
    assert_eq!(host.names(2), ["assistant_text_start", "text_reset", "retry"]);
    let _ = host.wait();
    host.reply(&Message::text("short"));
    let texts = host.find(|kind| match kind {
        EventKind::ProcessingEnd { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(texts, ["short"]);
    assert_eq!(host.session.history(AgentId::ROOT).unwrap().turns().len(), 2);
}

#[test]
fn g2_a_break_in_mid_stream_ends_the_run_where_the_policy_says_so() {
    let mut config = config();
    config.retry.mid_stream = false;
    let mut host = TestHost::open(config);
    let _ = host.submit("hello");
    host.head(200, "text/event-stream");
    let half = Message::text("a rather long answer to all this").events()[..4].concat();
    let _ = host.http(HttpInput::Chunk(half.into_bytes().into()));
    host.broken();
    assert_eq!(host.names(2), ["assistant_text_start", "text_reset", "error", "processing_end"]);
    let _ = host.submit("hello");
    host.broken();
    assert_eq!(host.session.deadline().unwrap().reason, DeadlineReason::Retry, "before any text");
}

#[test]
fn g2_a_call_that_goes_quiet_is_cancelled_and_called_again() {
    let mut host = TestHost::default();
    let _ = host.submit("hello");
    assert_eq!(host.session.deadline().unwrap().reason, DeadlineReason::ModelIdle);
    let _ = host.wait();
    assert_eq!(host.cancelled.len(), 1);
    assert_eq!(host.names(2), ["retry"]);
}

#[test]
fn g2_retries_end_and_leave_the_session_usable() {
    let mut config = config();
    config.retry.max_retries = 1;
    let mut host = TestHost::open(config);
    let _ = host.submit("hello");
    host.broken();
    let _ = host.wait();
    host.broken();
    assert_eq!((errors(&host), ends(&host)[0].0), (vec![ErrorKind::Network], RunEnd::Failed));
    let _ = host.submit("hello again");
    host.reply(&Message::text("Hi."));
    assert_eq!(ends(&host)[1], (RunEnd::Completed, "Hi.".into()));
}

#[test]
fn g2_a_whole_reply_counts_although_its_connection_hangs() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let stream = wires::events(host.wire(), &Message::text("All said.")).concat();
    host.head(200, wires::stream_type(host.wire()));
    let _ = host.http(HttpInput::Chunk(stream.into_bytes().into()));
    for _ in 0..3 {
        if ends(&host).is_empty() {
            let _ = host.wait();
        }
    }
    assert_eq!(ends(&host), [(RunEnd::Completed, "All said.".to_owned())]);
    assert_eq!(host.requests.len(), 1);
}

#[test]
fn g2_a_gateway_that_fails_over_in_mid_stream_begins_the_reply_anew() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let events = wires::events(host.wire(), &Message::text("First half"));
    let begun: String = events[..events.len() - 3].concat();
    let whole = wires::events(host.wire(), &Message::text("Whole.")).concat();
    host.stream(format!("{begun}{whole}").as_bytes(), usize::MAX);
    assert_eq!(ends(&host), [(RunEnd::Completed, "Whole.".to_owned())]);
    assert!(host.names(0).contains(&"text_reset".to_owned()), "{:?}", host.names(0));
}

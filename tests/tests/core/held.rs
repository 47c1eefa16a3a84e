//! Requests that the host holds back, since others go first, and responses that say nothing.

use innerloop_core::{
    Session, event::EventKind, input::HttpInput, output::DeadlineReason, time::SessionInstant,
};
use innerloop_tests::{
    anthropic::Message,
    test_host::{EPOCH, TestHost},
};

fn queued(host: &TestHost) -> Vec<u32> {
    host.find(|kind| match kind {
        EventKind::Queued { ahead } => Some(*ahead),
        _ => None,
    })
}

fn deadline(host: &TestHost) -> Option<(u64, DeadlineReason)> {
    host.session.deadline().map(|deadline| (deadline.at.0, deadline.reason))
}

fn chunk(host: &mut TestHost, bytes: &str) {
    let _ = host.http(HttpInput::Chunk(bytes.as_bytes().to_vec().into()));
}

#[test]
fn a_request_that_is_held_back_is_never_idle() {
    let mut host = TestHost::default();
    let idle_ms = host.session.config().retry.idle_ms;
    let _ = host.submit("go");
    assert_eq!(deadline(&host), Some((idle_ms, DeadlineReason::ModelIdle)));
    host.now = 1_000;
    let _ = host.http(HttpInput::Held { ahead: Some(2) });
    assert_eq!((deadline(&host), queued(&host)), (None, vec![2]));
    host.now = 10 * idle_ms;
    let _ = host.input(innerloop_core::input::Input::Tick);
    assert_eq!((host.cancelled.len(), host.requests.len()), (0, 1), "nothing has come, or gone");
    let _ = host.http(HttpInput::Held { ahead: Some(0) });
    // The clock begins as the request goes out.
    host.now += 5;
    let _ = host.http(HttpInput::Held { ahead: None });
    assert_eq!(deadline(&host), Some((host.now + idle_ms, DeadlineReason::ModelIdle)));
    assert_eq!(queued(&host), [2, 0]);
    host.reply(&Message::text("Done."));
    assert_eq!(deadline(&host), None);
}

#[test]
fn the_head_ends_the_wait_too() {
    let mut host = TestHost::default();
    let idle_ms = host.session.config().retry.idle_ms;
    let _ = host.submit("go");
    let _ = host.http(HttpInput::Held { ahead: Some(1) });
    host.now = 7;
    host.head(200, "text/event-stream");
    assert_eq!(deadline(&host), Some((7 + idle_ms, DeadlineReason::ModelIdle)));
}

#[test]
fn comments_and_pings_are_no_news() {
    let mut host = TestHost::default();
    let idle_ms = host.session.config().retry.idle_ms;
    let _ = host.submit("go");
    host.head(200, "text/event-stream");
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    let start = "event: message_start\ndata: {\"type\": \"message_start\", \"message\": {}}\n\n";
    // Of a line that has begun the rest may be news.
    let cases = [(": still here\n\n", false), (ping, false), (start, true), ("data: {", true)];
    let mut heard_at = 0;
    for (bytes, is_news) in cases {
        host.now += 1_000;
        chunk(&mut host, bytes);
        heard_at = if is_news { host.now } else { heard_at };
        assert_eq!(
            deadline(&host),
            Some((heard_at + idle_ms, DeadlineReason::ModelIdle)),
            "{bytes}"
        );
    }
}

#[test]
fn the_end_of_a_whole_reply_is_waited_for_a_moment_whatever_comes() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.head(200, "text/event-stream");
    let bytes = Message::text("Done.").events().concat();
    chunk(&mut host, &bytes);
    let at = host.now;
    for _ in 0..5 {
        host.now += 150;
        chunk(&mut host, ": ping\n\n");
    }
    assert_eq!(deadline(&host), Some((at + 1_000, DeadlineReason::ModelIdle)));
    host.now = at + 1_000;
    let _ = host.input(innerloop_core::input::Input::Tick);
    assert_eq!(host.cancelled.len(), 1);
    assert_eq!(host.names(0).last().map(String::as_str), Some("processing_end"));
}

#[test]
fn what_is_held_back_is_so_after_a_restore_until_the_host_says_more() {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    let _ = host.http(HttpInput::Held { ahead: Some(3) });
    let again = Session::restore(&host.session.snapshot(), EPOCH).unwrap();
    assert_eq!((again.deadline(), again.owed().iter().count()), (None, 1));
    let mut again = again;
    let input = innerloop_core::input::Input::Http {
        id: host.call(),
        input: HttpInput::Held { ahead: None },
    };
    let _ = again.handle(input, SessionInstant(50)).unwrap();
    assert!(again.deadline().is_some());
}

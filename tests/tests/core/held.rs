//! Requests that the host holds back, since others go first.

use innerloop_core::{
    Session, event::EventKind, input::HttpInput, output::DeadlineReason, time::Instant,
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
    let _ = again.handle(input, Instant(50)).unwrap();
    assert!(again.deadline().is_some());
}

//! Recorded model traffic: masks, matches, mismatches.

use innerloop_core::id::AgentId;
use innerloop_driver::traffic::{TrafficError, TrafficPlayer, TrafficRecorder, said};
use innerloop_tests::{anthropic::Message, test_host::TestHost};
use serde_json::json;

fn said_after(result: &str) -> String {
    let mut host = TestHost::default();
    let _ = host.submit("go");
    host.reply(&Message::call("c1", "list_dir", &json!({})));
    let _ = host.answer(result);
    said(host.session.history(AgentId::ROOT).unwrap())
}

#[test]
fn only_what_is_new_is_said_with_what_varies_masked() {
    let cases = [
        ("took 12 ms to run", "took <time> to run"),
        ("took 12ms, 1.5s (3 s).", "took <time>, <time> (<time>)."),
        ("on 2026-11-21 and 2026-11-21T10:00:00Z", "on <date> and <date>"),
        ("in /home/me/x/a.js:3 or /a.js", "in <path>/a.js:3 or /a.js"),
        ("12 apples, 3 steps\n\ttail ", "12 apples, 3 steps\n\ttail "),
    ];
    for (result, masked) in cases {
        let said = said_after(result);
        assert!(said.starts_with(&format!("result of c1: {masked}")), "{said:?}");
    }
}

#[test]
fn a_recording_answers_the_same_words_and_no_others() {
    let mut recorder = TrafficRecorder::default();
    let mut lines = String::new();
    for (said, body) in [("user: a\n", "one"), ("result of c: 1 ms\n", "two")] {
        let mut exchange = recorder.begin(said);
        let secret = ("set-cookie".to_owned(), "secret".to_owned());
        exchange.head(200, &[("content-type".into(), "text/plain".into()), secret]);
        exchange.body.0.extend_from_slice(body.as_bytes());
        lines.push_str(&exchange.line());
    }
    assert!(!lines.contains("secret"));
    let mut player = TrafficPlayer::parse(&lines).unwrap();
    assert_eq!(&*player.next("user: a\n").unwrap().body, b"one");
    let error = player.next("result of c: 2\n").unwrap_err();
    assert_eq!(
        error,
        TrafficError::Mismatch {
            call: 2,
            expected: "result of c: 1 ms\n".into(),
            found: "result of c: 2\n".into()
        }
    );
    assert!(error.to_string().contains("model call 2 differs"));
    assert_eq!((player.left(), player.next("result of c: 1 ms\n").unwrap().call), (1, 2));
    assert_eq!(player.next("more"), Err(TrafficError::Exhausted { call: 3 }));
}

#[test]
fn a_mismatch_shows_the_place_where_long_texts_differ() {
    let long = "ü the same line\n".repeat(1_000);
    let lines = ["one", "two"].map(|end| format!("{long}the end is {end}\n{long}"));
    let wide = ["one", "two"].map(|end| format!("{}{end}", "ü".repeat(5_000)));
    for [recorded, now] in [lines, wide] {
        let mut exchange = TrafficRecorder::default().begin(&recorded);
        exchange.head(200, &[]);
        let mut player = TrafficPlayer::parse(&exchange.line()).unwrap();
        let Err(TrafficError::Mismatch { expected, found, .. }) = player.next(&now) else {
            panic!("no mismatch")
        };
        assert!(expected.contains("one") && !expected.contains("two"), "{expected}");
        assert!(found.contains("two") && !found.contains("one"), "{found}");
        for text in [expected, found] {
            assert!(text.starts_with("[… the same …]\n") && text.len() < 2_100, "{text}");
        }
    }
}

#[test]
fn a_recording_that_cannot_be_read_names_its_line() {
    let line = |text: &str| match TrafficPlayer::parse(text) {
        Err(TrafficError::Unreadable { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(""), 1);
    assert_eq!(line("\n\nrubbish"), 3);
    assert_eq!(line("{\"call\":1}"), 1);
    let mut exchange = TrafficRecorder::default().begin("go");
    for (status, has_failed, is_read) in [
        (0, false, false),
        (0, true, true),
        (1, false, false),
        (99, true, false),
        (100, false, true),
        (999, false, true),
        (1000, false, false),
        (u16::MAX, true, false),
    ] {
        exchange.head(status, &[]);
        exchange.failed = has_failed.then(|| "it broke".to_owned());
        let read = TrafficPlayer::parse(&exchange.line());
        assert_eq!(read.is_ok(), is_read, "{status}: {read:?}");
    }
}

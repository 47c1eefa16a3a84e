//! What breaks on the wire, in each protocol: the program against a mock model that sends its
//! replies byte for byte and fails where it is told to. Each protocol is run in a thread of its
//! own.

use innerloop_core::config::WireKind;
use innerloop_tests::{
    anthropic::Message,
    mock::Reply,
    program::Run,
    scene::Scene,
    wires::{self, FAMILIES, read},
};
use serde_json::{Value, json};
use std::{fs, thread, time::Duration};

/// Runs `check` for each protocol.
fn in_each_protocol(check: impl Fn(WireKind) + Sync) {
    thread::scope(|scope| {
        for (wire, ..) in FAMILIES {
            let check = &check;
            let name = format!("{wire:?}");
            thread::Builder::new().name(name).spawn_scoped(scope, move || check(wire)).unwrap();
        }
    });
}

/// A reply that says something and writes a file.
fn writes() -> Message {
    let input = json!({"file_path": "note.txt", "content": "Grüße, \"mostly\" 🌞\n"});
    Message::text("I write it down.").and_call("toolu_1", "write_file", &input)
}

#[test]
fn a_reply_that_is_whole_ends_a_request_that_goes_on() {
    in_each_protocol(|wire| {
        // Gemini's last chunk is known by the end alone.
        if wire != WireKind::Gemini {
            let endless = Reply::stream_in(wire, &writes()).and_then(": ping\n\n").without_end();
            assert_done(wire, run(wire, vec![endless]), 0);
        }
    });
}

fn done() -> Message {
    Message::text("all done")
}

/// A run whose model gives these replies, and then says that it is done.
fn run(wire: WireKind, mut script: Vec<Reply>) -> (Scene, Run) {
    script.push(Reply::stream_in(wire, &done()));
    let scene = Scene::new(script).speaking(wire);
    let run = scene.run(&["--json"]);
    (scene, run)
}

fn events(run: &Run, kind: &str) -> Vec<Value> {
    let lines = run.json_lines();
    lines.into_iter().filter(|event| event["type"] == kind).collect()
}

/// Checks that the run did all it should, with so many further tries on the way.
fn assert_done(wire: WireKind, (scene, run): (Scene, Run), tries: usize) {
    let run = run.exits(0);
    let retries = events(&run, "retry");
    assert_eq!(retries.len(), tries, "{wire:?}: {retries:#?}");
    assert_eq!(events(&run, "result")[0]["text"], "all done", "{wire:?}");
    assert_eq!(events(&run, "tool_call_start").len(), 1, "{wire:?}");
    assert_eq!(scene.text("workspace/note.txt"), "Grüße, \"mostly\" 🌞\n");
    assert_eq!((scene.model.requests().len(), scene.model.left()), (2 + tries, 0), "{wire:?}");
    let requests = scene.model.requests();
    let (last, earlier) = requests.split_last().unwrap();
    for again in earlier {
        assert_eq!(again.body, requests[0].body, "{wire:?}: another try says the same");
    }
    let body: Value = serde_json::from_str(&last.body).unwrap();
    let results = read::results(wire, &body);
    assert_eq!(results.len(), 1, "{wire:?}: {body}");
    assert!(results[0].text.contains("note.txt"), "{wire:?}: {body}");
}

#[test]
fn a_stream_that_is_cut_at_whatever_byte_is_asked_for_again() {
    in_each_protocol(|wire| {
        let whole = Reply::stream_in(wire, &writes());
        let body = whole.body();
        let find = |text: &str| {
            let at = body.windows(text.len()).position(|bytes| bytes == text.as_bytes());
            at.unwrap_or_else(|| panic!("{wire:?} has no {text}"))
        };
        // Before the first byte's event is whole, in a text, in the two bytes of a letter in a
        // call's arguments, and before the last event.
        let last = Reply::stream_in(wire, &Message::text("")).body().len();
        for at in [1, find("write it") + 3, find("ü") + 1, body.len() - last / 2] {
            let cut = whole.clone().cut_after(at);
            let (scene, run) = run(wire, vec![cut, whole.clone()]);
            let reset = events(&run, "text_reset").len();
            let shown = at > find("write it") + 3;
            assert!(reset == 1 || !shown, "{wire:?}, byte {at}: {run:#?}");
            assert_done(wire, (scene, run), 1);
        }
    });
}

#[test]
fn what_breaks_behind_the_last_event_costs_no_second_request() {
    in_each_protocol(|wire| {
        let whole = || Reply::stream_in(wire, &writes());
        for broken in [whole().and_closed(), whole().and_reset()] {
            // Gemini's streams have no marker: what its last chunk is shows in the body's end.
            match wire {
                WireKind::Gemini => assert_done(wire, run(wire, vec![broken, whole()]), 1),
                _ => assert_done(wire, run(wire, vec![broken]), 0),
            }
        }
    });
}

#[test]
fn what_comes_behind_the_last_event_is_not_read() {
    in_each_protocol(|wire| {
        let whole = || Reply::stream_in(wire, &writes());
        for garbage in [&b"\xff\xfe\x00 what?\n\n"[..], b"\r\n\r\n"] {
            assert_done(wire, run(wire, vec![whole().and_then(garbage)]), 0);
        }
        let half = whole().and_then("data: {\"half\n\n");
        match wire {
            WireKind::Gemini => assert_done(wire, run(wire, vec![half, whole()]), 1),
            _ => assert_done(wire, run(wire, vec![half]), 0),
        }
    });
}

#[test]
fn x10_a_reply_without_end_ends_at_its_limit() {
    in_each_protocol(|wire| {
        let parts = wires::events(wire, &Message::text("All work"));
        let text = parts.iter().position(|event| event.contains("All")).unwrap();
        let begin = Reply::new(200, wires::stream_type(wire), parts[..text].concat());
        let flood = begin.and_then(parts[text].as_str()).without_end();
        let scene = Scene::new(vec![flood]).speaking(wire);
        let limits = r#"{"response":{"max_bytes":2000000}}"#;
        fs::write(scene.path("config.json"), limits).unwrap();
        let run = scene.run(&["--json", "--config", &scene.arg("config.json")]).exits(1);
        let errors = events(&run, "error");
        let message = errors[0]["message"].as_str().unwrap();
        assert!(message.contains("response.max_bytes"), "{wire:?}: {message}");
        let shown = events(&run, "assistant_text_delta").len();
        assert!(shown > 1_000, "{wire:?}: {shown}");
        let ends = events(&run, "assistant_text_end");
        assert!(ends[0]["text"].as_str().unwrap().starts_with("All"), "{wire:?}");
    });
}

#[test]
fn a_slow_drip_is_waited_for() {
    in_each_protocol(|wire| {
        let drip = Reply::stream_in(wire, &writes()).in_pieces_of(5);
        assert_done(wire, run(wire, vec![drip.paced(Duration::from_millis(2))]), 0);
    });
}

#[test]
fn g2_a_rate_limit_is_waited_for_in_each_protocol() {
    in_each_protocol(|wire| {
        let whole = Reply::stream_in(wire, &writes());
        let limited = |after| Reply::rate_limited_in(wire, after);
        let (scene, run) = run(wire, vec![limited("1"), limited("0.2"), whole]);
        let retries = events(&run, "retry");
        let delays: Vec<&Value> = retries.iter().map(|retry| &retry["delay_ms"]).collect();
        assert_eq!(delays, [1000, 200], "{wire:?}");
        for retry in &retries {
            let message = retry["message"].as_str().unwrap();
            assert!(message.contains("Number of requests has exceeded a limit"), "{message}");
        }
        assert_done(wire, (scene, run), 2);
    });
}

#[test]
fn g2_i13_a_rate_limit_for_hours_ends_the_run() {
    in_each_protocol(|wire| {
        let (scene, run) = run(wire, vec![Reply::rate_limited_in(wire, "7200")]);
        let run = run.exits(1);
        let complaint = run.complaint();
        assert!(complaint.contains("Number of requests has exceeded a limit"), "{complaint}");
        assert_eq!((events(&run, "retry").len(), scene.model.requests().len()), (0, 1));
        assert_eq!(events(&run, "error")[0]["kind"], "rate_limit", "{wire:?}");
    });
}

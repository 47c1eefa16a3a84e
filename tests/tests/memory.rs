//! What a response holds in memory while it is read grows with its bytes, whatever they are, and by
//! a bound for each item of its reply; and what a session takes that is one of many. A binary of
//! its own: nothing else may run beside.
#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect is to fail")]

use innerloop_core::{
    Decoder,
    bytes::BodyBytes,
    config::{ResponseLimits, WireKind},
    input::{HttpInput, Input},
    preset::ConfigPreset,
    text_calls::{Family, TextScanner},
    time::SessionInstant,
};
use innerloop_driver::LineServer;
use innerloop_tests::{
    feeding::head,
    hostile::{Shape, shapes},
    test_host::{TestHost, preset},
};
use peak_alloc::PeakAlloc;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Only one test at a time may ask for memory.
static ALONE: Mutex<()> = Mutex::new(());

/// How many bytes may be held for each byte that has come.
const PER_BYTE: usize = 8;

/// How many more may be held for each item of the reply.
const PER_ITEM: usize = 1_200;

/// How many items the reply may have: few, so that bytes are what is measured, and more.
const ITEMS: [u32; 2] = [10, 200];

/// How many more may be held in any case.
const ALWAYS: usize = 16_384;

/// How a body comes: in pieces of so many bytes.
const PIECES: [usize; 2] = [4_096, usize::MAX];

/// How many bytes are held at most while a shape of that length is read.
fn held(shape: &Shape, length: usize, max_items: u32, piece: usize) -> (usize, usize) {
    let body = shape.body(length);
    let limits = ResponseLimits { max_items, ..ResponseLimits::default() };
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut decoder = Decoder::within(limits, shape.wire, &head(200, ""));
    let mut pieces = Vec::new();
    for chunk in body.as_bytes().chunks(piece) {
        decoder.feed(chunk, &mut pieces);
        // Who watches has seen them.
        pieces = Vec::new();
        if decoder.is_whole() {
            break;
        }
    }
    drop(decoder.finish());
    (MEMORY.peak_usage() - before, body.len())
}

#[test]
fn x10_a_response_holds_at_most_eight_times_its_bytes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut faults = Vec::new();
    let ways = ITEMS.iter().flat_map(|items| PIECES.map(|piece| (*items, piece)));
    let ways: Vec<(u32, usize)> = ways.collect();
    for (shape, (items, piece)) in
        shapes().iter().flat_map(|shape| ways.iter().map(move |way| (shape, *way)))
    {
        let (held, bytes) = held(shape, 50_000, items, piece);
        let most = PER_BYTE * bytes + PER_ITEM * items as usize + ALWAYS;
        if held > most {
            let begin: String = shape.body(1).chars().take(200).collect();
            let what = format!("{}, {items} items, by {piece}", shape.name);
            faults.push(format!("{what}: {held} of {most}: {begin}"));
        }
    }
    assert!(faults.is_empty(), "{} shapes\n{}", faults.len(), faults.join("\n"));
}

/// How many bytes a session may hold for each byte of a response, with the events that follow.
const OF_SESSION: usize = 16;

/// How many bytes a session holds at most while it is given a whole body at once, and what follows
/// from that.
fn held_by_session(shape: &Shape, length: usize, max_items: u32) -> (usize, usize) {
    let mut config = preset(ConfigPreset::Modern, shape.wire);
    config.response.max_items = max_items;
    let mut host = TestHost::open(config);
    let _ = host.submit("go");
    let (id, body) = (*host.calls.last().unwrap(), BodyBytes(shape.body(length).into()));
    let _ = host.http(HttpInput::Head(head(200, "")));
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let bytes = body.0.len();
    let mut given = |input| host.session.handle(Input::Http { id, input }, SessionInstant(1)).ok();
    let chunk = given(HttpInput::Chunk(body));
    // A reply that is wrong ends with its bytes, and the response with it.
    let end = given(HttpInput::End);
    drop((chunk, end));
    (MEMORY.peak_usage() - before, bytes)
}

#[test]
fn x10_a_session_holds_at_most_sixteen_times_a_response_that_comes_at_once() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut faults = Vec::new();
    for shape in shapes() {
        let (held, bytes) = held_by_session(&shape, 100_000, 100);
        if held > OF_SESSION * bytes + PER_ITEM * 100 + 4 * ALWAYS {
            let begin: String = shape.body(1).chars().take(200).collect();
            faults.push(format!("{}: {held} of {bytes}: {begin}", shape.name));
        }
    }
    assert!(faults.is_empty(), "{} shapes\n{}", faults.len(), faults.join("\n"));
}

/// A long id that each piece of a call would have a copy of, and calls that take turns.
#[test]
fn x10_calls_that_take_turns_do_not_multiply_their_ids() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let id = "i".repeat(3_000);
    let begins = |index| {
        format!(
            r#"{{"index":{index},"id":"{id}{index}","function":{{"name":"f","arguments":"a"}}}}"#
        )
    };
    let goes_on = |index| format!(r#"{{"index":{index},"function":{{"arguments":"a"}}}}"#);
    for calls in [2, 20, 90] {
        let calls_of = |each: &dyn Fn(usize) -> String| {
            let calls: Vec<String> = (0..calls).map(each).collect();
            format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, calls.join(","))
        };
        let (begin, more) = (calls_of(&begins), calls_of(&goes_on));
        let body =
            format!("data: {begin}\n\n") + &format!("data: {more}\n\n").repeat(4_000 / calls);
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let mut decoder = Decoder::new(WireKind::OpenaiChat, &head(200, ""));
        let mut pieces = Vec::new();
        decoder.feed(body.as_bytes(), &mut pieces);
        let held = MEMORY.peak_usage() - before;
        assert!(held <= OF_SESSION * body.len(), "{calls} calls: {held} of {}", body.len());
    }
}

/// What calls in text are made of, again and again: each shape as what comes before, what repeats,
/// and what comes behind.
const IN_TEXT: [(&str, &str, &str); 14] = [
    ("[", "f(a=1),", "]"),
    ("<|python_start|>", "f()\n", ""),
    ("[f(", "a=1,", ")]"),
    ("[f(a={", "'k':1,", "})]"),
    ("[f(a=[", "1,", "])]"),
    ("[f(a=[", "{},", "])]"),
    ("<tool_call>[", "{\"name\":\"f\"},", "]</tool_call>"),
    ("<tool_call>", "{\"name\":\"f\"}", "</tool_call>"),
    ("", "<tool_call>f</tool_call>", ""),
    ("<tool_call>{\"name\":\"f\",\"arguments\":[", "1,", "1]}</tool_call>"),
    ("<|tool_call>call:f{a:[", "1,", "]}<tool_call|>"),
    ("<｜DSML｜calls>", "<｜DSML｜invoke name=f/>", "</｜DSML｜calls>"),
    ("<tool_call>{'name':'f','arguments':[", "{},", "]}</tool_call>"),
    ("", "<think>a</think>", ""),
];

/// As many fields as fit, each with a name of its own.
fn fields(open: &str, field: impl Fn(usize) -> String, close: &str) -> String {
    let mut text = String::from(open);
    for number in 0.. {
        if text.len() > LONG {
            break;
        }
        text.push_str(&field(number));
    }
    text + close
}

/// How many more may be held for each call that is read.
const PER_CALL: usize = 400;

/// How long such a text is.
const LONG: usize = 200_000;

#[test]
fn x10_calls_in_text_hold_at_most_sixteen_times_their_bytes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut texts: Vec<String> = IN_TEXT
        .iter()
        .map(|(before, body, behind)| format!("{before}{}{behind}", body.repeat(LONG / body.len())))
        .collect();
    texts.push(fields("[f(", |number| format!("a{number}=1,"), ")]"));
    texts.push(fields("[f(a={", |number| format!("{number}:1,"), "})]"));
    texts.push(fields("<|tool_call>call:f{", |number| format!("{number}:1,"), "}<tool_call|>"));
    texts.push(fields(
        "<tool_call>f<function=f>",
        |number| format!("<parameter={number}>1</parameter>"),
        "</function>",
    ));
    let mut faults = Vec::new();
    for text in texts {
        for size in [4_096, LONG] {
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            let (mut scanner, mut pieces) = (TextScanner::new(Family::Auto), Vec::new());
            for chunk in text.as_bytes().chunks(size) {
                scanner.feed(&String::from_utf8_lossy(chunk), &mut pieces);
                pieces = Vec::new();
            }
            let parsed = scanner.finish(&[], &mut pieces);
            let held = MEMORY.peak_usage() - before;
            if held > 16 * text.len() + PER_CALL * 1_001 {
                let begin: String = text.chars().take(60).collect();
                let (calls, each) = (parsed.calls.len(), held / text.len());
                faults.push(format!("{held} bytes, {each} a byte, {calls} calls: {begin}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} shapes\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_session_of_a_blueprint_takes_four_kilobytes() {
    const SESSIONS: usize = 1_000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut lines = LineServer::default();
    let endpoint = r#"{"provider":"anthropic","key":"sk-ant-0123456789"}"#;
    let model = r#"{"endpoint":"anthropic","name":"claude"}"#;
    let blueprint = format!(
        r#"{{"blueprint":{{"config":{{"id":"a","model":{model}}},"parts":{{"endpoints":[{endpoint}]}}}}}}"#
    );
    assert!(lines.call(blueprint.as_bytes()).starts_with("{\"blueprint\":1}"));
    let before = MEMORY.current_usage();
    for number in 0..SESSIONS {
        let open = format!(r#"{{"open":{{"blueprint":1,"id":"session-{number}","wall":0}}}}"#);
        assert!(lines.call(open.as_bytes()).starts_with("{\"session\":"));
    }
    let each = (MEMORY.current_usage() - before) / SESSIONS;
    assert!(each <= 4_096, "{each} bytes");
}

//! No response costs more than its length: of hostile shapes for each protocol, the work is counted
//! in bytes and slots that are looked at, at one, two and four times a length.

use innerloop_core::{Decoder, config::WireKind, steps};
use innerloop_tests::{
    feeding::head,
    hostile::{PER_BYTE, Shape, shapes},
};
use std::collections::BTreeMap;

/// The shortest length of each shape, in bytes.
const LENGTH: usize = 4_000;

/// How much is looked at while a body is read in pieces of so many bytes.
fn steps_of(wire: WireKind, status: u16, body: &str, piece: usize) -> usize {
    let _ = steps();
    let mut decoder = Decoder::new(wire, &head(status, ""));
    let mut pieces = Vec::new();
    for chunk in body.as_bytes().chunks(piece) {
        decoder.feed(chunk, &mut pieces);
        pieces.clear();
    }
    drop(decoder.finish());
    steps()
}

/// Says what is wrong with a shape, if anything is.
fn fault(shape: &Shape, status: u16, piece: usize) -> Option<String> {
    let bodies = [1, 2, 4].map(|times| shape.body(times * LENGTH));
    let counted = bodies.each_ref().map(|body| steps_of(shape.wire, status, body, piece));
    // Twice the length is twice the work, but for the length of the numbers in it.
    let grows = |less: usize, more: usize| more > less * 2 + less / 50 + 500;
    let costs_too_much =
        counted.iter().zip(&bodies).any(|(steps, body)| *steps > PER_BYTE * body.len());
    let is_wrong = grows(counted[0], counted[1]) || grows(counted[1], counted[2]) || costs_too_much;
    let begin = bodies[0].get(..300).unwrap_or_default();
    let what = || format!("{}, status {status}, by {piece}: {counted:?} for {begin}", shape.name);
    is_wrong.then(what)
}

#[test]
fn x10_no_response_costs_more_than_its_length() {
    let shapes = shapes();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for shape in &shapes {
        *counts.entry(format!("{:?}", shape.wire)).or_default() += 1;
    }
    assert!(counts.len() == 5 && counts.values().all(|count| *count >= 70), "{counts:?}");
    let ways = [(200, 64), (400, usize::MAX)];
    let each = |shape| ways.iter().filter_map(move |(status, piece)| fault(shape, *status, *piece));
    let faults: Vec<String> = shapes.iter().flat_map(each).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

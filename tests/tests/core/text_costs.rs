//! What a hostile text costs: for each family of calls in text, some 150 shapes at three lengths,
//! with tools and without, whole and streamed. The bytes that are looked at are counted, not
//! seconds, and they grow no faster than the text.

use innerloop_core::{
    json::Json,
    steps,
    text_calls::{Family, TextScanner, parse},
    tool::ToolSpec,
};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::Path, thread};

/// How many bytes are looked at at most for each byte of a text.
const PER_BYTE: usize = 200;

/// How many bytes are looked at at most beside that, however short the text is.
const AT_LEAST: usize = 16_384;

/// How long the shortest text is; the others are twice and four times as long.
const LENGTH: usize = 1_024;

/// How many shapes there are for each family.
const SHAPES: usize = 150;

/// What the calls of a family consist of; without a name what all share: the beginnings of JSON,
/// lists, strings, fences, tags of thinking and of other families, white space, and letters of
/// more than one byte.
fn tokens(family: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/text_costs.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let mut rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let row = rows.find(|row| row["family"] == family).unwrap();
    serde_json::from_value(row["tokens"].clone()).unwrap()
}

/// A text: something before, something again and again, something behind.
#[derive(Debug)]
struct Shape {
    before: String,
    body: String,
    after: String,
}

impl Shape {
    fn text(&self, length: usize) -> String {
        let room = length.saturating_sub(self.before.len() + self.after.len());
        let times = room / self.body.len() + 1;
        [self.before.as_str(), &self.body.repeat(times), &self.after].concat()
    }
}

/// Each token alone, and tokens at random from the family and from what all share: one to four
/// that repeat, with one before them and one behind.
fn shapes(name: &str) -> Vec<Shape> {
    let (own, shared) = (tokens(name), tokens(""));
    let mut rng = Rng(name.bytes().map(u64::from).sum());
    let alone = own.iter().map(|token| (String::new(), token.clone(), String::new()));
    let mut shapes: Vec<Shape> = alone.map(shape).collect();
    while shapes.len() < SHAPES {
        let pick = |rng: &mut Rng| match rng.index(3) {
            0 => shared[rng.index(shared.len())].clone(),
            _ => own[rng.index(own.len())].clone(),
        };
        let (count, first) = (1 + rng.index(4), rng.index(own.len()));
        // Tokens that stand in their order promise the most.
        let body: String = match rng.index(3) {
            0 => own.iter().cycle().skip(first).take(count).map(String::as_str).collect(),
            _ => (0..count).map(|_| pick(&mut rng)).collect(),
        };
        let side = |rng: &mut Rng| if rng.index(2) == 0 { String::new() } else { pick(rng) };
        let (before, after) = (side(&mut rng), side(&mut rng));
        shapes.push(shape((before, body, after)));
    }
    shapes
}

fn shape((before, body, after): (String, String, String)) -> Shape {
    Shape { before, body, after }
}

/// Numbers that look like chance and are always the same.
struct Rng(u64);

impl Rng {
    fn index(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// Tools with schemas small and large.
fn tools() -> Vec<ToolSpec> {
    let mut large = json!({"b": {"type": "object"}, "n": {"type": "integer"}});
    for number in 0..100 {
        large[format!("p{number}")] =
            json!({"type": ["string", "null"], "description": "Some text."});
    }
    let small = |name| (name, json!({"b": {"type": "array", "items": {"type": "integer"}}}));
    [("a", large), small("f"), small("g"), small("h")]
        .map(|(name, properties)| {
            ToolSpec::new(
                name,
                "",
                Json::parse(json!({"properties": properties}).to_string()).unwrap(),
            )
        })
        .into()
}

/// Counts the bytes that are looked at in a text.
type Count<'a> = &'a dyn Fn(&str) -> usize;

/// How many bytes are looked at while a text is taken apart.
fn whole(family: Family, text: &str, tools: &[ToolSpec]) -> usize {
    let _before = steps();
    let _parsed = parse(family, text, tools);
    steps()
}

/// How many bytes are looked at while a text is streamed in pieces of so many characters.
fn streamed(family: Family, text: &str, piece: usize) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(piece).map(|piece| piece.iter().collect()).collect();
    let (mut scanner, mut shown) = (TextScanner::new(family), Vec::new());
    let _before = steps();
    for piece in &pieces {
        scanner.feed(piece, &mut shown);
    }
    steps()
}

/// What one way of reading a shape costs at lengths that double, if that is too much.
fn excess(shape: &Shape, count: Count<'_>) -> Option<Vec<usize>> {
    let (mut counts, mut is_bounded) = (Vec::new(), true);
    for times in [1, 2, 4, 8, 16, 32, 64] {
        let text = shape.text(times * LENGTH);
        let (before, steps) = (counts.last().copied().unwrap_or_default(), count(&text));
        counts.push(steps);
        is_bounded &= steps <= text.len() * PER_BYTE + AT_LEAST;
        // What is tried in vain costs more with each byte until it has used up what it may.
        let is_linear = steps <= before * 23 / 10 + AT_LEAST;
        if times >= 4 && is_linear {
            return (!is_bounded).then_some(counts);
        }
    }
    Some(counts)
}

/// Holds all shapes of a family against the bounds; tells what exceeds them.
fn check(name: &str) -> String {
    let family: Family = name.parse().unwrap();
    let (tools, mut wrong) = (tools(), String::new());
    for (number, shape) in shapes(name).iter().enumerate() {
        let piece = [1, 7, 64][number % 3];
        let ways: [(&str, Count<'_>); 4] = [
            ("whole", &|text| whole(family, text, &[])),
            ("with tools", &|text| whole(family, text, &tools)),
            ("streamed", &|text| streamed(family, text, piece)),
            ("in one piece", &|text| streamed(family, text, usize::MAX)),
        ];
        for (way, count) in ways {
            if let Some(counts) = excess(shape, count) {
                let _written = writeln!(wrong, "{name}, {way}: {counts:?} for {shape:?}");
            }
        }
    }
    wrong
}

#[test]
fn x10_no_text_costs_more_than_its_length() {
    let wrong: String = thread::scope(|scope| {
        let checks = Family::ALL.map(|(name, _)| scope.spawn(move || check(name)));
        checks.into_iter().map(|check| check.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

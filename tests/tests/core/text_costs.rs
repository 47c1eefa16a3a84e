//! What a hostile text costs: for each family of calls in text, some 150 shapes at three lengths,
//! with tools and without, whole and streamed. The bytes that are looked at are counted, not
//! seconds, and they grow no faster than the text.

use innerloop_core::{
    json::Json,
    steps,
    text_calls::{Family, Scanner, parse},
    tool::ToolSpec,
};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::Path};

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
        .map(|(name, properties)| ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: Json::parse(json!({"properties": properties}).to_string()).unwrap(),
            read_only: false,
            timeout_ms: None,
            freeform: None,
        })
        .into()
}

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
    let (mut scanner, mut shown) = (Scanner::new(family), Vec::new());
    let _before = steps();
    for piece in &pieces {
        scanner.feed(piece, &mut shown);
    }
    steps()
}

/// Holds all shapes of a family against the bounds.
fn check(name: &str) {
    let family: Family = name.parse().unwrap();
    let tools = tools();
    let (mut wrong, mut most) = (String::new(), 0);
    for (number, shape) in shapes(name).iter().enumerate() {
        let piece = [1, 7, 64][number % 3];
        let ways: [(&str, &dyn Fn(&str) -> usize); 4] = [
            ("whole", &|text| whole(family, text, &[])),
            ("with tools", &|text| whole(family, text, &tools)),
            ("streamed", &|text| streamed(family, text, piece)),
            ("in one piece", &|text| streamed(family, text, usize::MAX)),
        ];
        for (way, count) in ways {
            let (mut is_bounded, mut is_linear) = (true, true);
            let mut counts = Vec::new();
            for times in (0..).map(|power| 1 << power) {
                let text = shape.text(times * LENGTH);
                let (before, steps) = (counts.last().copied().unwrap_or_default(), count(&text));
                counts.push(steps);
                is_bounded &= steps <= text.len() * PER_BYTE + AT_LEAST;
                is_linear = steps <= before * 23 / 10 + AT_LEAST;
                most = most.max(steps.saturating_sub(AT_LEAST) / text.len());
                // A text that is tried in vain costs more with each byte until no more is tried.
                if (times >= 4 && is_linear) || times >= 64 {
                    break;
                }
            }
            if !(is_linear && is_bounded) {
                let _written = writeln!(wrong, "{counts:?} {way}: {shape:?}");
            }
        }
    }
    println!("{name}: {most} for each byte");
    assert!(wrong.is_empty(), "{name}:\n{wrong}");
}

macro_rules! families {
    ($($test:ident $name:ident)*) => {
        $(#[test]
        fn $test() {
            check(stringify!($name));
        })*

        #[test]
        fn x10_every_family_is_held_against_its_costs() {
            let known: Vec<&str> = Family::ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$(stringify!($name)),*]);
        }
    };
}

families! {
    x10_auto_costs_no_more_than_its_length auto
    x10_hermes_costs_no_more_than_its_length hermes
    x10_qwen3_coder_xml_costs_no_more_than_its_length qwen3_coder_xml
    x10_llama_json_costs_no_more_than_its_length llama_json
    x10_mistral_costs_no_more_than_its_length mistral
    x10_deepseek_costs_no_more_than_its_length deepseek
    x10_pythonic_costs_no_more_than_its_length pythonic
    x10_harmony_costs_no_more_than_its_length harmony
    x10_glm_costs_no_more_than_its_length glm
    x10_kimi_costs_no_more_than_its_length kimi
    x10_gemma_costs_no_more_than_its_length gemma
    x10_step3_costs_no_more_than_its_length step3
    x10_minimax_costs_no_more_than_its_length minimax
    x10_cohere_costs_no_more_than_its_length cohere
    x10_hunyuan_costs_no_more_than_its_length hunyuan
    x10_fenced_json_costs_no_more_than_its_length fenced_json
    x10_json_costs_no_more_than_its_length json
}

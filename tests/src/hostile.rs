//! Responses that are made to cost more than they say, of any length: streams and whole bodies put
//! together from the pieces in `fixtures/wire/hostile.txt`. A line of that file is what begins
//! something (`open`), what belongs to something (`unit`), the end of a stream, or a whole body:
//! what stands before, what is repeated, and what stands behind, parted by `…`. A `#` is a number.

use innerloop_core::config::WireKind;
use std::{fs, path::Path};

/// How many bytes and slots may be looked at for each byte of a response, however it is cut. It is
/// errors that cost so much, which are gone through for each of some hundred names and phrases.
pub const PER_BYTE: usize = 300;

/// A body of any length, of a protocol.
pub struct Shape {
    /// The protocol.
    pub wire: WireKind,
    /// What tells it from others.
    pub name: String,
    body: Body,
}

/// What it is made of.
#[derive(Clone)]
enum Body {
    Stream { opener: Option<String>, unit: String, numbers: Numbers, end: String },
    Whole { before: String, unit: String, behind: String, is_event: bool },
    Frame(&'static str),
}

/// How the number of an event is chosen.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// Always the first.
    Same,
    /// Each the next.
    Each,
    /// Those of the openers, from the last to the first.
    Back,
    /// One that was never opened.
    Unknown,
}

const NUMBERS: [Numbers; 4] = [Numbers::Same, Numbers::Each, Numbers::Back, Numbers::Unknown];

/// Lines of which a stream may consist whatever the protocol.
const FRAMES: [&str; 8] =
    ["data:\n", "data: \"\n", ": \r\n", "\n", "{", "data: {\n", "x", "data: [0,\n"];

impl Shape {
    /// The body, with at least so many bytes.
    #[must_use]
    pub fn body(&self, length: usize) -> String {
        match &self.body {
            Body::Frame(line) => line.repeat(length.div_ceil(line.len())),
            Body::Whole { before, unit, behind, is_event } => {
                let mut body = before.clone();
                // What repeats stands in a list, unless it brings its own comma or nests.
                let is_list = !unit.starts_with(',') && !unit.ends_with(['[', ':']);
                for count in 0.. {
                    if body.len() >= length {
                        break;
                    }
                    body += if count > 0 && is_list { "," } else { "" };
                    body += &numbered(unit, count);
                }
                body += behind;
                if *is_event { framed(self.wire, &body) } else { body }
            }
            Body::Stream { opener, unit, numbers, end } => {
                let (mut body, mut begun) = (String::new(), 0);
                while let Some(opener) = opener.as_ref().filter(|_| body.len() < length / 2) {
                    body += &framed(self.wire, &numbered(opener, begun));
                    begun += 1;
                }
                for count in 0.. {
                    if body.len() >= length {
                        break;
                    }
                    let number = match numbers {
                        Numbers::Same => 0,
                        Numbers::Each => count,
                        Numbers::Back => begun.saturating_sub(count + 1),
                        Numbers::Unknown => usize::MAX,
                    };
                    body += &framed(self.wire, &numbered(unit, number));
                }
                body + &framed(self.wire, end)
            }
        }
    }
}

/// All shapes.
///
/// # Panics
/// If the file cannot be read.
#[must_use]
pub fn shapes() -> Vec<Shape> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire/hostile.txt");
    let text = fs::read_to_string(path).unwrap();
    let sections = text.split("# ").filter(|section| section.contains('\n'));
    sections.flat_map(of_section).collect()
}

fn of_section(section: &str) -> Vec<Shape> {
    let (name, lines) = section.split_once('\n').unwrap();
    let wire: WireKind = serde_json::from_value(name.trim().into()).unwrap();
    let of = |kind: &str| -> Vec<&str> {
        lines.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' ')).collect()
    };
    let (openers, units) = (of("open"), of("unit"));
    let [end] = of("end")[..] else { panic!("one end in {name}") };
    let mut bodies = Vec::new();
    for opener in [None].into_iter().chain(openers.iter().copied().map(Some)) {
        for unit in units.iter().chain(&openers) {
            bodies.extend(NUMBERS.map(|numbers| Body::Stream {
                opener: opener.map(String::from),
                unit: (*unit).to_owned(),
                numbers,
                end: end.to_owned(),
            }));
        }
    }
    for body in of("body") {
        let [before, unit, behind] =
            [0, 1, 2].map(|at| body.split('…').nth(at).unwrap().to_owned());
        let whole = |is_event| Body::Whole {
            before: before.clone(),
            unit: unit.clone(),
            behind: behind.clone(),
            is_event,
        };
        bodies.extend([false, true].map(whole));
    }
    bodies.extend(FRAMES.map(Body::Frame));
    let shape = |(at, body): (usize, Body)| Shape { wire, name: format!("{name} {at}"), body };
    bodies.into_iter().enumerate().map(shape).collect()
}

fn numbered(unit: &str, number: usize) -> String {
    unit.replace('#', &number.to_string())
}

/// An event as the protocol frames it.
fn framed(wire: WireKind, data: &str) -> String {
    if wire == WireKind::Ollama { format!("{data}\n") } else { format!("data: {data}\n\n") }
}

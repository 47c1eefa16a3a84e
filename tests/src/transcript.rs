//! The conversation in lines that `docs/protocol.md` shows.

/// A request, and the lines of its answer; `…` in one stands for anything.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The request's line, with the bytes behind it.
    pub request: Vec<u8>,
    /// The answer's lines.
    pub answer: Vec<String>,
}

/// The conversation.
///
/// # Panics
/// The documentation has none, or it does not say whose a line is.
#[must_use]
pub fn exchanges() -> Vec<Exchange> {
    let document = include_str!("../../docs/protocol.md");
    let told = document.split("```transcript\n").nth(1).expect("a transcript");
    let told = told.split("```").next().unwrap_or_default();
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in told.lines() {
        let (mark, text) = line.split_once(' ').unwrap_or((line, ""));
        if mark == "→" {
            exchanges.push(Exchange::default());
        }
        let exchange = exchanges.last_mut().expect("a request comes first");
        match mark {
            "→" => exchange.request.extend(text.bytes()),
            "·" => exchange.request.extend([b"\n", text.as_bytes()].concat()),
            "←" => exchange.answer.push(text.to_owned()),
            _ => panic!("nobody says {line:?}"),
        }
    }
    exchanges
}

impl Exchange {
    /// Whether an answer is the one that is shown.
    #[must_use]
    pub fn fits(&self, answer: &str) -> bool {
        let lines: Vec<&str> = answer.lines().collect();
        lines.len() == self.answer.len()
            && self.answer.iter().zip(lines).all(|(shown, line)| line_fits(shown, line))
    }
}

fn line_fits(shown: &str, line: &str) -> bool {
    let Some((begin, mut shown)) = shown.split_once('…') else { return shown == line };
    let Some(mut rest) = line.strip_prefix(begin) else { return false };
    while let Some((piece, further)) = shown.split_once('…') {
        let Some((_, behind)) = rest.split_once(piece) else { return false };
        (shown, rest) = (further, behind);
    }
    rest.ends_with(shown)
}

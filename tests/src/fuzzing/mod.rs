//! What must hold for any bytes. The fuzz targets in `fuzz/` and the tests share these checks; the
//! tests run them over the seeds and over changes of them. An input is a byte that chooses the
//! setting, two that choose how the rest is cut into pieces, and the rest.

mod change;
mod framing;
mod seeds;

pub use change::changed;

use crate::{feeding, hostile, simulator::rng::Rng, wires::WIRES};
use innerloop_core::{
    Decoder, ReplyPiece, RequestHead, RequestPrefix,
    action::{Action, Patch, PatchStream},
    config::{ModelConfig, WireKind},
    input::ResponseHead,
    message::{Reply, VisibleTurn},
    steps,
    text_calls::{Family, TextScanner, parse},
};
use innerloop_driver::decode::decode;
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform};
use serde::de::IgnoredAny;
use std::{borrow::Cow, fs, iter, mem, path::Path};

/// Something that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and of its file in `fuzz/targets`.
    pub name: &'static str,
    /// Panics if something does not hold for an input.
    pub check: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

impl Target {
    /// The inputs to begin with, and those that have shown a fault.
    ///
    /// # Panics
    /// If a file cannot be read.
    #[must_use]
    pub fn inputs(&self) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/findings");
        let own = FINDINGS.iter().filter(|name| name.split('-').next() == Some(self.name));
        let found = own.map(|name| fs::read(folder.join(name)).unwrap());
        (self.seeds)().into_iter().chain(found).collect()
    }
}

/// What fuzzers have found: a file each, named after the target and what is odd about it.
const FINDINGS: [&str; 3] =
    ["anthropic-names_with_escapes", "gemini-names_with_escapes", "openai_chat-names_with_escapes"];

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target { name: "sse", check: sse, seeds: seeds::sse },
    Target { name: "openai_responses", check: openai_responses, seeds: seeds::openai_responses },
    Target { name: "openai_chat", check: openai_chat, seeds: seeds::openai_chat },
    Target { name: "anthropic", check: anthropic, seeds: seeds::anthropic },
    Target { name: "gemini", check: gemini, seeds: seeds::gemini },
    Target { name: "ollama", check: ollama, seeds: seeds::ollama },
    Target { name: "text_calls", check: text_calls, seeds: seeds::text_calls },
    Target { name: "patch", check: patch, seeds: seeds::patch },
];

/// Server-sent events say the same however they are framed.
pub fn sse(data: &[u8]) {
    let Some(mut input) = Input::read(data) else { return };
    // The fifth protocol has no such events, and neither has an error's body.
    let (wire, head) = (WIRES[input.setting % 4], feeding::head(200, "text/event-stream"));
    let plain = framing::plain(input.rest);
    let whole = decode(wire, &head, iter::once(plain.as_slice()));
    for _ in 0..3 {
        let framed = framing::framed(input.rest, &mut input.rng);
        let pieces = cut(&framed, &mut input.rng);
        let other = decode(wire, &head, pieces.into_iter());
        assert_eq!(other, whole, "framed as {:?}", String::from_utf8_lossy(&framed));
    }
}

/// The decoder of OpenAI Responses.
pub fn openai_responses(data: &[u8]) {
    decoder(WireKind::OpenaiResponses, data);
}

/// The decoder of OpenAI Chat Completions.
pub fn openai_chat(data: &[u8]) {
    decoder(WireKind::OpenaiChat, data);
}

/// The decoder of Anthropic Messages.
pub fn anthropic(data: &[u8]) {
    decoder(WireKind::Anthropic, data);
}

/// The decoder of Gemini.
pub fn gemini(data: &[u8]) {
    decoder(WireKind::Gemini, data);
}

/// The decoder of Ollama.
pub fn ollama(data: &[u8]) {
    decoder(WireKind::Ollama, data);
}

/// A body says the same in any chunking, a cut one neither panics nor invents a call, and what was
/// read can be sent back to each provider.
fn decoder(wire: WireKind, data: &[u8]) {
    let Some(mut input) = Input::read(data) else { return };
    let (head, body) = (input.head(), input.rest);
    let _ = steps();
    let whole = decode(wire, &head, iter::once(body));
    check_cost(body);
    for _ in 0..2 {
        let pieces = cut(body, &mut input.rng);
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
        let _ = steps();
        assert_eq!(decode(wire, &head, pieces.into_iter()), whole, "in pieces of {lengths:?}");
        check_cost(body);
    }
    let kept = &body[..input.rng.index(body.len() + 1)];
    let part = decode(wire, &head, iter::once(kept));
    assert!(part.error.is_none() || part.tool_calls.is_empty(), "calls beside an error");
    let mut decoder = Decoder::new(wire, &head);
    decoder.feed(body, &mut Vec::new());
    if let Ok(reply) = decoder.finish() {
        send_back(&reply);
    }
}

/// What was read cost no more than its length.
fn check_cost(body: &[u8]) {
    let (steps, most) = (steps(), hostile::PER_BYTE * body.len() + 1_000);
    assert!(steps <= most, "{steps} bytes and slots looked at for {}", body.len());
}

/// The reply as part of a request in each protocol: JSON each time.
fn send_back(reply: &Reply) {
    for wire in WIRES {
        let model = ModelConfig { wire, ..ModelConfig::default() };
        let head = RequestHead::new(&model, "Be brief.", iter::empty());
        let mut prefix = RequestPrefix::new(&model);
        prefix.push(VisibleTurn::Assistant(Cow::Borrowed(reply)));
        let body = prefix.request(&head, &model, "key").body.0;
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(&body) {
            panic!("{wire:?}: {error}: {}", String::from_utf8_lossy(&body));
        }
    }
}

/// A model's text says the same in any chunking, and nothing is shown of it that is not in it.
pub fn text_calls(data: &[u8]) {
    let Some(mut input) = Input::read(data) else { return };
    let (_, family) = Family::ALL[input.setting % Family::ALL.len()];
    let text = String::from_utf8_lossy(input.rest);
    let tools = seeds::tools();
    let tools = if input.setting < 128 { &tools[..] } else { &[] };
    let schemas: usize = tools.iter().map(|tool| tool.parameters.text().len()).sum();
    let check_cost = |extra: usize| {
        let (steps, most) = (steps(), 256 * text.len() + 65_536 + extra);
        assert!(steps <= most, "{steps} bytes looked at for {}", text.len());
    };
    let _ = steps();
    let whole = parse(family, &text, tools);
    check_cost(2 * schemas);
    for _ in 0..2 {
        let (mut scanner, mut pieces) = (TextScanner::new(family), Vec::new());
        let chunks = cut_text(&text, &mut input.rng);
        for chunk in &chunks {
            scanner.feed(chunk, &mut pieces);
        }
        check_cost(0);
        assert_eq!(scanner.finish(tools, &mut pieces), whole, "in pieces {chunks:?}");
        check_cost(2 * schemas);
        assert_eq!(
            shown(&pieces),
            (whole.text.clone(), whole.reasoning.clone()),
            "in pieces {chunks:?}"
        );
    }
}

/// What was shown, text and thinking.
fn shown(pieces: &[ReplyPiece]) -> (String, String) {
    let mut shown = (String::new(), String::new());
    for piece in pieces {
        match piece {
            ReplyPiece::Restart => shown = Default::default(),
            ReplyPiece::Text(more) => shown.0.push_str(more),
            ReplyPiece::Reasoning(more) => shown.1.push_str(more),
            ReplyPiece::Call(_) => {}
        }
    }
    shown
}

/// A patch says the same in any chunking, and applying it does not panic.
pub fn patch(data: &[u8]) {
    let Some(mut input) = Input::read(data) else { return };
    let text = String::from_utf8_lossy(input.rest);
    let whole = Patch::parse(&text);
    for _ in 0..2 {
        let pieces = cut_text(&text, &mut input.rng);
        let mut stream = PatchStream::default();
        let pushed = pieces.iter().try_for_each(|piece| stream.push(piece));
        let streamed = stream.finish();
        if pushed.is_err() {
            assert_eq!(pushed, streamed.clone().map(drop), "in pieces {pieces:?}");
        }
        assert_eq!(streamed, whole, "in pieces {pieces:?}");
    }
    let Ok(patch) = whole else { return };
    // A file that has the patch's own lines, so that some of its hunks are found.
    let old = text.lines().map(|line| line.get(1..).unwrap_or_default());
    let old: String = old.flat_map(|line| [line, "\n"]).collect();
    let mut files = InMemoryFiles::new();
    for affected in patch.paths() {
        if let Ok(path) = WorkspacePath::parse(affected.path) {
            // One path may name as a folder what another names as a file; then only one exists.
            let _refused = files.write(&path, old.clone().into_bytes());
        }
    }
    let outcome = perform(&mut files, &Action::patch(text));
    assert!(!outcome.joined_text().is_empty());
}

/// An input, taken apart.
struct Input<'a> {
    setting: usize,
    rng: Rng,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn read(data: &'a [u8]) -> Option<Self> {
        let (&[setting, a, b], rest) = data.split_first_chunk()?;
        let seed = u64::from(u16::from_le_bytes([a, b]));
        Some(Self { setting: setting.into(), rng: Rng::new(seed), rest })
    }

    /// The head of the response: mostly a success.
    fn head(&self) -> ResponseHead {
        let status = [200, 200, 200, 200, 200, 200, 429, 400][self.setting / 4 % 8];
        let content_type = ["text/event-stream", "application/json"][self.setting / 32 % 2];
        feeding::head(status, content_type)
    }
}

/// The bytes in pieces: of one byte each, or of any length.
fn cut<'a>(mut bytes: &'a [u8], rng: &mut Rng) -> Vec<&'a [u8]> {
    let most = [1, 4, 32, 256, 4_096][rng.index(5)];
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let length = 1 + rng.index(most.min(bytes.len()));
        let (piece, rest) = bytes.split_at(length);
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// As [`cut`], between characters.
fn cut_text(text: &str, rng: &mut Rng) -> Vec<String> {
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    for bytes in cut(text.as_bytes(), rng) {
        piece.extend_from_slice(bytes);
        if std::str::from_utf8(&piece).is_ok() {
            pieces.extend(String::from_utf8(mem::take(&mut piece)));
        }
    }
    pieces
}

//! `innerloop decode`: recorded responses in, one normalised line of JSON out for each.

use super::{
    args::{DecodeArgs, Wire},
    exit::Failure,
    say,
};
use innerloop_core::{
    bytes::Bytes,
    config::WireKind,
    decode::{Decoded, decode},
    input::ResponseHead,
    json::Json,
    time::UnixMillis,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::{BufRead, Read, stdin},
};

pub(super) fn run(args: &DecodeArgs) -> Result<(), Failure> {
    let unreadable = |error| Failure::usage(format!("cannot read standard input: {error}"));
    let wire = match args.wire {
        Wire::Anthropic => WireKind::Anthropic,
    };
    if args.jsonl {
        for (index, line) in stdin().lock().lines().enumerate() {
            let line = line.map_err(unreadable)?;
            if line.trim().is_empty() {
                continue;
            }
            let interaction: Interaction = serde_json::from_str(&line).map_err(|error| {
                Failure::usage(format!("line {} is no interaction: {error}", index + 1))
            })?;
            let (id, head, body) = interaction.parts(index + 1)?;
            say(&line_of(id, &answer(wire, &head, &body, args.chunk)));
        }
        return Ok(());
    }
    let mut body = Vec::new();
    stdin().lock().read_to_end(&mut body).map_err(unreadable)?;
    let head = ResponseHead { status: args.status, ..ResponseHead::default() };
    say(&line_of(Json::default(), &answer(wire, &head, &body, args.chunk)));
    Ok(())
}

/// One recorded exchange; the body is text, or bytes in base64.
#[derive(Deserialize)]
struct Interaction {
    #[serde(default)]
    id: Json,
    #[serde(default)]
    wire: Option<String>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_base64: Option<String>,
}

impl Interaction {
    fn parts(self, line: usize) -> Result<(Json, ResponseHead, Vec<u8>), Failure> {
        if let Some(wire) = self.wire.filter(|wire| wire != "anthropic") {
            return Err(Failure::usage(format!(
                "line {line} is of the wire {wire:?}; known: anthropic"
            )));
        }
        let head = ResponseHead {
            status: self.status.unwrap_or(200),
            headers: self.headers.into_iter().collect(),
            at: UnixMillis(0),
        };
        let body = match (self.body, self.body_base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(encoded)) => from_base64(&encoded)
                .map_err(|error| Failure::usage(format!("line {line} holds no base64: {error}")))?,
            (None, None) => Vec::new(),
        };
        Ok((self.id, head, body))
    }
}

fn from_base64(encoded: &str) -> Result<Vec<u8>, serde_json::Error> {
    let form = serde_json::json!({ "base64": encoded });
    Ok(serde_json::from_value::<Bytes>(form)?.0)
}

fn answer(wire: WireKind, head: &ResponseHead, body: &[u8], chunk: Option<u64>) -> Decoded {
    let size = chunk.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    decode(wire, head, body.chunks(size.max(1)))
}

#[derive(Serialize)]
struct Line<'a> {
    id: Json,
    #[serde(flatten)]
    decoded: &'a Decoded,
}

fn line_of(id: Json, decoded: &Decoded) -> String {
    serde_json::to_string(&Line { id, decoded }).unwrap_or_default()
}

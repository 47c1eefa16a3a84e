//! `innerloop decode`: reads recorded responses and prints one normalised line of JSON for each.
//! Every line of input gets a line of output, also one that can't be read.

use super::{
    args::{DecodeArgs, WireFormat},
    console::{note, shown},
    exit::CliError,
    interaction::{InputLineError, RecordedExchange},
    text_calls,
};
use innerloop_core::{config::WireKind, input::ResponseHead, json::Json};
use innerloop_driver::decode::{DecodedResponse, decode};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write, stdin, stdout};

/// The number of bytes that are read and written at once.
const BUFFER: usize = 1 << 16;

pub(super) fn run(args: &DecodeArgs) -> Result<(), CliError> {
    let unreadable = |error| CliError::usage(format!("cannot read standard input: {error}"));
    if let Some(family) = args.text_calls {
        return each_line(|line| text_calls::answer(line, family)).map_err(unreadable);
    }
    if args.jsonl {
        return each_line(|line| answer(line, args)).map_err(unreadable);
    }
    let mut body = Vec::new();
    stdin().lock().read_to_end(&mut body).map_err(unreadable)?;
    let head = ResponseHead { status: args.status, ..ResponseHead::default() };
    let wire = args.wire.ok_or_else(|| CliError::usage("--wire is missing"))?;
    let decoded = decoded(wire.kind(), &head, &body, args.chunk);
    note(writeln!(stdout().lock(), "{}", shown(&decoded.line(&Json::default()))));
    Ok(())
}

/// Prints what `answer` returns for each line of standard input that is not blank. The output is
/// flushed whenever no more input is buffered, for programs that wait for each answer.
fn each_line(mut answer: impl FnMut(&[u8]) -> String) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, stdin().lock());
    let mut out = BufWriter::with_capacity(BUFFER, stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let written = writeln!(out, "{}", shown(&answer(&line)));
            let flushed = if input.buffer().is_empty() { out.flush() } else { Ok(()) };
            if let Err(error) = written.and(flushed) {
                note(Err(error));
                return Ok(());
            }
        }
        line.clear();
    }
    note(out.flush());
    Ok(())
}

/// Returns the answer to one line: the decoded response, or the reason why it can't be read.
fn answer(line: &[u8], args: &DecodeArgs) -> String {
    let default = args.wire.map(WireFormat::kind);
    match RecordedExchange::read(line, default, args.status) {
        Ok(RecordedExchange { id, wire, head, body }) => {
            decoded(wire, &head, &body, args.chunk).line(&id)
        }
        Err(InputLineError { id, why }) => DecodedResponse::unreadable(why).line(&id),
    }
}

fn decoded(
    wire: WireKind,
    head: &ResponseHead,
    body: &[u8],
    chunk: Option<u64>,
) -> DecodedResponse {
    let size = chunk.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    decode(wire, head, body.chunks(size.max(1)))
}

//! A line of `innerloop decode --jsonl`: a recorded exchange with a model. A line that can't be
//! read is an error with the line's id; nothing in it is guessed.

use super::args::WireFormat;
use clap::ValueEnum;
use innerloop_core::{
    bytes::BodyBytes,
    config::WireKind,
    input::ResponseHead,
    json::{Json, JsonObject, Reader},
    time::UnixMillis,
};
use std::{borrow::Cow, str::from_utf8};

/// A recorded exchange: `{id, wire, status, headers, body | body_base64}`.
pub(super) struct RecordedExchange {
    pub(super) id: Json,
    pub(super) wire: WireKind,
    pub(super) head: ResponseHead,
    pub(super) body: Vec<u8>,
}

/// The error of a line that can't be read.
pub(super) struct InputLineError {
    /// The line's id, as far as it can be read.
    pub(super) id: Json,
    /// The problem with the line, and what would be right.
    pub(super) why: String,
}

impl RecordedExchange {
    /// Reads a line; `wire` and `status` are those of lines that name none.
    pub(super) fn read(
        line: &[u8],
        wire: Option<WireKind>,
        status: u16,
    ) -> Result<Self, InputLineError> {
        let fields = fields(line)?;
        let id = fields.field("id").cloned().unwrap_or_default();
        let read = || {
            let wire = wire_of(&fields, wire)?;
            let head = ResponseHead {
                status: status_of(&fields, status)?,
                headers: headers_of(&fields)?,
                at: UnixMillis(0),
            };
            Ok((wire, head, body_of(&fields)?))
        };
        match read() {
            Ok((wire, head, body)) => Ok(Self { id, wire, head, body }),
            Err(why) => Err(InputLineError { id, why }),
        }
    }
}

/// Reads the fields of a line that is one JSON object.
pub(super) fn fields(line: &[u8]) -> Result<JsonObject, InputLineError> {
    // Some editors and Windows tools begin a file with a byte order mark.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let misread = |why: String| {
        let text = String::from_utf8_lossy(line);
        let object = serde_json::from_str::<JsonObject>(&text).unwrap_or_default();
        let id = object.field("id").cloned().or_else(|| first_id(&text)).unwrap_or_default();
        InputLineError { id, why }
    };
    let text = from_utf8(line).map_err(|error| {
        misread(format!("the line is not UTF-8 from its byte {} on", error.valid_up_to() + 1))
    })?;
    serde_json::from_str(text)
        .map_err(|error| misread(format!("the line is not one JSON object: {error}")))
}

/// Returns the id at the beginning of a line that is broken after it.
fn first_id(text: &str) -> Option<Json> {
    let rest = text.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?;
    serde_json::Deserializer::from_str(rest).into_iter::<Json>().next()?.ok()
}

/// Returns the text of a field that is there and not null.
fn given<'a>(fields: &'a JsonObject, name: &str) -> Option<&'a str> {
    fields.field(name).map(Json::text).filter(|text| *text != "null")
}

/// Returns the string of a field. A lone surrogate, which no string of Rust can hold, becomes
/// U+FFFD.
pub(super) fn text_of(fields: &JsonObject, name: &str) -> Result<Option<String>, String> {
    let Some(json) = given(fields, name) else { return Ok(None) };
    text(json).map(Some).ok_or_else(|| format!("`{name}` is not a string"))
}

/// Returns the value of a JSON string.
fn text(json: &str) -> Option<String> {
    Reader::new(json).string_lossy().ok().map(Cow::into_owned)
}

fn wire_of(fields: &JsonObject, default: Option<WireKind>) -> Result<WireKind, String> {
    let known = || {
        let names = WireFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        names.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    match text_of(fields, "wire")? {
        None => default.ok_or_else(|| {
            format!("`wire` is missing, and there is no --wire; known: {}", known())
        }),
        Some(name) => WireFormat::from_str(&name, false)
            .map(WireFormat::kind)
            .map_err(|_| format!("`wire` is {name:?}; known: {}", known())),
    }
}

fn status_of(fields: &JsonObject, default: u16) -> Result<u16, String> {
    let Some(json) = given(fields, "status") else { return Ok(default) };
    let status = serde_json::from_str::<u16>(json).ok();
    status
        .filter(|status| (100..600).contains(status))
        .ok_or_else(|| "`status` is not a number from 100 to 599".to_owned())
}

/// Reads the headers. A list of values becomes one value with commas (RFC 9110, 5.3), a number its
/// digits; a header that is null is left out.
fn headers_of(fields: &JsonObject) -> Result<Vec<(String, String)>, String> {
    let Some(json) = given(fields, "headers") else { return Ok(Vec::new()) };
    let headers: JsonObject =
        serde_json::from_str(json).map_err(|_| "`headers` is not an object".to_owned())?;
    let mut read = Vec::with_capacity(headers.0.len());
    for (name, value) in &headers.0 {
        if let Some(value) = header(value.text()).map_err(|()| {
            format!("the header {name:?} is neither a string nor a list of strings")
        })? {
            read.push((name.to_ascii_lowercase(), value));
        }
    }
    Ok(read)
}

fn header(json: &str) -> Result<Option<String>, ()> {
    match json.as_bytes().first() {
        Some(b'"') => text(json).map(Some).ok_or(()),
        Some(b'[') => {
            let items: Vec<Json> = serde_json::from_str(json).map_err(|_| ())?;
            let values: Result<Vec<_>, ()> = items.iter().map(|item| header(item.text())).collect();
            Ok(Some(values?.into_iter().flatten().collect::<Vec<_>>().join(", ")))
        }
        Some(b'n') => Ok(None),
        Some(b'{') | None => Err(()),
        Some(_) => Ok(Some(json.to_owned())),
    }
}

fn body_of(fields: &JsonObject) -> Result<Vec<u8>, String> {
    if let Some(text) = text_of(fields, "body")? {
        return Ok(text.into_bytes());
    }
    let Some(json) = given(fields, "body_base64") else { return Ok(Vec::new()) };
    // Read as the core reads a body, so that both accept the same base64.
    let bytes: Result<BodyBytes, _> = serde_json::from_str(&format!("{{\"base64\":{json}}}"));
    bytes.map(|bytes| bytes.0).map_err(|error| format!("`body_base64` is not base64: {error}"))
}

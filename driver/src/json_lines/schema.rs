//! The schemas of the JSON of requests and of answers, from which the published JSON Schema and the
//! types of other languages are made.

use super::{answer::AnswerLine, request::LineRequest};
use crate::traffic::TrafficExchange;
use innerloop_core::log;
use innerloop_json::schema::{
    ReadSchema, SchemaTable, TypeBody, ValueSchema, VariantContent, VariantSchema, WriteSchema,
};

/// Returns the schema of a request's line, and enters its types into the table.
pub fn request_schema(table: &mut SchemaTable) -> ValueSchema {
    LineRequest::read_schema(table)
}

/// Returns the schema of a line of an answer, and enters its types into the table. Lines of the log
/// and of a recording, which stand in an answer as they are, are included.
pub fn line_schema(table: &mut SchemaTable) -> ValueSchema {
    // `AnswerBuffer` copies these two as text, so that the derived type does not have them.
    let value = AnswerLine::write_schema(table);
    let copied = [
        (
            "entry",
            "A line of the log, to be made durable before what follows.",
            log::line_schema(table),
        ),
        ("recording", "A line of the recording.", TrafficExchange::write_schema(table)),
    ];
    let line = table.types.iter_mut().find(|own| own.name == "AnswerLine");
    if let Some(TypeBody::Choice(line)) = line.map(|line| &mut line.body) {
        line.variants.extend(copied.map(|(name, docs, value)| VariantSchema {
            name: name.into(),
            docs: docs.into(),
            content: VariantContent::Value(value),
        }));
    }
    value
}

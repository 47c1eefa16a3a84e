//! What the JSON of requests and of lines is, for those who describe it elsewhere.

use super::{answer::AnswerLine, request::LineRequest};
use crate::traffic::TrafficExchange;
use innerloop_core::log;
use innerloop_json::schema::{
    ReadSchema, SchemaTable, TypeBody, ValueSchema, VariantContent, VariantSchema, WriteSchema,
};

/// Returns what the JSON of a request's line is.
pub fn request_schema(table: &mut SchemaTable) -> ValueSchema {
    LineRequest::read_schema(table)
}

/// Returns what the JSON of a line of an answer is; that of the log and of a recording included,
/// which stand in it as they are.
pub fn line_schema(table: &mut SchemaTable) -> ValueSchema {
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

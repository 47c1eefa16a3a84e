//! The JSON Schema of a Rust type, as a model reads it.

use innerloop_core::json::Json;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

/// The JSON Schema of a type, in one piece and without a title: both are more tokens for a model,
/// and some providers take no references.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    // What is written as JSON is JSON.
    Json::parse(schema.as_value().to_string()).unwrap_or_default()
}

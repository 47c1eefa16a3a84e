//! The JSON Schema of a Rust type, in the form in which a model reads it.

use innerloop_core::json::Json;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

/// Returns the JSON Schema of a type, in one piece and without a title.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Json {
    // Inlined, since some providers take no references. A title and the dialect's address only cost
    // tokens.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    // Our own JSON can always be read.
    Json::parse(schema.as_value().to_string()).unwrap_or_default()
}

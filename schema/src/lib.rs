//! The public JSON for other languages. The derives know the names, shapes and documentation of all
//! public types; from them the JSON Schema and the types of TypeScript and Python are generated
//! here. The files lie where they are used, and the test `fresh` fails if one is out of date:
//! `UPDATE_EXPECT=1 cargo test -p innerloop-schema` writes them again.
#![forbid(unsafe_code)]

mod docs;
mod json_schema;
mod json_text;
mod patches;
mod python;
mod types;
mod typescript;

pub use types::MadeFile;
use types::PublicTypes;

/// Returns all generated files.
#[must_use]
pub fn files() -> Vec<MadeFile> {
    let types = PublicTypes::collect();
    let mut files =
        vec![MadeFile { path: "docs/lines.schema.json", text: json_schema::lines_schema(&types) }];
    files.extend(typescript::files(&types));
    files.extend(python::files(&types));
    files
}

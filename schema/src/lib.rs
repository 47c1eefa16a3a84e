//! The public JSON, told to others. The derives know names, shapes and words of all public types;
//! of that is made here what JSON Schema, TypeScript and Python say of them. The files lie where
//! they are used, and the test `fresh` holds them: `UPDATE_EXPECT=1 cargo test -p innerloop-schema`
//! writes them again.
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

/// The files.
#[must_use]
pub fn files() -> Vec<MadeFile> {
    let types = PublicTypes::collect();
    let mut files =
        vec![MadeFile { path: "docs/lines.schema.json", text: json_schema::lines_schema(&types) }];
    files.extend(typescript::files(&types));
    files.extend(python::files(&types));
    files
}

//! Errors as JSON, for hosts in other languages.

use crate::{
    error::{Error, JsonFault},
    traits::ToJson,
    writer::Writer,
};
use alloc::string::String;
use innerloop_json_derive::ToJson;

/// An error as JSON.
#[derive(ToJson)]
struct ErrorJson<'a> {
    path: String,
    #[json(flatten)]
    fault: &'a JsonFault,
    line: usize,
    column: usize,
}

/// As `{"path": …, "kind": …, "line": …, "column": …}`, with what the kind tells beside it.
impl ToJson for Error {
    fn write(&self, writer: &mut Writer) {
        let (fault, line, column) = (self.fault(), self.line(), self.column());
        ErrorJson { path: self.path(), fault, line, column }.write(writer);
    }
}

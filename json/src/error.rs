//! What is wrong with a text, and where.

use alloc::{boxed::Box, format, string::String};
use core::fmt;

/// What is wrong with a JSON text: a sentence, the path of the value, its line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    message: String,
    path: String,
    /// The field that is wrong in the object at the path: the message names it.
    field: Option<String>,
    line: usize,
    column: usize,
}

impl Error {
    /// A fault with a message of its own behind the first `at` bytes of `text`.
    pub(crate) fn new(message: String, text: &str, at: usize) -> Self {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        Self(Box::new(Fault { message, path: String::new(), field: None, line, column }))
    }

    /// The same fault, of an object's field that should not be there or is missing.
    pub(crate) fn about(mut self, field: &str) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// The same fault, seen from the object whose field `name` holds it.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') { "" } else { "." };
        self.0.path = format!("{name}{dot}{}", self.0.path);
        self
    }

    /// The same fault, seen from the array whose element `index` holds it.
    #[must_use]
    pub fn within_element(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the text ended too early, so that it may be the beginning of a valid one.
    #[must_use]
    pub fn is_eof(&self) -> bool {
        self.0.message.starts_with("EOF")
    }

    /// The path of the value that is wrong, as `tools[2].name`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> String {
        let Fault { path, field, .. } = &*self.0;
        match field {
            Some(field) if path.is_empty() => field.clone(),
            Some(field) => format!("{path}.{field}"),
            None => path.clone(),
        }
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The column in bytes, counted from 1; 0 stands before the line's first byte.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { message, path, line, column, .. } = &*self.0;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{message} at line {line} column {column}")
    }
}

impl core::error::Error for Error {}

//! The fault of a JSON text and its place: a kind and a path for programs, a sentence for people.

use crate::text::joined;
use alloc::{borrow::Cow, boxed::Box, format, string::String, vec::Vec};
use core::fmt;
use innerloop_json_derive::ToJson;

/// The fault of a JSON text: its kind, the path of the value, its line and column.
///
/// A host that knows the fields under other names words the fault itself, by its kind:
///
/// ```
/// use innerloop_json::{JsonFault, FromJson, from_str};
///
/// #[derive(FromJson)]
/// #[json(deny_unknown_fields)]
/// struct Limits {
///     max_turns: u32,
/// }
///
/// let error = from_str::<Limits>(r#"{"max_turn":1}"#).err().unwrap();
/// let JsonFault::UnknownField { name, known } = error.fault() else { unreachable!() };
/// assert_eq!((name.as_str(), known.as_slice()), ("max_turn", ["max_turns"].as_slice()));
/// assert_eq!(error.message(), "unknown field `max_turn`, expected `max_turns`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorDetails>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorDetails {
    fault: JsonFault,
    path: String,
    line: usize,
    column: usize,
}

/// The kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
#[json(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum JsonFault {
    /// The text ends in the middle of a value, so that it may be the beginning of a valid one.
    Eof,
    /// The text is not JSON.
    Syntax {
        /// The text that says what is wrong with it.
        message: &'static str,
    },
    /// A value of another type.
    Unexpected {
        /// The value that stands there, for example `null` or `"ten"`.
        found: String,
        /// The value that is expected there, for example `an object`.
        expected: Cow<'static, str>,
    },
    /// A number that does not fit.
    Range {
        /// The number.
        found: String,
        /// The numbers that fit, for example `a whole number from 0 to 255`.
        expected: Cow<'static, str>,
    },
    /// A field that there is not; the path ends with it.
    UnknownField {
        /// Its name.
        name: String,
        /// The fields that there are.
        known: Vec<&'static str>,
    },
    /// A value that is none of those that there are.
    UnknownValue {
        /// The value.
        name: String,
        /// The values that there are.
        known: Vec<&'static str>,
    },
    /// A field that must be there and is not; the path ends with it.
    MissingField {
        /// Its name.
        name: String,
    },
    /// A field that is there twice.
    DuplicateField {
        /// Its name.
        name: String,
    },
    /// Another reason why the value is refused.
    Invalid {
        /// The text that says what is wrong with it.
        message: String,
    },
}

/// The number of characters that a fault quotes of the text: a value may be as long as all of it.
const MAX_QUOTED: usize = 100;

impl JsonFault {
    /// Shortens what the fault quotes of the text.
    fn cut(mut self) -> Self {
        if let Self::Unexpected { found: quoted, .. }
        | Self::Range { found: quoted, .. }
        | Self::UnknownField { name: quoted, .. }
        | Self::UnknownValue { name: quoted, .. }
        | Self::DuplicateField { name: quoted } = &mut self
            && let Some((end, _)) = quoted.char_indices().nth(MAX_QUOTED)
        {
            quoted.truncate(end);
            quoted.push('…');
        }
        self
    }
}

/// Returns names as `` `a` ``, `` `a` or `b` ``, or `` one of `a`, `b`, `c` ``.
pub(crate) fn one_of(names: &[&str]) -> String {
    match names {
        [one, other] => format!("`{one}` or `{other}`"),
        [one] => format!("`{one}`"),
        names => format!("one of `{}`", joined(names, "`, `")),
    }
}

impl Error {
    /// Creates a fault behind the first `at` bytes of `text`.
    pub(crate) fn new(fault: JsonFault, text: &str, at: usize) -> Self {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        // Counted only for an error, so that reading need not keep track of lines.
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        Self(Box::new(ErrorDetails { fault: fault.cut(), path: String::new(), line, column }))
    }

    /// Returns the same fault, seen from the object whose field `name` holds it.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        self.0.path = inside(name, &self.0.path);
        self
    }

    /// Returns the same fault, seen from the array whose element `index` holds it.
    #[must_use]
    pub fn within_element(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// Returns the kind of fault.
    #[must_use]
    pub const fn fault(&self) -> &JsonFault {
        &self.0.fault
    }

    /// Returns the kind of fault, without a copy.
    #[must_use]
    pub fn into_fault(self) -> JsonFault {
        self.0.fault
    }

    /// Returns the sentence for the fault, without its place.
    #[must_use]
    pub fn message(&self) -> String {
        format!("{}", self.0.fault)
    }

    /// Returns whether the text ended too early, so that it may be the beginning of a valid one.
    #[must_use]
    pub const fn is_eof(&self) -> bool {
        matches!(self.0.fault, JsonFault::Eof)
    }

    /// Returns the path of the faulty value, such as `tools[2].name`; empty for the whole text.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.0.fault {
            JsonFault::UnknownField { name, .. } | JsonFault::MissingField { name } => {
                inside(&self.0.path, name)
            }
            _ => self.0.path.clone(),
        }
    }

    /// Returns the line, counted from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.0.line
    }

    /// Returns the column in bytes, counted from 1; 0 is before the line's first byte.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.0.column
    }
}

/// Returns the path of `inner` within the value at the path `outer`.
fn inside(outer: &str, inner: &str) -> String {
    let is_joined = outer.is_empty() || inner.is_empty() || inner.starts_with('[');
    format!("{outer}{}{inner}", if is_joined { "" } else { "." })
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eof => f.write_str("the JSON ends too early"),
            Self::Syntax { message } => f.write_str(message),
            Self::Invalid { message } => f.write_str(message),
            Self::Unexpected { found, expected } | Self::Range { found, expected } => {
                write!(f, "must be {expected}, not {found}")
            }
            Self::UnknownField { name, known } if known.is_empty() => {
                write!(f, "unknown field `{name}`, there are no fields")
            }
            Self::UnknownField { name, known } => {
                write!(f, "unknown field `{name}`, expected {}", one_of(known))
            }
            Self::UnknownValue { name, known } => {
                write!(f, "unknown value `{name}`, expected {}", one_of(known))
            }
            Self::MissingField { name } => write!(f, "missing field `{name}`"),
            Self::DuplicateField { name } => write!(f, "duplicate field `{name}`"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorDetails { fault, path, line, column } = &*self.0;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{fault} at line {line} column {column}")
    }
}

impl core::error::Error for Error {}

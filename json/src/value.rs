//! JSON as a tree, for code that looks at every value, such as the check of a schema.

use crate::{
    error::Error,
    map::Map,
    number::Number,
    reader::{Reader, ValueKind},
    traits::{FromJson, ToJson, to_string},
    writer::Writer,
};
use alloc::{string::String, vec::Vec};
use core::fmt;

/// Any value that JSON has.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// The value `null` itself.
    #[default]
    Null,
    /// Either `true` or `false`.
    Bool(bool),
    /// A number, whole or floating.
    Number(Number),
    /// A string without its escapes.
    String(String),
    /// An array of any values.
    Array(Vec<Value>),
    /// An object's fields, in the order of their names; of equal names the last.
    Object(Map<Value>),
}

impl Value {
    /// Returns the value of the field `name`, if this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// Returns the element at `index`, if this is an array that has it.
    #[must_use]
    pub fn element(&self, index: usize) -> Option<&Self> {
        self.as_array()?.get(index)
    }

    /// Returns the text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the truth value, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number, if this is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the number, if it is whole and not below 0.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// Returns the number, if it is whole and fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// Returns the number as a floating one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    /// Returns the elements, if this is an array.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the fields, if this is an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Map<Self>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the fields to be changed, if this is an object.
    #[must_use]
    pub const fn as_object_mut(&mut self) -> Option<&mut Map<Self>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns whether this is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns whether this is a string.
    #[must_use]
    pub const fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Returns whether this is a number.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Returns whether this is an array.
    #[must_use]
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Returns whether this is an object.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns whether this is `true` or `false`.
    #[must_use]
    pub const fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }
}

impl ToJson for Value {
    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Null => writer.null(),
            Self::Bool(value) => writer.bool(*value),
            Self::Number(number) => writer.number(*number),
            Self::String(text) => writer.string(text),
            Self::Array(items) => items.write(writer),
            Self::Object(fields) => fields.write(writer),
        }
    }
}

impl<'a> FromJson<'a> for Value {
    fn blank() -> Self {
        Self::Null
    }

    fn takes_null() -> bool {
        false
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = match reader.kind()? {
            ValueKind::Null => reader.null().map(|()| Self::Null)?,
            ValueKind::Bool => Self::Bool(reader.bool()?),
            ValueKind::Number => Self::Number(reader.number()?),
            ValueKind::String => Self::String(reader.string()?.into_owned()),
            ValueKind::Array => Self::Array(Vec::read(reader)?),
            ValueKind::Object => Self::Object(Map::read(reader)?),
        };
        Ok(())
    }
}

/// The compact JSON text.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_string(self))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

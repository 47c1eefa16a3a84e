//! The two traits of types that have JSON, and the functions from and to text. They have no type
//! parameter for the format, so that they can be used as `dyn`.

use crate::{error::Error, reader::Reader, writer::Writer};
use alloc::{boxed::Box, string::String};

/// A type that can be written as JSON.
pub trait ToJson {
    /// Appends the value to what was written.
    fn write(&self, writer: &mut Writer);
}

/// The fields that a derived `FromJson` of a struct reads.
pub trait FieldNames {
    /// Their names, in order.
    const FIELDS: &'static [&'static str];
}

impl<T: FieldNames> FieldNames for Box<T> {
    const FIELDS: &'static [&'static str] = T::FIELDS;
}

/// The variants that a derived `FromJson` of an enum reads.
pub trait VariantNames {
    /// Their names, in order.
    const VARIANTS: &'static [&'static str];

    /// Returns the fields of the variant of that name, if there is one. A value under the variant's
    /// name has none.
    #[must_use]
    fn fields(variant: &str) -> Option<&'static [&'static str]>;
}

/// A type that can be read from JSON text that lives for `'a`. A value is made in two steps, so
/// that one function can read the fields of all types: [`FromJson::blank`], then
/// [`FromJson::fill`].
pub trait FromJson<'a> {
    /// Returns any value, to be overwritten.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads the next value over a blank one.
    ///
    /// # Errors
    /// The text is not JSON, or it does not fit. The value is then of no use.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error>;

    /// Returns whether `null` is one of the values.
    #[must_use]
    fn takes_null() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Reads the next value.
    ///
    /// # Errors
    /// The text is not JSON, or it does not fit.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>
    where
        Self: Sized,
    {
        let mut value = Self::blank();
        value.fill(reader)?;
        Ok(value)
    }
}

/// Reads a text that is one value.
///
/// # Errors
/// The text is not one JSON value, or it does not fit.
pub fn from_str<'a, T: FromJson<'a>>(text: &'a str) -> Result<T, Error> {
    let mut value = T::blank();
    fill(&mut value, text)?;
    Ok(value)
}

fn fill<'a>(value: &mut dyn FromJson<'a>, text: &'a str) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    value.fill(&mut reader)?;
    reader.end()
}

/// Writes a value without white space.
pub fn to_string(value: &(impl ToJson + ?Sized)) -> String {
    let mut writer = Writer::new();
    value.write(&mut writer);
    writer.finish()
}

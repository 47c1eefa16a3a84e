//! Opaque JSON: text that is known to be one JSON value and is otherwise left as it is.

use crate::{
    error::Error,
    reader::Reader,
    traits::{FromJson, ToJson, to_string},
    writer::Writer,
};
use alloc::{boxed::Box, string::String, vec::Vec};

/// One JSON value, kept as its text. Numbers, key order and white space stay as they came, except
/// for line breaks, which become spaces: in a log they would end the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// Checks that `text` is one JSON value and keeps it, without the white space around it.
    ///
    /// # Errors
    /// What is wrong with the text, with line and column.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, Error> {
        let mut reader = Reader::new(text.as_ref());
        let json = Self::read(&mut reader)?;
        reader.end()?;
        Ok(json)
    }

    /// Returns the JSON of a value.
    #[must_use]
    pub fn of(value: &(impl ToJson + ?Sized)) -> Self {
        Self(to_string(value).into())
    }

    /// Returns the text of the value.
    #[must_use]
    pub const fn text(&self) -> &str {
        &self.0
    }

    /// Returns the value, borrowed.
    #[must_use]
    pub const fn raw(&self) -> RawJson<'_> {
        RawJson(&self.0)
    }

    /// Returns the text of the value, without a copy.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0.into()
    }
}

impl Default for Json {
    fn default() -> Self {
        Self("null".into())
    }
}

impl ToJson for Json {
    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.0);
    }
}

impl<'a> FromJson<'a> for Json {
    fn blank() -> Self {
        Self(Box::default())
    }

    fn takes_null() -> bool {
        false
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        let text = reader.raw()?;
        // Line breaks can only stand between tokens: in a string they are escaped.
        self.0 = if text.contains(['\n', '\r']) {
            text.replace(['\n', '\r'], " ").into()
        } else {
            text.into()
        };
        Ok(())
    }
}

/// One JSON value in a text that lives on, as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawJson<'a>(&'a str);

impl<'a> RawJson<'a> {
    /// Returns the text of the value.
    #[must_use]
    pub const fn text(self) -> &'a str {
        self.0
    }
}

impl Default for RawJson<'_> {
    fn default() -> Self {
        Self("null")
    }
}

impl ToJson for RawJson<'_> {
    fn write(&self, writer: &mut Writer) {
        writer.raw(self.0);
    }
}

impl<'a> FromJson<'a> for RawJson<'a> {
    fn blank() -> Self {
        Self("null")
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.0 = reader.raw()?;
        Ok(())
    }
}

/// A JSON object whose fields keep their order and their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonObject(pub Vec<(String, Json)>);

impl JsonObject {
    /// Returns the value of the field `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Gives the field `name` a value, in its old place or at the end.
    pub fn set(&mut self, name: &str, value: Json) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Returns the object as opaque JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of(self)
    }
}

impl ToJson for JsonObject {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        for (name, value) in &self.0 {
            writer.key(name);
            value.write(writer);
        }
        writer.end_object();
    }
}

impl<'a> FromJson<'a> for JsonObject {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.0.clear();
        reader.object()?;
        while let Some(name) = reader.key()? {
            let value = Json::read(reader).map_err(|error| error.within(&name))?;
            self.0.push((name.into_owned(), value));
        }
        Ok(())
    }
}

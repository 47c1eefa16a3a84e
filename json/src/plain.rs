//! The JSON of the standard library's types. Loops over elements take `dyn` parts, so that they
//! exist once and not for each type of element.

use crate::{
    error::{Error, JsonFault},
    number::Number,
    reader::{Reader, ValueKind},
    traits::{FromJson, ToJson},
    writer::Writer,
};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};

macro_rules! integers {
    ($($type:ident $wide:ident $as:ident $expected:literal),*) => {$(
        impl ToJson for $type {
            fn write(&self, writer: &mut Writer) {
                writer.number($wide::from(*self));
            }
        }

        impl<'a> FromJson<'a> for $type {
            fn blank() -> Self {
                0
            }

            fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
                let number = number(reader, $expected)?;
                let fitting = number.$as().and_then(|number| Self::try_from(number).ok());
                *self = fitting.ok_or_else(|| misfit(reader, number, $expected))?;
                Ok(())
            }
        }
    )*};
}

integers!(
    u8 u64 as_u64 "a whole number from 0 to 255",
    u16 u64 as_u64 "a whole number from 0 to 65535",
    u32 u64 as_u64 "a whole number from 0 to 4294967295",
    u64 u64 as_u64 "a whole number, 0 or more",
    i8 i64 as_i64 "a whole number from -128 to 127",
    i16 i64 as_i64 "a whole number from -32768 to 32767",
    i32 i64 as_i64 "a whole number from -2147483648 to 2147483647",
    i64 i64 as_i64 "a whole number"
);

fn number(reader: &mut Reader<'_>, expected: &'static str) -> Result<Number, Error> {
    if reader.kind()? != ValueKind::Number {
        return Err(reader.unexpected(expected.into()));
    }
    reader.number()
}

fn misfit(reader: &Reader<'_>, number: Number, expected: &'static str) -> Error {
    let (found, expected) = (format!("{number}"), expected.into());
    reader.fault(JsonFault::Range { found, expected })
}

impl ToJson for usize {
    fn write(&self, writer: &mut Writer) {
        writer.number(*self as u64);
    }
}

impl<'a> FromJson<'a> for usize {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        let expected = "a whole number, 0 or more";
        let number = number(reader, expected)?;
        let fitting = number.as_u64().and_then(|number| Self::try_from(number).ok());
        *self = fitting.ok_or_else(|| misfit(reader, number, expected))?;
        Ok(())
    }
}

impl ToJson for f64 {
    fn write(&self, writer: &mut Writer) {
        writer.f64(*self);
    }
}

impl<'a> FromJson<'a> for f64 {
    fn blank() -> Self {
        0.0
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = number(reader, "a number")?.as_f64();
        Ok(())
    }
}

impl ToJson for bool {
    fn write(&self, writer: &mut Writer) {
        writer.bool(*self);
    }
}

impl<'a> FromJson<'a> for bool {
    fn blank() -> Self {
        false
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = reader.bool()?;
        Ok(())
    }
}

impl ToJson for str {
    fn write(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl ToJson for String {
    fn write(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl<'a> FromJson<'a> for String {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        *self = reader.string()?.into_owned();
        Ok(())
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn write(&self, writer: &mut Writer) {
        (**self).write(writer);
    }
}

impl<T: ToJson + ?Sized> ToJson for Box<T> {
    fn write(&self, writer: &mut Writer) {
        (**self).write(writer);
    }
}

impl<'a, T: FromJson<'a>> FromJson<'a> for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        (**self).fill(reader)
    }
}

impl<T: ToJson + ?Sized> ToJson for Arc<T> {
    fn write(&self, writer: &mut Writer) {
        (**self).write(writer);
    }
}

impl<'a, T: FromJson<'a>> FromJson<'a> for Arc<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        // An `Arc` gives no mutable access to the value that it holds.
        *self = Self::new(T::read(reader)?);
        Ok(())
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn write(&self, writer: &mut Writer) {
        match self {
            Some(value) => value.write(writer),
            None => writer.null(),
        }
    }
}

/// An option. In nested options `null` belongs to the inner one; the outer one is `None` if the
/// field is absent.
impl<'a, T: FromJson<'a>> FromJson<'a> for Option<T> {
    fn blank() -> Self {
        None
    }

    fn takes_null() -> bool {
        true
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        if !T::takes_null() && reader.is_at_null() {
            return reader.null();
        }
        self.insert(T::blank()).fill(reader)
    }
}

impl<T: ToJson> ToJson for [T] {
    fn write(&self, writer: &mut Writer) {
        writer.array();
        for item in self {
            writer.element();
            item.write(writer);
        }
        writer.end_array();
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn write(&self, writer: &mut Writer) {
        self.as_slice().write(writer);
    }
}

impl<'a, T: FromJson<'a>> FromJson<'a> for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.clear();
        elements(reader, self)
    }
}

/// A list that grows by one blank element after the other.
trait GrowableList<'a> {
    fn add(&mut self) -> Option<&mut dyn FromJson<'a>>;
}

impl<'a, T: FromJson<'a>> GrowableList<'a> for Vec<T> {
    fn add(&mut self) -> Option<&mut dyn FromJson<'a>> {
        self.push(T::blank());
        self.last_mut().map(|last| -> &mut dyn FromJson<'a> { last })
    }
}

fn elements<'a>(reader: &mut Reader<'a>, list: &mut dyn GrowableList<'a>) -> Result<(), Error> {
    reader.array()?;
    let mut index = 0;
    while reader.element()? {
        let read = list.add().map_or(Ok(()), |element| element.fill(reader));
        read.map_err(|error| error.within_element(index))?;
        index += 1;
    }
    Ok(())
}

impl<A: ToJson, B: ToJson> ToJson for (A, B) {
    fn write(&self, writer: &mut Writer) {
        writer.array();
        self.0.write(writer);
        writer.element();
        self.1.write(writer);
        writer.end_array();
    }
}

impl<'a, A: FromJson<'a>, B: FromJson<'a>> FromJson<'a> for (A, B) {
    fn blank() -> Self {
        (A::blank(), B::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        pair(reader, &mut self.0, &mut self.1)
    }
}

fn pair<'a>(
    reader: &mut Reader<'a>,
    first: &mut dyn FromJson<'a>,
    second: &mut dyn FromJson<'a>,
) -> Result<(), Error> {
    let items: [&mut dyn FromJson<'a>; 2] = [first, second];
    reader.array()?;
    for (index, item) in items.into_iter().enumerate() {
        if !reader.element()? {
            return Err(reader.error("must be an array of two"));
        }
        item.fill(reader).map_err(|error| error.within_element(index))?;
    }
    if reader.element()? {
        return Err(reader.error("must be an array of two"));
    }
    Ok(())
}

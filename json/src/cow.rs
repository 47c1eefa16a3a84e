//! The JSON of values that are borrowed or owned. Only texts are ever borrowed.

use crate::{
    error::Error,
    reader::Reader,
    traits::{FromJson, ToJson},
    writer::Writer,
};
use alloc::{
    borrow::{Cow, ToOwned},
    vec::Vec,
};

/// A type that can be read into a [`Cow`]. Texts borrow if they have no escapes; all else is owned.
pub trait FromJsonCow<'a>: ToOwned {
    /// Returns any value, to be overwritten.
    fn blank_cow() -> Cow<'a, Self>;

    /// Reads the next value over a blank one.
    ///
    /// # Errors
    /// The text is not JSON, or it does not fit.
    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error>;
}

impl<'a> FromJsonCow<'a> for str {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Borrowed("")
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        *cow = reader.string()?;
        Ok(())
    }
}

impl<'a, T: FromJson<'a> + Clone> FromJsonCow<'a> for [T] {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Owned(Vec::new())
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        owned(Vec::new(), cow, reader)
    }
}

impl<'a, T: FromJson<'a> + Clone> FromJsonCow<'a> for T {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Owned(T::blank())
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        owned(T::blank(), cow, reader)
    }
}

/// Reads the next value over a blank one. The present value is not reused, since `to_mut` would
/// bring in the code that clones it.
fn owned<'a, T: ToOwned<Owned: FromJson<'a>> + ?Sized>(
    mut blank: T::Owned,
    cow: &mut Cow<'a, T>,
    reader: &mut Reader<'a>,
) -> Result<(), Error> {
    blank.fill(reader)?;
    *cow = Cow::Owned(blank);
    Ok(())
}

impl<T: ToOwned + ToJson + ?Sized> ToJson for Cow<'_, T> {
    fn write(&self, writer: &mut Writer) {
        (**self).write(writer);
    }
}

impl<'a, T: FromJsonCow<'a> + ?Sized> FromJson<'a> for Cow<'a, T> {
    fn blank() -> Self {
        T::blank_cow()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        T::fill_cow(self, reader)
    }
}

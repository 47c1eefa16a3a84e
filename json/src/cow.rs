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

    /// Returns the value that was read. What is owned when it is read is not cloned here, in code
    /// that would never run: in place of a borrowed value comes a blank one.
    fn read_value(cow: Cow<'a, Self>) -> Self::Owned;
}

impl<'a> FromJsonCow<'a> for str {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Borrowed("")
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        *cow = reader.string()?;
        Ok(())
    }

    fn read_value(cow: Cow<'a, Self>) -> Self::Owned {
        cow.into_owned()
    }
}

impl<'a, T: FromJson<'a> + Clone> FromJsonCow<'a> for [T] {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Owned(Vec::new())
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        fill_owned(cow, reader)
    }

    fn read_value(cow: Cow<'a, Self>) -> Self::Owned {
        owned(cow)
    }
}

impl<'a, T: FromJson<'a> + Clone> FromJsonCow<'a> for T {
    fn blank_cow() -> Cow<'a, Self> {
        Cow::Owned(T::blank())
    }

    fn fill_cow(cow: &mut Cow<'a, Self>, reader: &mut Reader<'a>) -> Result<(), Error> {
        fill_owned(cow, reader)
    }

    fn read_value(cow: Cow<'a, Self>) -> Self::Owned {
        owned(cow)
    }
}

fn owned<'a, T: ToOwned<Owned: FromJson<'a>> + ?Sized>(cow: Cow<'a, T>) -> T::Owned {
    match cow {
        Cow::Owned(value) => value,
        Cow::Borrowed(_) => T::Owned::blank(),
    }
}

/// Reads the next value over a blank one, which is owned. By `to_mut`, the code that clones a
/// borrowed one would come along.
fn fill_owned<'a, T: ToOwned<Owned: FromJson<'a>> + ?Sized>(
    cow: &mut Cow<'a, T>,
    reader: &mut Reader<'a>,
) -> Result<(), Error> {
    match cow {
        Cow::Owned(value) => value.fill(reader),
        Cow::Borrowed(_) => Err(reader.error("expected value")),
    }
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

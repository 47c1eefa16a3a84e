//! A map from names to values. The standard library's tree is compiled anew for each type of value;
//! here one map leads from names to places, and serves maps of all types.

use crate::{
    error::Error,
    places::{PlaceIter, PlaceMap},
    reader::Reader,
    traits::{FromJson, ToJson},
    writer::Writer,
};
use alloc::{string::String, vec::Vec};
use core::fmt;

/// Values by their names, in the order of the names.
#[derive(Clone)]
pub struct Map<T> {
    /// The index in `values` of each name's value.
    places: PlaceMap,
    values: Vec<T>,
}

impl<T> Map<T> {
    /// Returns an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: PlaceMap::new(), values: Vec::new() }
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether there is a value of that name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.places.get(name).is_some()
    }

    /// Returns the value of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.values.get(self.places.get(name)?)
    }

    /// Returns the number of names that were there when this one was inserted first.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.places.get(name)
    }

    /// Returns the value of that name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.values.get_mut(self.places.get(name)?)
    }

    /// Gives a name a value, and returns the one that it had.
    pub fn insert(&mut self, name: String, value: T) -> Option<T> {
        let place = self.places.or_insert(name, self.values.len());
        match self.values.get_mut(place) {
            Some(old) => Some(core::mem::replace(old, value)),
            None => {
                self.values.push(value);
                None
            }
        }
    }

    /// Takes all names with their values, in the order of the names.
    pub fn take(&mut self) -> impl Iterator<Item = (String, T)> + use<T>
    where
        T: Default,
    {
        let Self { places, mut values } = core::mem::take(self);
        places.into_entries().into_iter().map(move |(name, place)| {
            (name, values.get_mut(place).map(core::mem::take).unwrap_or_default())
        })
    }

    /// Removes all names and values.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the names with their values, in the order of the names.
    #[must_use]
    pub fn iter(&self) -> MapIter<'_, T> {
        MapIter { places: self.places.iter(), values: &self.values }
    }

    /// Returns the names in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|(name, _)| name)
    }

    /// Returns the values in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the values to be changed, in any order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for Map<T> {
    fn eq(&self, other: &Self) -> bool {
        // Not derived: equal maps may have been filled in another order, and have other places.
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: Eq> Eq for Map<T> {}

impl<T: fmt::Debug> fmt::Debug for Map<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// The names of a [`Map`] with their values.
#[derive(Clone, Debug)]
pub struct MapIter<'a, T> {
    places: PlaceIter<'a>,
    values: &'a [T],
}

impl<'a, T> Iterator for MapIter<'a, T> {
    type Item = (&'a str, &'a T);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, place) = self.places.next()?;
        Some((name, self.values.get(place)?))
    }
}

impl<'a, T> IntoIterator for &'a Map<T> {
    type Item = (&'a str, &'a T);
    type IntoIter = MapIter<'a, T>;

    fn into_iter(self) -> MapIter<'a, T> {
        self.iter()
    }
}

impl<T> Extend<(String, T)> for Map<T> {
    fn extend<I: IntoIterator<Item = (String, T)>>(&mut self, values: I) {
        for (name, value) in values {
            self.insert(name, value);
        }
    }
}

impl<T> FromIterator<(String, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(values: I) -> Self {
        let mut map = Self::new();
        map.extend(values);
        map
    }
}

impl<T, const N: usize> From<[(String, T); N]> for Map<T> {
    fn from(values: [(String, T); N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: ToJson> ToJson for Map<T> {
    fn write(&self, writer: &mut Writer) {
        writer.object();
        for (name, value) in self {
            writer.key(name);
            value.write(writer);
        }
        writer.end_object();
    }
}

impl<'a, T: FromJson<'a>> FromJson<'a> for Map<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.clear();
        fields(reader, self)
    }
}

/// A map that grows by one blank value after the other.
trait GrowableMap<'a> {
    fn add(&mut self, name: String) -> Option<&mut dyn FromJson<'a>>;
}

impl<'a, T: FromJson<'a>> GrowableMap<'a> for Map<T> {
    fn add(&mut self, name: String) -> Option<&mut dyn FromJson<'a>> {
        let place = self.places.or_insert(name, self.values.len());
        match self.values.get_mut(place) {
            Some(value) => *value = T::blank(),
            None => self.values.push(T::blank()),
        }
        self.values.get_mut(place).map(|value| -> &mut dyn FromJson<'a> { value })
    }
}

/// Reads an object; of equal names the last one counts.
fn fields<'a>(reader: &mut Reader<'a>, map: &mut dyn GrowableMap<'a>) -> Result<(), Error> {
    reader.object()?;
    while let Some(name) = reader.key()? {
        let value = map.add(name.clone().into_owned());
        let read = value.map_or(Ok(()), |value| value.fill(reader));
        read.map_err(|error| error.within(&name))?;
    }
    Ok(())
}

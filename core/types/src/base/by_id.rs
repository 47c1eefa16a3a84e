//! A collection of values with ascending ids, such as effects and agents. It holds the ledger of
//! effects, the session's agents and their data, always in the order of the ids.

use alloc::vec::Vec;

/// Values by their ids, in the order of the ids.
// A sorted list instead of a `BTreeMap`: new ids come last and few values stay for long, so that
// insertion is a push; and a map is compiled again for each type, which the page's module has no
// room for (`docs/decisions.md#the-pages-module`).
#[derive(Clone, Debug)]
pub struct ById<I, T> {
    /// The values by id; a value that was removed leaves a gap, `None`.
    list: Vec<(I, Option<T>)>,
    /// The number of gaps in the list.
    gaps: usize,
}

impl<I: Copy + Ord, T> ById<I, T> {
    /// Creates an empty collection.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), gaps: 0 }
    }

    /// Returns the number of values.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.list.len() - self.gaps
    }

    /// Returns whether there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value with this id.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        let (_, value) = self.list.get(self.place(id).ok()?)?;
        value.as_ref()
    }

    /// Returns a mutable reference to the value with this id.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let place = self.place(id).ok()?;
        let (_, value) = self.list.get_mut(place)?;
        value.as_mut()
    }

    /// Stores a value under an id, and returns the id's previous value.
    pub fn insert(&mut self, id: I, value: T) -> Option<T> {
        let place = self.place(id).unwrap_or_else(|place| {
            // The place begins as a gap, so that the count of gaps is corrected in one place for a
            // new id, a filled gap and a replaced value.
            self.list.insert(place, (id, None));
            self.gaps += 1;
            place
        });
        let (_, old) = self.list.get_mut(place)?;
        let old = old.replace(value);
        self.gaps -= usize::from(old.is_none());
        old
    }

    /// Removes the value with this id and returns it.
    pub fn remove(&mut self, id: I) -> Option<T> {
        let place = self.place(id).ok()?;
        let (_, value) = self.list.get_mut(place)?;
        let value = value.take()?;
        self.gaps += 1;
        // The list is compacted only when more than half of it are gaps, so that each value is
        // moved a few times at most. Idle sessions hold no memory for it.
        if self.gaps * 2 > self.list.len() {
            self.list.retain(|(_, value)| value.is_some());
            self.gaps = 0;
            if self.list.is_empty() {
                self.list = Vec::new();
            }
        }
        Some(value)
    }

    /// Iterates over the ids with their values, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.list.iter().filter_map(|(id, value)| Some((*id, value.as_ref()?)))
    }

    /// Iterates mutably over the ids with their values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.list.iter_mut().filter_map(|(id, value)| Some((*id, value.as_mut()?)))
    }

    /// Iterates over the values, in the order of their ids.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.list.iter().filter_map(|(_, value)| value.as_ref())
    }

    /// Iterates mutably over the values.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().filter_map(|(_, value)| value.as_mut())
    }

    /// Returns the index of the id in the list, or the index at which to insert it.
    fn place(&self, id: I) -> Result<usize, usize> {
        self.list.binary_search_by_key(&id, |(id, _)| *id)
    }
}

impl<I: Copy + Ord, T> Default for ById<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

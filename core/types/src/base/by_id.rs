//! What has an id that counts up, such as effects and agents.

use alloc::vec::Vec;

/// Values by their ids, in the order of the ids. A list: new ids come last, and few values stay
/// for long.
#[derive(Clone, Debug)]
pub struct ById<I, T> {
    /// The values by id; a value that was taken out leaves a gap, `None`.
    list: Vec<(I, Option<T>)>,
    gaps: usize,
}

impl<I: Copy + Ord, T> ById<I, T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), gaps: 0 }
    }

    /// Returns how many values there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.list.len() - self.gaps
    }

    /// Returns whether there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of that id.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        let (_, value) = self.list.get(self.place(id).ok()?)?;
        value.as_ref()
    }

    /// The value of that id, to be changed.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let place = self.place(id).ok()?;
        let (_, value) = self.list.get_mut(place)?;
        value.as_mut()
    }

    /// Gives an id a value; returns the one that it had.
    pub fn insert(&mut self, id: I, value: T) -> Option<T> {
        let place = self.place(id).unwrap_or_else(|place| {
            self.list.insert(place, (id, None));
            self.gaps += 1;
            place
        });
        let (_, old) = self.list.get_mut(place)?;
        let old = old.replace(value);
        self.gaps -= usize::from(old.is_none());
        old
    }

    /// Takes a value out.
    pub fn remove(&mut self, id: I) -> Option<T> {
        let place = self.place(id).ok()?;
        let (_, value) = self.list.get_mut(place)?;
        let value = value.take()?;
        self.gaps += 1;
        // So that each value is moved a few times at most, and nothing takes memory once all are
        // taken out.
        if self.gaps * 2 > self.list.len() {
            self.list.retain(|(_, value)| value.is_some());
            self.gaps = 0;
            if self.list.is_empty() {
                self.list = Vec::new();
            }
        }
        Some(value)
    }

    /// The ids with their values.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.list.iter().filter_map(|(id, value)| Some((*id, value.as_ref()?)))
    }

    /// The ids with their values, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.list.iter_mut().filter_map(|(id, value)| Some((*id, value.as_mut()?)))
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.list.iter().filter_map(|(_, value)| value.as_ref())
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut().filter_map(|(_, value)| value.as_mut())
    }

    fn place(&self, id: I) -> Result<usize, usize> {
        self.list.binary_search_by_key(&id, |(id, _)| *id)
    }
}

impl<I: Copy + Ord, T> Default for ById<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

//! Places by name. The standard library's tree takes 16 KB of the page's module; the one here has
//! two levels only, which hold a million names as well.

use alloc::{string::String, vec::Vec};

/// Most names of a block: to insert one moves those behind it.
const MOST: usize = 128;

/// Places by name, in the order of the names.
#[derive(Clone, Debug, Default)]
pub struct PlaceMap {
    /// The names in blocks, none of which is empty.
    blocks: Vec<Vec<(String, usize)>>,
    len: usize,
}

/// The names of a [`PlaceMap`] with their places, from one on.
#[derive(Clone, Debug)]
pub struct PlaceIter<'a> {
    blocks: &'a [Vec<(String, usize)>],
    /// The index in the first block of what comes next.
    at: usize,
}

impl PlaceMap {
    /// Returns an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }

    /// Returns the number of names.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no name.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the place of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<usize> {
        let (found, place) = self.from(name).next()?;
        (found == name).then_some(place)
    }

    /// Gives a name a place, and returns the one that it had.
    pub fn insert(&mut self, name: String, place: usize) -> Option<usize> {
        self.add(name, place).map(|old| core::mem::replace(old, place))
    }

    /// Returns the place of a name: the one that it has, or else `place`, which it gets.
    pub fn or_insert(&mut self, name: String, place: usize) -> usize {
        self.add(name, place).map_or(place, |old| *old)
    }

    /// Gives a new name a place. One that has a place keeps it, and the place is returned.
    fn add(&mut self, name: String, place: usize) -> Option<&mut usize> {
        let (index, at) = self.find(&name);
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
        }
        let block = self.blocks.get_mut(index)?;
        if block.get(at).is_some_and(|(other, _)| *other == name) {
            // Looked up again: the borrow of a value that is returned would last to the end.
            return self.blocks.get_mut(index)?.get_mut(at).map(|(_, place)| place);
        }
        block.insert(at, (name, place));
        self.len += 1;
        if block.len() > MOST {
            let behind = block.split_off(MOST / 2);
            self.blocks.insert(index + 1, behind);
        }
        None
    }

    /// Removes a name, and returns its place.
    pub fn remove(&mut self, name: &str) -> Option<usize> {
        let (index, at) = self.find(name);
        let block = self.blocks.get_mut(index)?;
        block.get(at).filter(|(other, _)| other == name)?;
        let (_, place) = block.remove(at);
        self.len -= 1;
        if block.is_empty() {
            self.blocks.remove(index);
        }
        Some(place)
    }

    /// Returns the names in their order.
    #[must_use]
    pub fn iter(&self) -> PlaceIter<'_> {
        PlaceIter { blocks: &self.blocks, at: 0 }
    }

    /// Returns `name` and the names behind it, in their order.
    #[must_use]
    pub fn from(&self, name: &str) -> PlaceIter<'_> {
        let (index, at) = self.find(name);
        PlaceIter { blocks: self.blocks.get(index..).unwrap_or_default(), at }
    }

    /// Returns the names with their places, in their order.
    #[must_use]
    pub fn into_entries(mut self) -> Vec<(String, usize)> {
        let mut entries = Vec::new();
        self.blocks.iter_mut().for_each(|block| entries.append(block));
        entries
    }

    /// Returns the index of the block that a name belongs to, and the index in it of the first
    /// name that does not come before.
    fn find(&self, name: &str) -> (usize, usize) {
        let begins = |block: &Vec<(String, usize)>| {
            block.first().is_some_and(|(first, _)| first.as_str() <= name)
        };
        let index = self.blocks.partition_point(begins).saturating_sub(1);
        let block = self.blocks.get(index).map(Vec::as_slice).unwrap_or_default();
        (index, block.partition_point(|(other, _)| other.as_str() < name))
    }
}

impl<'a> Iterator for PlaceIter<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (block, behind) = self.blocks.split_first()?;
            if let Some((name, place)) = block.get(self.at) {
                self.at += 1;
                return Some((name, *place));
            }
            *self = Self { blocks: behind, at: 0 };
        }
    }
}

impl<'a> IntoIterator for &'a PlaceMap {
    type Item = (&'a str, usize);
    type IntoIter = PlaceIter<'a>;

    fn into_iter(self) -> PlaceIter<'a> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::PlaceMap;
    use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

    /// Checks that the map has what the tree has, from some names on, too.
    fn compare(map: &PlaceMap, tree: &BTreeMap<String, usize>) {
        assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
        let all: Vec<_> = tree.iter().map(|(name, place)| (name.as_str(), *place)).collect();
        assert_eq!(map.iter().collect::<Vec<_>>(), all);
        for from in ["", "300", "3000", "55", "zzz"] {
            let behind: Vec<_> = all.iter().copied().filter(|(name, _)| *name >= from).collect();
            assert_eq!(map.from(from).collect::<Vec<_>>(), behind, "{from}");
        }
    }

    #[test]
    fn places_are_those_of_the_standard_librarys_tree() {
        let (mut map, mut tree) = (PlaceMap::new(), BTreeMap::new());
        compare(&map, &tree);
        // A linear congruence goes through all numbers below 4,096 in an order of its own.
        let mut number = 1_usize;
        for step in 0..10_000 {
            number = (number * 1_229 + 471) % 4_096;
            let name = format!("{number}");
            assert_eq!(map.get(&name), tree.get(&name).copied());
            match step % 5 {
                0 => assert_eq!(map.remove(&name), tree.remove(&name)),
                1 => assert_eq!(map.insert(name.clone(), step), tree.insert(name, step)),
                _ => {
                    let place = *tree.entry(name.clone()).or_insert(step);
                    assert_eq!(map.or_insert(name, step), place);
                }
            }
            if step % 1_000 == 0 {
                compare(&map, &tree);
            }
        }
        compare(&map, &tree);
        for name in tree.keys() {
            assert!(map.remove(name).is_some());
        }
        compare(&map, &BTreeMap::new());
    }

    #[test]
    fn names_in_order_and_against_it_are_found() {
        for down in [false, true] {
            let mut map = PlaceMap::new();
            for step in 0..1_000 {
                let number = if down { 999 - step } else { step };
                assert_eq!(map.insert(format!("{number:04}"), number), None);
            }
            let places: Vec<_> =
                map.clone().into_entries().into_iter().map(|(_, place)| place).collect();
            assert_eq!(places, (0..1_000).collect::<Vec<_>>());
        }
    }
}

//! Lists of what an iterator gives. The standard library's `collect` asks each iterator twice, and
//! once more for how much is left, in code of its own for each.

use alloc::vec::Vec;

/// An iterator that a list is made of.
pub trait IntoList: Iterator + Sized {
    /// Returns all that the iterator gives, as `collect` does.
    fn into_list(self) -> Vec<Self::Item> {
        let mut list = Vec::with_capacity(self.size_hint().0);
        for item in self {
            list.push(item);
        }
        list
    }
}

impl<I: Iterator> IntoList for I {}

#[cfg(test)]
mod tests {
    use super::IntoList;
    use alloc::vec::Vec;

    #[test]
    fn a_list_holds_what_the_standard_library_collects_and_has_room_for_no_more() {
        for count in 0..9 {
            let list = (0..count).into_list();
            assert_eq!((list.len(), list.capacity()), (count, count));
            let odd = |number: &usize| number % 2 == 1;
            assert_eq!(
                (0..count).filter(odd).into_list(),
                (0..count).filter(odd).collect::<Vec<_>>()
            );
        }
    }
}

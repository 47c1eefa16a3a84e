//! The merge of two JSON values: the host's options over our own request.

use super::super::{
    lenient::ValueRef,
    writer::{JsonWriter, ObjectFields},
};

/// The way to merge arrays where both values have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrayMerge {
    /// The second replaces the first.
    Replace,
    /// The second follows the first.
    Append,
}

/// Writes `theirs` merged over `ours`: objects field by field, arrays as asked, everything else
/// replaced.
pub(super) fn push_merged(
    out: &mut JsonWriter,
    ours: ValueRef<'_>,
    theirs: ValueRef<'_>,
    arrays: ArrayMerge,
) {
    if ours.is_object() && theirs.is_object() {
        let mut all = ObjectFields::of(ours);
        for (name, theirs) in theirs.entries() {
            let ours = ours.field(&name);
            push_merged(all.set(&name), ours, theirs, arrays);
        }
        all.write(out);
    } else if ours.is_array() && theirs.is_array() && arrays == ArrayMerge::Append {
        let items = ours.elements().chain(theirs.elements());
        out.raw("[");
        for (index, item) in items.enumerate() {
            out.raw(if index == 0 { "" } else { "," }).raw(item.json());
        }
        out.raw("]");
    } else {
        out.raw(theirs.json());
    }
}

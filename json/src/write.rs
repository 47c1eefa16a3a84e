//! Writing structs and enums by their shapes: the counterpart of reading them (`fill`), compiled
//! once for all types.

use crate::{
    shape::{EMPTY, EnumShape, StructShape},
    traits::ToJson,
    writer::Writer,
};

/// The fields of a struct, or of the variant that an enum holds, by their places.
pub trait FieldValues {
    /// Returns the field at `index`; `None` if it is left out.
    fn part(&self, index: usize) -> Option<&dyn ToJson>;
}

/// Writes an object by its shape.
pub fn write_fields(writer: &mut Writer, shape: &'static str, parts: &dyn FieldValues) {
    // Taken, as it holds for this object and not for those inside of it.
    let is_flattened = core::mem::take(&mut writer.is_flattened);
    if !is_flattened {
        writer.object();
    }
    // The tag comes first, so that readers need not look for it.
    if let Some((tag, name)) = writer.tag.take() {
        writer.key(tag);
        writer.string(name);
    }
    for field in StructShape::of(shape).fields() {
        let Some(part) = parts.part(field.place) else { continue };
        if field.is_flattened() {
            writer.is_flattened = true;
            part.write(writer);
        } else {
            writer.field(field.key());
            part.write(writer);
        }
    }
    if !is_flattened {
        writer.end_object();
    }
}

/// Writes the variant that begins at `start` in the shape of its enum.
pub fn write_variant(
    writer: &mut Writer,
    shape: &'static str,
    start: usize,
    parts: &dyn FieldValues,
) {
    let variants = EnumShape::of(shape);
    let Some(variant) = EnumShape::at(shape, start) else { return };
    let tag = variants.tag();
    let is_tagged = !tag.is_empty();
    let has_key = !is_tagged
        && !variants.is_untagged()
        && (variant.content().is_some() || variants.is_keyed());
    if is_tagged {
        writer.tag = Some((tag, variant.name()));
    }
    if has_key {
        writer.object();
        writer.key(variant.name());
    }
    match variant.content() {
        Some("") => {
            if let Some(part) = parts.part(0) {
                part.write(writer);
            }
        }
        Some(shape) => write_fields(writer, shape, parts),
        None if is_tagged => write_fields(writer, EMPTY, parts),
        None if has_key || variants.is_untagged() => writer.null(),
        None => writer.string(variant.name()),
    }
    if has_key {
        writer.end_object();
    }
}

//! Writing structs and enums by their tables.

use crate::{
    shape::{Form, Shape, Variants},
    traits::ToJson,
    writer::Writer,
};

/// The fields of a struct, or of the variant that an enum holds, by their places.
pub trait Parts {
    /// The field at `index`; none if it is left out.
    fn part(&self, index: usize) -> Option<&dyn ToJson>;
}

/// Writes an object by its table.
pub fn write_fields(writer: &mut Writer, shape: &Shape, parts: &dyn Parts) {
    let is_flattened = core::mem::take(&mut writer.is_flattened);
    if !is_flattened {
        writer.object();
    }
    if let Some((tag, name)) = writer.tag.take() {
        writer.key(tag);
        writer.string(name);
    }
    for (index, name) in shape.fields.iter().enumerate() {
        let Some(part) = parts.part(index) else { continue };
        if shape.flattened >> index & 1 == 1 {
            writer.is_flattened = true;
            part.write(writer);
        } else {
            writer.key(name);
            part.write(writer);
        }
    }
    if !is_flattened {
        writer.end_object();
    }
}

/// Writes the variant at `index` by its table.
pub fn write_variant(writer: &mut Writer, variants: &Variants, index: usize, parts: &dyn Parts) {
    let Some(variant) = variants.variants.get(index) else { return };
    let is_tagged = !variants.tag.is_empty();
    let has_key = match variant.form {
        _ if is_tagged || variants.is_untagged => false,
        Form::Unit => variants.is_keyed,
        Form::Newtype | Form::Fields(_) => true,
    };
    if is_tagged {
        writer.tag = Some((variants.tag, variant.name));
    }
    if has_key {
        writer.object();
        writer.key(variant.name);
    }
    match variant.form {
        Form::Fields(shape) => write_fields(writer, shape, parts),
        Form::Newtype => {
            if let Some(part) = parts.part(0) {
                part.write(writer);
            }
        }
        Form::Unit if is_tagged => write_fields(writer, &Shape::EMPTY, parts),
        Form::Unit if has_key || variants.is_untagged => writer.null(),
        Form::Unit => writer.string(variant.name),
    }
    if has_key {
        writer.end_object();
    }
}

//! Reading structs and enums by their shapes: these functions are compiled once and reach the
//! fields of any type through two small traits.

use crate::{
    error::{Error, JsonFault, one_of},
    reader::{Reader, ValueKind},
    shape::{EMPTY, EnumShape, ShapeEntry, StructShape},
    traits::FromJson,
};
use alloc::{borrow::Cow, format};

/// The fields of a struct, or of the variant that an enum holds, by their places.
pub trait FieldSlots<'a> {
    /// Returns the field at `index`, to be filled.
    fn slot(&mut self, index: usize) -> Option<&mut dyn FromJson<'a>>;
}

/// An enum whose variant can be chosen.
pub trait VariantSlots<'a>: FieldSlots<'a> {
    /// Becomes the variant at `index`, with blank fields.
    fn choose(&mut self, index: usize);
}

/// Reads an object into the fields of `target`.
///
/// # Errors
/// The text is not JSON, or it does not fit.
pub fn fill_fields<'a>(
    reader: &mut Reader<'a>,
    shape: &'static str,
    target: &mut dyn FieldSlots<'a>,
) -> Result<(), Error> {
    let shape = StructShape::of(shape);
    // Taken and not only read: the objects inside of this one must not accept the tag as a field.
    let tag = core::mem::take(&mut reader.tag);
    if reader.kind()? != ValueKind::Object {
        return Err(reader.unexpected("an object".into()));
    }
    reader.object()?;
    let (mut seen, mut next) = (0_u64, shape.fields());
    while let Some(name) = reader.key()? {
        let found = shape.find(&name, &mut next);
        let slot = found.and_then(|at| Some((at, target.slot(at)?)));
        let Some((at, slot)) = slot else {
            if shape.is_closed() && *name != *tag {
                let known = shape.names();
                return Err(reader.fault(JsonFault::UnknownField { name: name.into(), known }));
            }
            reader.skip().map_err(|error| error.within(&name))?;
            continue;
        };
        let bit = 1 << at;
        if seen & bit != 0 {
            return Err(reader.fault(JsonFault::DuplicateField { name: name.into() }));
        }
        seen |= bit;
        slot.fill(reader).map_err(|error| error.within(&name))?;
    }
    missing(reader, shape, seen)
}

fn missing(reader: &Reader<'_>, shape: StructShape, seen: u64) -> Result<(), Error> {
    let is_missing = |field: &ShapeEntry| field.is_required() && seen >> field.place & 1 == 0;
    match shape.fields().find(is_missing) {
        Some(field) => Err(reader.fault(JsonFault::MissingField { name: field.name().into() })),
        None => Ok(()),
    }
}

/// Reads an enum: a name, an object with the name as its one key, or an object with a tag.
///
/// # Errors
/// The text is not JSON, or it does not fit.
pub fn fill_variant<'a>(
    reader: &mut Reader<'a>,
    variants: &'static str,
    target: &mut dyn VariantSlots<'a>,
) -> Result<(), Error> {
    let variants = EnumShape::of(variants);
    let tag = variants.tag();
    let kind = reader.kind()?;
    if !tag.is_empty() {
        if kind != ValueKind::Object {
            return Err(reader.unexpected("an object".into()));
        }
        // The tag may stand behind other fields, so the object is walked twice: once for its tag,
        // once for the variant's fields.
        let mut ahead = reader.clone();
        let name = tag_of(&mut ahead, tag)?;
        let variant = named(&ahead, variants, &name).map_err(|error| error.within(tag))?;
        reader.tag = tag;
        target.choose(variant.place);
        return match variant.content() {
            Some(content) => fill_content(reader, content, target),
            None => fill_fields(reader, EMPTY, target),
        };
    }
    match kind {
        ValueKind::String => {
            let name = reader.string()?;
            let variant = named(reader, variants, &name)?;
            if variant.content().is_some() {
                return Err(reader.error(format!("expected `{name}` as an object's key")));
            }
            target.choose(variant.place);
            Ok(())
        }
        ValueKind::Object => {
            reader.object()?;
            let Some(name) = reader.key()? else {
                let known = one_of(&variants.names());
                return Err(reader.error(format!("expected {known} as a key")));
            };
            let variant = named(reader, variants, &name)?;
            target.choose(variant.place);
            let filled = match variant.content() {
                Some(content) => fill_content(reader, content, target),
                None => reader.null(),
            };
            filled.map_err(|error| error.within(&name))?;
            match reader.key()? {
                Some(_) => Err(reader.error(format!("expected `{name}` as the only key"))),
                None => Ok(()),
            }
        }
        _ => Err(reader.unexpected(one_of(&variants.names()).into())),
    }
}

fn named(reader: &Reader<'_>, variants: EnumShape, name: &str) -> Result<ShapeEntry, Error> {
    variants.entries().find(|variant| variant.name() == name).ok_or_else(|| {
        reader.fault(JsonFault::UnknownValue { name: name.into(), known: variants.names() })
    })
}

/// Returns the text of the field `tag` of the object that comes next.
fn tag_of<'a>(ahead: &mut Reader<'a>, tag: &str) -> Result<Cow<'a, str>, Error> {
    ahead.object()?;
    while let Some(name) = ahead.key()? {
        if *name == *tag {
            return ahead.string().map_err(|error| error.within(tag));
        }
        ahead.skip()?;
    }
    Err(ahead.fault(JsonFault::MissingField { name: tag.into() }))
}

/// Reads the content of the variant that `target` has become: fields, or one value.
fn fill_content<'a>(
    reader: &mut Reader<'a>,
    content: &'static str,
    target: &mut dyn VariantSlots<'a>,
) -> Result<(), Error> {
    if !content.is_empty() {
        return fill_fields(reader, content, target);
    }
    match target.slot(0) {
        Some(slot) => slot.fill(reader),
        None => reader.skip(),
    }
}

//! Reading structs and enums by their tables.

use crate::{
    error::Error,
    reader::{Kind, Reader},
    shape::{Form, Shape, Variants},
    traits::FromJson,
};
use alloc::{borrow::Cow, format};

/// The fields of a struct, or of the variant that an enum holds, by their places.
pub trait Slots<'a> {
    /// The field at `index`, to be filled.
    fn slot(&mut self, index: usize) -> Option<&mut dyn FromJson<'a>>;
}

/// An enum whose variant can be chosen.
pub trait Choice<'a>: Slots<'a> {
    /// Becomes the variant at `index`, with blank fields.
    fn choose(&mut self, index: usize);
}

/// Reads an object into the fields of `target`.
///
/// # Errors
/// The text is not JSON, or it does not fit.
pub fn fill_fields<'a>(
    reader: &mut Reader<'a>,
    shape: &Shape,
    target: &mut dyn Slots<'a>,
) -> Result<(), Error> {
    let tag = core::mem::take(&mut reader.tag);
    if reader.kind()? != Kind::Object {
        return Err(reader.unexpected(&format!("struct {}", shape.name)));
    }
    reader.object()?;
    let (mut seen, mut next) = (0_u64, 0);
    while let Some(name) = reader.key()? {
        let found = shape.find(&name, next);
        let slot = found.and_then(|at| Some((at, target.slot(at)?)));
        let Some((at, slot)) = slot else {
            if shape.is_closed && *name != *tag {
                return Err(reader.error(shape.unknown(&name)).about(&name));
            }
            reader.skip().map_err(|error| error.within(&name))?;
            continue;
        };
        let bit = 1 << at;
        if seen & bit != 0 {
            return Err(reader.error(format!("duplicate field `{name}`")));
        }
        seen |= bit;
        next = at + 1;
        slot.fill(reader).map_err(|error| error.within(&name))?;
    }
    missing(reader, shape, seen)
}

fn missing(reader: &Reader<'_>, shape: &Shape, seen: u64) -> Result<(), Error> {
    let first = (shape.required & !seen).trailing_zeros() as usize;
    match shape.fields.get(first) {
        Some(name) => Err(reader.error(format!("missing field `{name}`")).about(name)),
        None => Ok(()),
    }
}

/// Reads an enum: a name, an object with the name as its one key, or an object with a tag.
///
/// # Errors
/// The text is not JSON, or it does not fit.
pub fn fill_variant<'a>(
    reader: &mut Reader<'a>,
    variants: &Variants,
    target: &mut dyn Choice<'a>,
) -> Result<(), Error> {
    let kind = reader.kind()?;
    if !variants.tag.is_empty() {
        if kind != Kind::Object {
            return Err(reader.unexpected("a map"));
        }
        let mut ahead = reader.clone();
        let name = tag_of(&mut ahead, variants.tag)?;
        let index = named(&ahead, variants, &name).map_err(|error| error.within(variants.tag))?;
        reader.tag = variants.tag;
        target.choose(index);
        return fill_content(reader, variants, index, target);
    }
    match kind {
        Kind::String => {
            let name = reader.string()?;
            let index = named(reader, variants, &name)?;
            match variants.variants.get(index) {
                Some(variant) if !matches!(variant.form, Form::Unit) => {
                    let message =
                        format!("invalid type: unit variant, expected `{name}` as an object's key");
                    return Err(reader.error(message));
                }
                _ => target.choose(index),
            }
            Ok(())
        }
        Kind::Object => {
            reader.object()?;
            let Some(name) = reader.key()? else {
                return Err(reader.error(format!("expected {} as a key", variants.expected())));
            };
            let index = named(reader, variants, &name)?;
            target.choose(index);
            fill_content(reader, variants, index, target).map_err(|error| error.within(&name))?;
            match reader.key()? {
                Some(_) => Err(reader.error(format!("expected `{name}` as the only key"))),
                None => Ok(()),
            }
        }
        _ => Err(reader.unexpected(&variants.expected())),
    }
}

fn named(reader: &Reader<'_>, variants: &Variants, name: &str) -> Result<usize, Error> {
    variants.find(name).ok_or_else(|| {
        reader.error(format!("unknown variant `{name}`, expected {}", variants.expected()))
    })
}

/// The text of the field `tag` of the object that comes next.
fn tag_of<'a>(ahead: &mut Reader<'a>, tag: &str) -> Result<Cow<'a, str>, Error> {
    ahead.object()?;
    while let Some(name) = ahead.key()? {
        if *name == *tag {
            return ahead.string().map_err(|error| error.within(tag));
        }
        ahead.skip()?;
    }
    Err(ahead.error(format!("missing field `{tag}`")).about(tag))
}

/// Reads what the variant at `index` holds, which `target` has become.
fn fill_content<'a>(
    reader: &mut Reader<'a>,
    variants: &Variants,
    index: usize,
    target: &mut dyn Choice<'a>,
) -> Result<(), Error> {
    match variants.variants.get(index).map(|variant| &variant.form) {
        Some(Form::Fields(shape)) => fill_fields(reader, shape, target),
        Some(Form::Newtype) => match target.slot(0) {
            Some(slot) => slot.fill(reader),
            None => reader.skip(),
        },
        _ if variants.tag.is_empty() => reader.null(),
        _ => fill_fields(reader, &Shape::EMPTY, target),
    }
}

//! The model of a type as its JSON sees it, which all derives share, and the text that describes it
//! (`json/src/shape.rs`).

use crate::attributes::{FieldDefault, JsonAttributes, NameCase};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Data, DeriveInput, Error, ExprPath, Field as SynField, Fields, Generics, Ident, Index,
    Lifetime, Member, Result, Type,
};

/// A struct or enum.
pub(crate) struct TypeModel<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) generics: &'a Generics,
    /// The lifetime of the text that it borrows from.
    pub(crate) lifetime: Option<&'a Lifetime>,
    pub(crate) attributes: JsonAttributes,
    pub(crate) body: TypeForm<'a>,
}

pub(crate) enum TypeForm<'a> {
    /// A struct with named fields.
    Struct(Vec<FieldModel<'a>>),
    /// A struct with the JSON of its one field.
    Transparent(&'a Type),
    Enum(Vec<VariantModel<'a>>),
}

/// A named field, or the only one of a newtype variant.
pub(crate) struct FieldModel<'a> {
    pub(crate) member: Member,
    pub(crate) kind: &'a Type,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: Option<FieldDefault>,
    pub(crate) skip_if: Option<ExprPath>,
    pub(crate) skip: bool,
    pub(crate) flatten: bool,
    pub(crate) like: Option<Type>,
    pub(crate) one_of: Vec<String>,
    pub(crate) docs: String,
}

pub(crate) struct VariantModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) form: VariantForm<'a>,
}

pub(crate) enum VariantForm<'a> {
    Unit,
    Newtype(Box<FieldModel<'a>>),
    Fields(Vec<FieldModel<'a>>),
}

impl<'a> TypeModel<'a> {
    pub(crate) fn of(input: &'a DeriveInput) -> Result<Self> {
        if input.generics.type_params().next().is_some() {
            return Err(Error::new_spanned(&input.generics, "type parameters are not supported"));
        }
        let attributes = JsonAttributes::of(&input.attrs)?;
        if let Some(tag) = &attributes.tag {
            check(tag, &input.ident)?;
        }
        let body = match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => {
                    TypeForm::Struct(self::fields(&fields.named, attributes.rename_all)?)
                }
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => TypeForm::Transparent(
                    fields
                        .unnamed
                        .first()
                        .map(|field| &field.ty)
                        .ok_or_else(|| Error::new_spanned(fields, "expected one field"))?,
                ),
                other => return Err(Error::new_spanned(other, "expected one or named fields")),
            },
            Data::Enum(data) => {
                let variants = data.variants.iter();
                TypeForm::Enum(
                    variants.map(|item| variant(item, &attributes)).collect::<Result<_>>()?,
                )
            }
            Data::Union(_) => return Err(Error::new_spanned(input, "a union has no JSON")),
        };
        let lifetime = input.generics.lifetimes().next().map(|parameter| &parameter.lifetime);
        Ok(Self { name: &input.ident, generics: &input.generics, lifetime, attributes, body })
    }
}

fn fields<'a>(
    fields: impl IntoIterator<Item = &'a SynField>,
    case: Option<NameCase>,
) -> Result<Vec<FieldModel<'a>>> {
    let named = fields.into_iter().enumerate().map(|(index, field)| named(index, field, case));
    let fields: Vec<_> = named.collect::<Result<_>>()?;
    // Reading marks the fields that it has seen in a `u64`.
    match fields.iter().filter(|field| !field.skip).nth(64) {
        Some(field) => Err(Error::new_spanned(&field.member, "at most 64 fields have a bit")),
        None => Ok(fields),
    }
}

fn named(index: usize, field: &SynField, case: Option<NameCase>) -> Result<FieldModel<'_>> {
    let JsonAttributes {
        rename, aliases, default, skip_if, skip, flatten, like, one_of, docs, ..
    } = JsonAttributes::of(&field.attrs)?;
    let (member, own) = match &field.ident {
        Some(ident) => (Member::Named(ident.clone()), ident.to_string()),
        None => (Member::Unnamed(Index::from(index)), index.to_string()),
    };
    let name = rename.unwrap_or_else(|| {
        let own = own.trim_start_matches("r#");
        case.map_or_else(|| own.to_owned(), |case| case.field(own))
    });
    for name in aliases.iter().chain([&name]) {
        check(name, field)?;
    }
    let kind = &field.ty;
    Ok(FieldModel {
        member,
        kind,
        name,
        aliases,
        default,
        skip_if,
        skip,
        flatten,
        like,
        one_of,
        docs,
    })
}

fn variant<'a>(variant: &'a syn::Variant, all: &JsonAttributes) -> Result<VariantModel<'a>> {
    let attributes = JsonAttributes::of(&variant.attrs)?;
    let own = variant.ident.to_string();
    let name = attributes
        .rename
        .unwrap_or_else(|| all.rename_all.map_or_else(|| own.clone(), |case| case.variant(&own)));
    let form = match &variant.fields {
        Fields::Unit => VariantForm::Unit,
        Fields::Named(named) => VariantForm::Fields(fields(&named.named, attributes.rename_all)?),
        Fields::Unnamed(unnamed) => match fields(&unnamed.unnamed, None)?.pop() {
            Some(field) if unnamed.unnamed.len() == 1 => VariantForm::Newtype(Box::new(field)),
            _ => return Err(Error::new_spanned(variant, "expected one or named fields")),
        },
    };
    check(&name, variant)?;
    Ok(VariantModel { ident: &variant.ident, name, docs: attributes.docs, form })
}

/// Checks that a name can stand in a shape's text, whose marks are not characters of names.
fn check(name: &str, place: &impl ToTokens) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    match name.is_empty() || !name.chars().all(is_plain) {
        true => Err(Error::new_spanned(place, format!("`{name}` cannot be a name"))),
        false => Ok(()),
    }
}

impl FieldModel<'_> {
    /// Returns the field's value before it is read.
    pub(crate) fn blank(&self) -> TokenStream {
        let kind = self.kind;
        match &self.default {
            Some(FieldDefault::Call(path)) => quote!(#path()),
            Some(FieldDefault::Default) => quote!(::core::default::Default::default()),
            None if self.skip => quote!(::core::default::Default::default()),
            None => quote!(<#kind as ::innerloop_json::FromJson<'_>>::blank()),
        }
    }

    pub(crate) fn is_required(&self) -> bool {
        self.default.is_none() && !is_option(self.kind)
    }
}

pub(crate) fn is_option(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Option")
}

/// Returns the fields that have a place.
pub(crate) fn placed<'a, 'b>(
    fields: &'b [FieldModel<'a>],
) -> impl Iterator<Item = &'b FieldModel<'a>> {
    fields.iter().filter(|field| !field.skip)
}

/// Returns the text that describes a struct, as `innerloop-json` reads it.
pub(crate) fn shape(model: &TypeModel<'_>, fields: &[FieldModel<'_>]) -> String {
    let JsonAttributes { is_closed, default, .. } = &model.attributes;
    shape_of(fields, *is_closed, default.is_some())
}

/// Returns the text for `fields`; with `optional` none of them is required.
fn shape_of(fields: &[FieldModel<'_>], is_closed: bool, optional: bool) -> String {
    let entries = placed(fields).map(|field| {
        let mark = match field {
            field if field.flatten => "+",
            field if !optional && field.is_required() => "!",
            _ => "",
        };
        let aliases: String = field.aliases.iter().map(|alias| format!("={alias}")).collect();
        format!(",\"{}\":{mark}{aliases}", field.name)
    });
    let head = if is_closed { "." } else { ".." };
    format!("{head}{}", entries.collect::<String>())
}

/// Returns the text that describes an enum, as `innerloop-json` reads it, and the places in it at
/// which the variants begin.
pub(crate) fn variants(
    model: &TypeModel<'_>,
    variants: &[VariantModel<'_>],
) -> (String, Vec<usize>) {
    let JsonAttributes { tag, keyed, untagged, is_closed, .. } = &model.attributes;
    let form = match tag {
        Some(tag) => tag,
        None if *untagged => "*",
        None if *keyed => "{}",
        None => "",
    };
    let mut text = form.to_owned();
    let mut starts = Vec::new();
    for variant in variants {
        let content = match &variant.form {
            VariantForm::Unit => String::new(),
            VariantForm::Newtype(_) => "=".to_owned(),
            VariantForm::Fields(fields) => {
                format!("={}", shape_of(fields, *is_closed, false))
            }
        };
        starts.push(text.len());
        text += &format!("|\"{}\":{content}", variant.name);
    }
    (text, starts)
}

/// Returns the arms `Self::V { a, b } => match place { 0 => …, _ => None }` that give an enum's
/// field at a place.
pub(crate) fn field_arms(
    variants: &[VariantModel<'_>],
    given: impl Fn(&FieldModel<'_>, &TokenStream) -> TokenStream,
) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let ident = variant.ident;
        match &variant.form {
            VariantForm::Unit => quote!(Self::#ident => ::core::option::Option::None,),
            VariantForm::Newtype(field) => {
                let given = given(field, &quote!(field));
                quote!(Self::#ident(field) => match place {
                    0 => #given,
                    _ => ::core::option::Option::None,
                },)
            }
            VariantForm::Fields(fields) => {
                let members = placed(fields).map(|field| &field.member);
                let bindings = placed(fields).map(|field| binding(&field.member));
                let arms = placed(fields).enumerate().map(|(index, field)| {
                    let given = given(field, &binding(&field.member));
                    quote!(#index => #given,)
                });
                quote!(Self::#ident { #(#members: #bindings,)* .. } => match place {
                    #(#arms)*
                    _ => ::core::option::Option::None,
                },)
            }
        }
    });
    quote!(#(#arms)*)
}

/// Returns a name for a field's reference that shadows no other name.
fn binding(member: &Member) -> TokenStream {
    match member {
        // A field may be called `place`, as a variable of the emitted code is.
        Member::Named(ident) => format_ident!("field_{ident}").to_token_stream(),
        Member::Unnamed(index) => format_ident!("field_{}", index.index).to_token_stream(),
    }
}

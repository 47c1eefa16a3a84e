//! The derive of the schema traits, emitted only with the feature `schema`.

use crate::attributes::JsonAttributes;
use crate::model::{FieldModel, TypeForm, TypeModel, VariantForm};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

/// The direction for which a schema is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaDirection {
    Read,
    Write,
}

impl SchemaDirection {
    /// Returns the code for the schema of a type's values.
    fn value(self, kind: &Type) -> TokenStream {
        match self {
            Self::Read => {
                quote!(<#kind as ::innerloop_json::schema::ReadSchema>::read_schema(table))
            }
            Self::Write => {
                quote!(<#kind as ::innerloop_json::schema::WriteSchema>::write_schema(table))
            }
        }
    }
}

/// Returns the trait's implementation; nothing without the feature.
pub(crate) fn implementation(model: &TypeModel<'_>, direction: SchemaDirection) -> TokenStream {
    if !cfg!(feature = "schema") {
        return quote!();
    }
    let name = model.name;
    let (generics, arguments, bounds) = model.generics.split_for_impl();
    let (of, function) = match direction {
        SchemaDirection::Read => ("ReadSchema", "read_schema"),
        SchemaDirection::Write => ("WriteSchema", "write_schema"),
    };
    let (of, function) = (format_ident!("{of}"), format_ident!("{function}"));
    let schema = schema(model, direction);
    // Cargo builds `innerloop-json` a second time for build scripts, maybe without the feature that
    // this crate has. The macro belongs to the build that compiles the code.
    quote! {
        ::innerloop_json::when_schema! {
            #[automatically_derived]
            impl #generics ::innerloop_json::schema::#of for #name #arguments #bounds {
                fn #function(
                    table: &mut ::innerloop_json::schema::SchemaTable,
                ) -> ::innerloop_json::schema::ValueSchema {
                    #schema
                }
            }
        }
    }
}

fn schema(model: &TypeModel<'_>, direction: SchemaDirection) -> TokenStream {
    let JsonAttributes { like, is_closed, default, docs, .. } = &model.attributes;
    if let Some(like) = like {
        return direction.value(like);
    }
    let body = match &model.body {
        TypeForm::Transparent(kind) => return direction.value(kind),
        TypeForm::Struct(fields) => {
            let object = object(fields, *is_closed, default.is_some(), direction);
            quote!(::innerloop_json::schema::TypeBody::Object(#object))
        }
        TypeForm::Enum(_) => {
            let choice = choice(model, direction);
            quote!(::innerloop_json::schema::TypeBody::Choice(#choice))
        }
    };
    let name = model.name.to_string();
    quote!(table.define(::core::module_path!(), #name, #docs, |table| #body))
}

fn choice(model: &TypeModel<'_>, direction: SchemaDirection) -> TokenStream {
    let JsonAttributes { tag, keyed, untagged, is_closed, .. } = &model.attributes;
    let form = match tag {
        Some(tag) => quote!(Tagged(#tag)),
        None if *untagged => quote!(Untagged),
        None if *keyed => quote!(Keyed),
        None => quote!(Named),
    };
    let TypeForm::Enum(variants) = &model.body else { return quote!() };
    let variants = variants.iter().map(|variant| {
        let (name, docs) = (&variant.name, &variant.docs);
        let content = match &variant.form {
            VariantForm::Unit => quote!(Unit),
            VariantForm::Newtype(field) => {
                let value = value(field, direction);
                quote!(Value(#value))
            }
            VariantForm::Fields(fields) => {
                let object = object(fields, *is_closed, false, direction);
                quote!(Object(#object))
            }
        };
        quote! {
            ::innerloop_json::schema::VariantSchema {
                name: ::core::convert::Into::into(#name),
                docs: ::core::convert::Into::into(#docs),
                content: ::innerloop_json::schema::VariantContent::#content,
            }
        }
    });
    quote! {
        ::innerloop_json::schema::ChoiceSchema {
            form: ::innerloop_json::schema::ChoiceForm::#form,
            variants: ::core::convert::Into::into([#(#variants),*]),
        }
    }
}

/// Returns the schema of fields; with `optional` none of them is required where it is read.
fn object(
    fields: &[FieldModel<'_>],
    is_closed: bool,
    optional: bool,
    direction: SchemaDirection,
) -> TokenStream {
    let fields = fields.iter().filter(|field| !field.skip).map(|field| {
        let (name, docs) = (&field.name, &field.docs);
        // An `Option` is written as `null` unless it is skipped, but may be missing where it is
        // read.
        let may_miss = match direction {
            SchemaDirection::Read => optional || !field.is_required(),
            SchemaDirection::Write => field.skip_if.is_some(),
        };
        let presence = match may_miss {
            _ if field.flatten => quote!(Flattened),
            true => quote!(Optional),
            false => quote!(Required),
        };
        let mut value = value(field, direction);
        if direction == SchemaDirection::Write && may_miss {
            value = quote!(#value.without_null());
        }
        quote! {
            ::innerloop_json::schema::FieldSchema {
                name: ::core::convert::Into::into(#name),
                docs: ::core::convert::Into::into(#docs),
                value: #value,
                presence: ::innerloop_json::schema::FieldPresence::#presence,
            }
        }
    });
    quote! {
        ::innerloop_json::schema::ObjectSchema {
            fields: ::core::convert::Into::into([#(#fields),*]),
            closed: #is_closed,
        }
    }
}

fn value(field: &FieldModel<'_>, direction: SchemaDirection) -> TokenStream {
    if !field.one_of.is_empty() {
        let names = &field.one_of;
        return quote!(::innerloop_json::schema::ValueSchema::Names(&[#(#names),*]));
    }
    direction.value(field.like.as_ref().unwrap_or(field.kind))
}

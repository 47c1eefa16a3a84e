//! The derive of the names that a `FromJson` knows: of a struct's fields, or of an enum's variants
//! and their fields.

use crate::model::{TypeForm, TypeModel, VariantForm, VariantModel, placed};
use proc_macro2::TokenStream;
use quote::quote;

/// Returns the implementation of `FieldNames` or `VariantNames`.
pub(crate) fn implementation(model: &TypeModel<'_>) -> TokenStream {
    let name = model.name;
    let (generics, arguments, bounds) = model.generics.split_for_impl();
    match &model.body {
        TypeForm::Transparent(_) => quote!(),
        TypeForm::Struct(fields) => {
            let fields = placed(fields).map(|field| &field.name);
            quote! {
                #[automatically_derived]
                impl #generics ::innerloop_json::FieldNames for #name #arguments #bounds {
                    const FIELDS: &'static [&'static str] = &[#(#fields),*];
                }
            }
        }
        TypeForm::Enum(variants) => {
            let is_tagged = model.attributes.tag.is_some();
            let names = variants.iter().map(|variant| &variant.name);
            let fields = variants.iter().map(|variant| {
                let (name, fields) = (&variant.name, fields_of(variant, is_tagged));
                quote!(#name => #fields,)
            });
            quote! {
                #[automatically_derived]
                impl #generics ::innerloop_json::VariantNames for #name #arguments #bounds {
                    const VARIANTS: &'static [&'static str] = &[#(#names),*];

                    fn fields(variant: &str) -> ::core::option::Option<&'static [&'static str]> {
                        ::core::option::Option::Some(match variant {
                            #(#fields)*
                            _ => return ::core::option::Option::None,
                        })
                    }
                }
            }
        }
    }
}

/// Returns the names of the fields beside a variant's name, or in the object under it.
fn fields_of(variant: &VariantModel<'_>, is_tagged: bool) -> TokenStream {
    match &variant.form {
        VariantForm::Newtype(field) if is_tagged => {
            let kind = field.kind;
            quote!(<#kind as ::innerloop_json::FieldNames>::FIELDS)
        }
        VariantForm::Unit | VariantForm::Newtype(_) => quote!(&[]),
        VariantForm::Fields(fields) => {
            let names = placed(fields).map(|field| &field.name);
            quote!(&[#(#names),*])
        }
    }
}

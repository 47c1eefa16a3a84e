//! The derive of `ToJson`: the text that describes the type, and a function that gives the field at
//! a place. The loop over the fields is one function for all types.

use crate::model::{
    FieldModel, TypeForm, TypeModel, VariantForm, field_arms, is_option, placed, shape, variants,
};
use crate::schema::{self, SchemaDirection};
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn implementation(model: &TypeModel<'_>) -> TokenStream {
    let name = model.name;
    let (generics, arguments, bounds) = model.generics.split_for_impl();
    let (write, parts) = match &model.body {
        TypeForm::Transparent(_) => {
            (quote!(::innerloop_json::ToJson::write(&self.0, writer);), quote!())
        }
        TypeForm::Struct(fields) => {
            let shape = shape(model, fields);
            let arms = placed(fields).enumerate().map(|(index, field)| {
                let member = &field.member;
                let part = part(field, &quote!(&self.#member));
                quote!(#index => #part,)
            });
            let write = quote! {
                ::innerloop_json::derived::write_fields(writer, #shape, self);
            };
            (write, quote!(match place { #(#arms)* _ => ::core::option::Option::None }))
        }
        TypeForm::Enum(all) => {
            let (shape, starts) = variants(model, all);
            let starts = all.iter().zip(starts).map(|(variant, start)| {
                let ident = variant.ident;
                match &variant.form {
                    VariantForm::Unit => quote!(Self::#ident => #start,),
                    VariantForm::Newtype(_) => quote!(Self::#ident(_) => #start,),
                    VariantForm::Fields(_) => quote!(Self::#ident { .. } => #start,),
                }
            });
            let arms = field_arms(all, part);
            let write = quote! {
                let start: usize = match self { #(#starts)* };
                ::innerloop_json::derived::write_variant(writer, #shape, start, self);
            };
            (write, quote!(match self { #arms }))
        }
    };
    let parts = (!parts.is_empty()).then(|| {
        quote! {
            impl #generics ::innerloop_json::derived::FieldValues for #name #arguments #bounds {
                fn part(
                    &self,
                    place: usize,
                ) -> ::core::option::Option<&dyn ::innerloop_json::ToJson> {
                    #parts
                }
            }
        }
    });
    let bridge = bridge(model);
    let schema = schema::implementation(model, SchemaDirection::Write);
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics ::innerloop_json::ToJson for #name #arguments #bounds {
                fn write(&self, writer: &mut ::innerloop_json::Writer) {
                    #write
                }
            }

            #[automatically_derived]
            #parts

            #bridge #schema
        };
    }
}

/// Returns the implementation of serde's trait.
fn bridge(model: &TypeModel<'_>) -> TokenStream {
    let name = model.name;
    let parameters = &model.generics.params;
    let (_, arguments, _) = model.generics.split_for_impl();
    match &model.body {
        TypeForm::Transparent(_) => {
            quote!(::innerloop_json::bridge_transparent!(Serialize [#parameters] #name #arguments);)
        }
        _ => quote!(::innerloop_json::bridge_serialize!([#parameters] #name #arguments);),
    }
}

/// Returns the code for the field at `value`, which is a reference, unless it is left out.
fn part(field: &FieldModel<'_>, value: &TokenStream) -> TokenStream {
    let some = quote!(::core::option::Option::Some(#value));
    match &field.skip_if {
        // The value and not the option, which would be written by code of its own.
        Some(path)
            if is_option(field.kind)
                && path.path.segments.iter().any(|it| it.ident == "is_none") =>
        {
            quote! {
                match #value {
                    ::core::option::Option::Some(value) => ::core::option::Option::Some(value),
                    ::core::option::Option::None => ::core::option::Option::None,
                }
            }
        }
        Some(path) => quote!(if #path(#value) { ::core::option::Option::None } else { #some }),
        None => some,
    }
}

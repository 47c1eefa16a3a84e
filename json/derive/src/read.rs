//! The derive of `FromJson`. A value is blank at first and is then filled field by field, so that
//! the loop over an object's keys is one function for all types.

use crate::model::{
    FieldModel, TypeForm, TypeModel, VariantForm, VariantModel, field_arms, placed, shape, variants,
};
use crate::names;
use crate::schema::{self, SchemaDirection};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result};

pub(crate) fn implementation(model: &TypeModel<'_>) -> Result<TokenStream> {
    if model.attributes.untagged {
        return Err(Error::new_spanned(model.name, "what is untagged is read by hand"));
    }
    let name = model.name;
    let (lifetime, generics) = borrowed(model);
    let (_, arguments, bounds) = model.generics.split_for_impl();
    let ImplFragments { blank, fill, slots, choose } = match &model.body {
        TypeForm::Transparent(kind) => ImplFragments {
            blank: quote!(Self(<#kind as ::innerloop_json::FromJson<'_>>::blank())),
            fill: quote!(::innerloop_json::FromJson::fill(&mut self.0, reader)),
            slots: None,
            choose: None,
        },
        TypeForm::Struct(fields) => of_struct(model, fields),
        TypeForm::Enum(all) => of_enum(model, all)?,
    };
    let slots = slots.map(|slots| {
        quote! {
            #[automatically_derived]
            impl #generics ::innerloop_json::derived::FieldSlots<#lifetime>
                for #name #arguments #bounds
            {
                fn slot(
                    &mut self,
                    place: usize,
                ) -> ::core::option::Option<&mut dyn ::innerloop_json::FromJson<#lifetime>> {
                    #slots
                }
            }
        }
    });
    let choose = choose.map(|choose| choice(model, &choose));
    let names = names::implementation(model);
    let bridge = bridge(model);
    let schema = schema::implementation(model, SchemaDirection::Read);
    Ok(quote! {
        const _: () = {
            #[automatically_derived]
            impl #generics ::innerloop_json::FromJson<#lifetime> for #name #arguments #bounds {
                fn blank() -> Self {
                    #blank
                }

                fn fill(
                    &mut self,
                    reader: &mut ::innerloop_json::Reader<#lifetime>,
                ) -> ::core::result::Result<(), ::innerloop_json::Error> {
                    #fill
                }
            }

            #slots

            #choose

            #names

            #bridge #schema
        };
    })
}

/// Returns the implementation of the trait of enums whose variant is chosen.
fn choice(model: &TypeModel<'_>, choose: &TokenStream) -> TokenStream {
    let name = model.name;
    let (lifetime, generics) = borrowed(model);
    let (_, arguments, bounds) = model.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::innerloop_json::derived::VariantSlots<#lifetime>
            for #name #arguments #bounds
        {
            fn choose(&mut self, place: usize) {
                #choose
            }
        }
    }
}

/// Returns the implementation of serde's trait. A type that borrows has none: serde reads by way of
/// a copy of the text, which does not live on.
fn bridge(model: &TypeModel<'_>) -> TokenStream {
    let name = model.name;
    match &model.body {
        _ if model.lifetime.is_some() => quote!(),
        TypeForm::Transparent(_) => {
            quote!(::innerloop_json::bridge_transparent!(Deserialize #name);)
        }
        _ => quote!(::innerloop_json::bridge_deserialize!(#name);),
    }
}

/// The code in which structs and enums differ.
struct ImplFragments {
    blank: TokenStream,
    fill: TokenStream,
    slots: Option<TokenStream>,
    choose: Option<TokenStream>,
}

fn of_struct(model: &TypeModel<'_>, fields: &[FieldModel<'_>]) -> ImplFragments {
    let shape = shape(model, fields);
    let values = blanks(fields);
    let blank = match model.attributes.default {
        Some(_) => quote!(<Self as ::core::default::Default>::default()),
        None => quote!(Self { #values }),
    };
    let arms = placed(fields).enumerate().map(|(index, field)| {
        let member = &field.member;
        quote!(#index => ::core::option::Option::Some(&mut self.#member),)
    });
    let fill = quote! {
        ::innerloop_json::derived::fill_fields(reader, #shape, self)
    };
    let slots = quote!(match place { #(#arms)* _ => ::core::option::Option::None });
    ImplFragments { blank, fill, slots: Some(slots), choose: None }
}

fn of_enum(model: &TypeModel<'_>, all: &[VariantModel<'_>]) -> Result<ImplFragments> {
    // A unit variant is the cheapest blank value, and has no field that would have to be blank.
    let plain = all.iter().find(|variant| matches!(variant.form, VariantForm::Unit));
    let first = plain
        .or(all.first())
        .ok_or_else(|| Error::new_spanned(model.name, "an enum without variants cannot be read"))?;
    let (shape, _) = variants(model, all);
    let fill = quote! {
        ::innerloop_json::derived::fill_variant(reader, #shape, self)
    };
    let chosen = all.iter().enumerate().map(|(index, variant)| {
        let value = blank_variant(variant);
        quote!(#index => #value,)
    });
    let arms = field_arms(all, |_, value| quote!(::core::option::Option::Some(#value)));
    let choose = quote!(*self = match place { #(#chosen)* _ => return };);
    let slots = quote!(match self { #arms });
    Ok(ImplFragments {
        blank: blank_variant(first),
        fill,
        slots: Some(slots),
        choose: Some(choose),
    })
}

fn blank_variant(variant: &VariantModel<'_>) -> TokenStream {
    let ident = variant.ident;
    match &variant.form {
        VariantForm::Unit => quote!(Self::#ident),
        VariantForm::Newtype(field) => {
            let blank = field.blank();
            quote!(Self::#ident(#blank))
        }
        VariantForm::Fields(fields) => {
            let values = blanks(fields);
            quote!(Self::#ident { #values })
        }
    }
}

fn blanks(fields: &[FieldModel<'_>]) -> TokenStream {
    let values = fields.iter().map(|field| {
        let (member, blank) = (&field.member, field.blank());
        quote!(#member: #blank,)
    });
    quote!(#(#values)*)
}

/// Returns the lifetime of the text, and the type's parameters with it.
fn borrowed(model: &TypeModel<'_>) -> (TokenStream, TokenStream) {
    let parameters = &model.generics.params;
    match model.lifetime {
        Some(lifetime) => (quote!(#lifetime), quote!(<#parameters>)),
        None => (quote!('json), quote!(<'json, #parameters>)),
    }
}

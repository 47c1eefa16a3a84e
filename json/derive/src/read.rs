//! The derive of `FromJson`.

use crate::model::{Body, Field, Form, Model, Variant, field_arms, placed, shape, variants};
use crate::names;
use crate::schema::{self, Direction};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result};

pub(crate) fn implementation(model: &Model<'_>) -> Result<TokenStream> {
    if model.attributes.untagged {
        return Err(Error::new_spanned(model.name, "what is untagged is read by hand"));
    }
    let name = model.name;
    let (lifetime, generics) = borrowed(model);
    let (_, arguments, bounds) = model.generics.split_for_impl();
    let Parts { blank, fill, slots, choose } = match &model.body {
        Body::Transparent(kind) => Parts {
            blank: quote!(Self(<#kind as ::innerloop_json::FromJson<'_>>::blank())),
            fill: quote!(::innerloop_json::FromJson::fill(&mut self.0, reader)),
            slots: None,
            choose: None,
        },
        Body::Struct(fields) => of_struct(model, fields),
        Body::Enum(all) => of_enum(model, all)?,
    };
    let slots = slots.map(|slots| {
        quote! {
            #[automatically_derived]
            impl #generics ::innerloop_json::derived::Slots<#lifetime>
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
    let schema = schema::implementation(model, Direction::Read);
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

/// The trait of an enum whose variant is chosen.
fn choice(model: &Model<'_>, choose: &TokenStream) -> TokenStream {
    let name = model.name;
    let (lifetime, generics) = borrowed(model);
    let (_, arguments, bounds) = model.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::innerloop_json::derived::Choice<#lifetime> for #name #arguments #bounds {
            fn choose(&mut self, place: usize) {
                #choose
            }
        }
    }
}

/// serde's trait, which reads from no text that lives on.
fn bridge(model: &Model<'_>) -> TokenStream {
    let name = model.name;
    match &model.body {
        _ if model.lifetime.is_some() => quote!(),
        Body::Transparent(_) => quote!(::innerloop_json::bridge_transparent!(Deserialize #name);),
        _ => quote!(::innerloop_json::bridge_deserialize!(#name);),
    }
}

/// What differs between structs and enums.
struct Parts {
    blank: TokenStream,
    fill: TokenStream,
    slots: Option<TokenStream>,
    choose: Option<TokenStream>,
}

fn of_struct(model: &Model<'_>, fields: &[Field<'_>]) -> Parts {
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
    Parts { blank, fill, slots: Some(slots), choose: None }
}

fn of_enum(model: &Model<'_>, all: &[Variant<'_>]) -> Result<Parts> {
    let plain = all.iter().find(|variant| matches!(variant.form, Form::Unit));
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
    Ok(Parts { blank: blank_variant(first), fill, slots: Some(slots), choose: Some(choose) })
}

fn blank_variant(variant: &Variant<'_>) -> TokenStream {
    let ident = variant.ident;
    match &variant.form {
        Form::Unit => quote!(Self::#ident),
        Form::Newtype(field) => {
            let blank = field.blank();
            quote!(Self::#ident(#blank))
        }
        Form::Fields(fields) => {
            let values = blanks(fields);
            quote!(Self::#ident { #values })
        }
    }
}

fn blanks(fields: &[Field<'_>]) -> TokenStream {
    let values = fields.iter().map(|field| {
        let (member, blank) = (&field.member, field.blank());
        quote!(#member: #blank,)
    });
    quote!(#(#values)*)
}

/// The lifetime of the text, and the type's parameters with it.
fn borrowed(model: &Model<'_>) -> (TokenStream, TokenStream) {
    let parameters = &model.generics.params;
    match model.lifetime {
        Some(lifetime) => (quote!(#lifetime), quote!(<#parameters>)),
        None => (quote!('json), quote!(<'json, #parameters>)),
    }
}

//! The attributes `#[json(…)]` of types, fields and variants, read into one struct: the models of
//! types take from it what applies where it stands.

use syn::{
    Attribute, Error, Expr, ExprLit, ExprPath, Lit, LitStr, Meta, Result, Token, Type,
    meta::ParseNestedMeta, parenthesized, punctuated::Punctuated,
};

/// All that `#[json(…)]` may say, on whatever it stands.
#[derive(Default)]
pub(crate) struct JsonAttributes {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<NameCase>,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: Option<FieldDefault>,
    pub(crate) skip_if: Option<ExprPath>,
    pub(crate) skip: bool,
    pub(crate) flatten: bool,
    pub(crate) is_closed: bool,
    pub(crate) tag: Option<String>,
    pub(crate) keyed: bool,
    pub(crate) untagged: bool,
    pub(crate) like: Option<Type>,
    pub(crate) one_of: Vec<String>,
    /// The documentation, which is not one of our attributes.
    pub(crate) docs: String,
}

/// The value of an absent field.
pub(crate) enum FieldDefault {
    /// The default of its type.
    Default,
    /// The result of a function.
    Call(ExprPath),
}

/// The case in which names are spelled.
#[derive(Clone, Copy)]
pub(crate) enum NameCase {
    Snake,
    Camel,
}

impl JsonAttributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut all = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("json")) {
            attribute.parse_nested_meta(|meta| all.take(&meta))?;
        }
        if cfg!(feature = "schema") {
            all.docs = documentation(attributes);
        }
        Ok(all)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "rename" => self.rename = Some(text(meta)?.value()),
            "rename_all" => self.rename_all = Some(NameCase::of(&text(meta)?)?),
            "alias" => self.aliases.push(text(meta)?.value()),
            "default" if meta.input.peek(syn::Token![=]) => {
                self.default = Some(FieldDefault::Call(text(meta)?.parse()?));
            }
            "default" => self.default = Some(FieldDefault::Default),
            "skip_serializing_if" => self.skip_if = Some(text(meta)?.parse()?),
            "skip" => self.skip = true,
            "flatten" => self.flatten = true,
            "deny_unknown_fields" => self.is_closed = true,
            "tag" => self.tag = Some(text(meta)?.value()),
            "keyed" => self.keyed = true,
            "untagged" => self.untagged = true,
            "like" => self.like = Some(text(meta)?.parse()?),
            "one_of" => self.one_of = texts(meta)?,
            _ => return Err(meta.error("unknown attribute")),
        }
        Ok(())
    }
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

fn texts(meta: &ParseNestedMeta<'_>) -> Result<Vec<String>> {
    let inside;
    parenthesized!(inside in meta.input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&inside)?;
    Ok(texts.iter().map(LitStr::value).collect())
}

/// Returns the lines of documentation, without the space that each begins with.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(named) if named.path.is_ident("doc") => match &named.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    lines.join("\n")
}

impl NameCase {
    fn of(text: &LitStr) -> Result<Self> {
        match text.value().as_str() {
            "snake_case" => Ok(Self::Snake),
            "camelCase" => Ok(Self::Camel),
            _ => Err(Error::new(text.span(), "expected snake_case or camelCase")),
        }
    }

    /// Returns a field's name, which is written in snake case in the code.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::Snake => name.to_owned(),
            Self::Camel => {
                let mut words = name.split('_');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |name, word| name + &with_first(word, char::to_ascii_uppercase))
            }
        }
    }

    /// Returns a variant's name, which is written in upper camel case in the code.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::Camel => with_first(name, char::to_ascii_lowercase),
            Self::Snake => {
                let mut snake = String::new();
                for c in name.chars() {
                    if c.is_ascii_uppercase() && !snake.is_empty() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
        }
    }
}

fn with_first(word: &str, change: fn(&char) -> char) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| change(&first)).into_iter().chain(chars).collect()
}

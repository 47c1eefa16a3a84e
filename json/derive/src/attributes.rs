//! The attributes `#[json(…)]`.

use syn::{Attribute, Error, ExprPath, LitStr, Result, meta::ParseNestedMeta};

/// All that `#[json(…)]` may say, wherever it stands.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: Option<Fallback>,
    pub(crate) skip_if: Option<ExprPath>,
    pub(crate) skip: bool,
    pub(crate) flatten: bool,
    pub(crate) is_closed: bool,
    pub(crate) tag: Option<String>,
    pub(crate) keyed: bool,
    pub(crate) untagged: bool,
}

/// What an absent field is.
pub(crate) enum Fallback {
    /// Its type's default.
    Default,
    /// What a function gives.
    Call(ExprPath),
}

/// How names are spelled.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Camel,
}

impl Attributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut all = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("json")) {
            attribute.parse_nested_meta(|meta| all.take(&meta))?;
        }
        Ok(all)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "rename" => self.rename = Some(text(meta)?.value()),
            "rename_all" => self.rename_all = Some(Case::of(&text(meta)?)?),
            "alias" => self.aliases.push(text(meta)?.value()),
            "default" if meta.input.peek(syn::Token![=]) => {
                self.default = Some(Fallback::Call(text(meta)?.parse()?));
            }
            "default" => self.default = Some(Fallback::Default),
            "skip_serializing_if" => self.skip_if = Some(text(meta)?.parse()?),
            "skip" => self.skip = true,
            "flatten" => self.flatten = true,
            "deny_unknown_fields" => self.is_closed = true,
            "tag" => self.tag = Some(text(meta)?.value()),
            "keyed" => self.keyed = true,
            "untagged" => self.untagged = true,
            _ => return Err(meta.error("unknown attribute")),
        }
        Ok(())
    }
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

impl Case {
    fn of(text: &LitStr) -> Result<Self> {
        match text.value().as_str() {
            "snake_case" => Ok(Self::Snake),
            "camelCase" => Ok(Self::Camel),
            _ => Err(Error::new(text.span(), "expected snake_case or camelCase")),
        }
    }

    /// A field's name, which is written in snake case.
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

    /// A variant's name, which is written in upper camel case.
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

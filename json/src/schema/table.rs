//! The traits, and what they tell.

use alloc::{borrow::Cow, boxed::Box, vec::Vec};

/// A type that can be read, and the form that its JSON may have.
pub trait ReadSchema {
    /// The values that are read; their types are defined in `table`.
    fn read_schema(table: &mut SchemaTable) -> ValueSchema;
}

/// A type that can be written, and the form that its JSON has.
pub trait WriteSchema {
    /// The values that are written; their types are defined in `table`.
    fn write_schema(table: &mut SchemaTable) -> ValueSchema;
}

/// Types by name, in the order in which they are come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaTable {
    /// The types.
    pub types: Vec<TypeSchema>,
}

/// A type with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The module that defines it.
    pub module: &'static str,
    /// Its documentation.
    pub docs: Cow<'static, str>,
    /// The form of its values.
    pub body: TypeBody,
}

/// The form of the values of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeBody {
    /// Objects with these fields.
    Object(ObjectSchema),
    /// One of several kinds.
    Choice(ChoiceSchema),
}

/// The fields of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSchema {
    /// The fields, in order.
    pub fields: Vec<FieldSchema>,
    /// True if a field of another name is an error.
    pub closed: bool,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSchema {
    /// Its name; of a flattened field none.
    pub name: Cow<'static, str>,
    /// Its documentation.
    pub docs: Cow<'static, str>,
    /// Its value.
    pub value: ValueSchema,
    /// The presence of the field in its object.
    pub presence: FieldPresence,
}

/// The presence of a field in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPresence {
    /// It is there.
    Required,
    /// It may be missing.
    Optional,
    /// The fields of its value stand in its place.
    Flattened,
}

/// The kinds of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceSchema {
    /// The way in which kinds are told apart.
    pub form: ChoiceForm,
    /// The kinds.
    pub variants: Vec<VariantSchema>,
}

/// The way in which the kinds of a value are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceForm {
    /// By the only key of an object; a kind without content is its name.
    Named,
    /// By the only key of an object, whose value is `null` where there is no content.
    Keyed,
    /// By the field of that name, beside the content's own.
    Tagged(&'static str),
    /// By nothing but the content.
    Untagged,
}

/// A kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSchema {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its documentation.
    pub docs: Cow<'static, str>,
    /// The content of the kind.
    pub content: VariantContent,
}

/// The content of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariantContent {
    /// Nothing.
    Unit,
    /// A value.
    Value(ValueSchema),
    /// An object of its own.
    Object(ObjectSchema),
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSchema {
    /// Any JSON.
    Any,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A whole number.
    Integer {
        /// True if it may be below zero.
        signed: bool,
        /// The number of its bits.
        bits: u32,
    },
    /// A text.
    Text,
    /// Bytes as text.
    Base64,
    /// One of these texts.
    Names(&'static [&'static str]),
    /// That, or `null`.
    Nullable(Box<Self>),
    /// An array.
    Array(Box<Self>),
    /// An array of two.
    Pair(Box<(Self, Self)>),
    /// An object whose fields have any names.
    Map(Box<Self>),
    /// A merge patch (RFC 7396) of that.
    Patch(Box<Self>),
    /// A type of the table, by name.
    Defined(Cow<'static, str>),
}

impl SchemaTable {
    /// A type, whose body is asked for once.
    pub fn define(
        &mut self,
        module: &'static str,
        name: &'static str,
        docs: &'static str,
        body: fn(&mut Self) -> TypeBody,
    ) -> ValueSchema {
        let known = self.get(name);
        debug_assert!(known.is_none_or(|own| own.module == module), "two types are named {name}");
        if known.is_none() {
            let place = self.types.len();
            let name = name.into();
            let blank = TypeBody::Object(ObjectSchema::default());
            self.types.push(TypeSchema { name, module, docs: docs.into(), body: blank });
            let body = body(self);
            if let Some(own) = self.types.get_mut(place) {
                own.body = body;
            }
        }
        ValueSchema::Defined(name.into())
    }

    /// A type whose values are those of several, told apart by nothing but what they are.
    pub fn define_either(
        &mut self,
        module: &'static str,
        name: &'static str,
        docs: &'static str,
        values: fn(&mut Self) -> Vec<ValueSchema>,
    ) -> ValueSchema {
        let value = self.define(module, name, docs, |_| TypeBody::Object(ObjectSchema::default()));
        let variants = values(self).into_iter().map(|value| VariantSchema {
            name: Cow::default(),
            docs: Cow::default(),
            content: VariantContent::Value(value),
        });
        let variants = variants.collect();
        if let Some(own) = self.types.iter_mut().find(|own| own.name == name) {
            own.body = TypeBody::Choice(ChoiceSchema { form: ChoiceForm::Untagged, variants });
        }
        value
    }

    /// The type of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TypeSchema> {
        self.types.iter().find(|own| own.name == name)
    }
}

impl ValueSchema {
    /// That, or `null`.
    #[must_use]
    pub fn or_null(self) -> Self {
        match self {
            Self::Nullable(_) | Self::Any => self,
            other => Self::Nullable(Box::new(other)),
        }
    }

    /// That without `null`.
    #[must_use]
    pub fn without_null(self) -> Self {
        match self {
            Self::Nullable(inner) => *inner,
            other => other,
        }
    }
}

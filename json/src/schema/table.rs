//! The traits of schemas, and the table of types that they fill. It is plain data, from which other
//! crates make JSON Schema and the types of other languages.

use alloc::{borrow::Cow, boxed::Box, vec::Vec};

/// A type that can be read, and the form that its JSON may have.
pub trait ReadSchema {
    /// Returns the values that are read, whose types are defined in `table`.
    fn read_schema(table: &mut SchemaTable) -> ValueSchema;
}

/// A type that can be written, and the form that its JSON has.
pub trait WriteSchema {
    /// Returns the values that are written, whose types are defined in `table`.
    fn write_schema(table: &mut SchemaTable) -> ValueSchema;
}

/// Types by name, in the order in which they are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaTable {
    /// The types that are defined.
    pub types: Vec<TypeSchema>,
}

/// A type with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    /// The name of the type.
    pub name: Cow<'static, str>,
    /// The module that defines it.
    pub module: &'static str,
    /// The documentation of the type.
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

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSchema {
    /// Its name; of a flattened field none.
    pub name: Cow<'static, str>,
    /// The documentation of the field.
    pub docs: Cow<'static, str>,
    /// The form of its value.
    pub value: ValueSchema,
    /// The presence of the field in its object.
    pub presence: FieldPresence,
}

/// The presence of a field in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPresence {
    /// The field is always there.
    Required,
    /// The field may be missing.
    Optional,
    /// The fields of its value stand in its place.
    Flattened,
}

/// The kinds of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceSchema {
    /// The way in which kinds are told apart.
    pub form: ChoiceForm,
    /// The kinds, in their order.
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

/// A kind of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSchema {
    /// The name of the kind.
    pub name: Cow<'static, str>,
    /// The documentation of the kind.
    pub docs: Cow<'static, str>,
    /// The content of the kind.
    pub content: VariantContent,
}

/// The content of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariantContent {
    /// The kind has no content.
    Unit,
    /// The content is a value.
    Value(ValueSchema),
    /// The content is an object of its own.
    Object(ObjectSchema),
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSchema {
    /// Any value of JSON.
    Any,
    /// Either `true` or `false`.
    Bool,
    /// A number of any size.
    Number,
    /// A whole number of some width.
    Integer {
        /// True if it may be below zero.
        signed: bool,
        /// The number of its bits.
        bits: u32,
    },
    /// A text of any length.
    Text,
    /// Bytes as text in base64.
    Base64,
    /// One of these texts.
    Names(&'static [&'static str]),
    /// A value of that form, or `null`.
    Nullable(Box<Self>),
    /// An array of such values.
    Array(Box<Self>),
    /// An array of two values.
    Pair(Box<(Self, Self)>),
    /// An object whose fields have any names.
    Map(Box<Self>),
    /// A merge patch (RFC 7396) of that.
    Patch(Box<Self>),
    /// A type of the table, by name.
    Defined(Cow<'static, str>),
}

impl SchemaTable {
    /// Defines a type, whose body is asked for once, and returns a reference to it.
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
            // The type is in the table before its body is made, so that a type that contains itself
            // ends.
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

    /// Defines a type whose values are those of several, told apart only by their content.
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

    /// Returns the type of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TypeSchema> {
        self.types.iter().find(|own| own.name == name)
    }
}

impl ValueSchema {
    /// Returns this value or `null`.
    #[must_use]
    pub fn or_null(self) -> Self {
        match self {
            Self::Nullable(_) | Self::Any => self,
            other => Self::Nullable(Box::new(other)),
        }
    }

    /// Returns this value without `null`.
    #[must_use]
    pub fn without_null(self) -> Self {
        match self {
            Self::Nullable(inner) => *inner,
            other => other,
        }
    }
}

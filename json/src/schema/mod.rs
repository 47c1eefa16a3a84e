//! Schemas of types' JSON (feature `schema`): the derives make them, beside the code that reads and
//! writes, with the documentation of types, fields and variants. None of this is compiled into a
//! program that does not ask for it.
//!
//! What is read and what is written differ: a field with a default may be missing where it is read,
//! and one that is skipped may be missing where it is written. Hence two traits, and a
//! [`SchemaTable`] is of one of them.

mod plain;
mod table;

pub use plain::{Base64Text, MergePatch};
pub use table::{
    ChoiceForm, ChoiceSchema, FieldPresence, FieldSchema, ObjectSchema, ReadSchema, SchemaTable,
    TypeBody, TypeSchema, ValueSchema, VariantContent, VariantSchema, WriteSchema,
};

/// Gives a type whose JSON is read and written by hand the schema that a function tells; behind
/// `read` where only reading is by hand. Without the feature nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! hand_schema {
    (read $type:ty, $told:expr) => {
        impl $crate::schema::ReadSchema for $type {
            fn read_schema(table: &mut $crate::schema::SchemaTable) -> $crate::schema::ValueSchema {
                $told(table)
            }
        }
    };
    ($type:ty, $told:expr) => {
        $crate::hand_schema!(read $type, $told);

        impl $crate::schema::WriteSchema for $type {
            fn write_schema(
                table: &mut $crate::schema::SchemaTable,
            ) -> $crate::schema::ValueSchema {
                $told(table)
            }
        }
    };
}

/// As `hand_schema`, of which no more is told than that it is JSON.
#[doc(hidden)]
#[macro_export]
macro_rules! any_schema {
    (read $type:ty) => {
        $crate::hand_schema!(read $type, |_: &mut _| $crate::schema::ValueSchema::Any);
    };
    ($type:ty) => {
        $crate::hand_schema!($type, |_: &mut _| $crate::schema::ValueSchema::Any);
    };
}

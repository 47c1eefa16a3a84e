//! The public types, collected once, with their documentation in plain text.

use crate::docs;
use innerloop_core::{
    event::Event,
    input::RejectedInput,
    message::{Turn, VisibleTurn},
    output::{Deadline, Output},
};
use innerloop_json::schema::{
    ObjectSchema, ReadSchema, SchemaTable, TypeBody, TypeSchema, VariantContent, WriteSchema,
};
use innerloop_supervisor::commands::{CommandWord, CustomCommand, PendingAsks};

/// The public types, as they are read and as they are written.
#[derive(Debug)]
pub(crate) struct PublicTypes {
    pub(crate) read: SchemaTable,
    pub(crate) write: SchemaTable,
}

/// A file that is generated from them.
#[derive(Debug)]
pub struct MadeFile {
    /// The path of the file in the repository.
    pub path: &'static str,
    /// The content of the file.
    pub text: String,
}

/// A module to generate, and the types that it begins with.
pub(crate) struct ModulePlan {
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    pub(crate) roots: &'static [&'static str],
}

impl PublicTypes {
    pub(crate) fn collect() -> Self {
        let (mut read, mut write) = (SchemaTable::default(), SchemaTable::default());
        innerloop_driver::request_schema(&mut read);
        innerloop_driver::line_schema(&mut write);
        Event::write_schema(&mut write);
        Output::write_schema(&mut write);
        RejectedInput::write_schema(&mut write);
        Deadline::write_schema(&mut write);
        Turn::write_schema(&mut write);
        VisibleTurn::write_schema(&mut write);
        CommandWord::write_schema(&mut write);
        PendingAsks::read_schema(&mut read);
        CustomCommand::read_schema(&mut read);
        for own in read.types.iter_mut().chain(&mut write.types) {
            clean(own);
        }
        Self { read, write }
    }

    /// Returns a type as it is written, or as it is read if it is never written.
    pub(crate) fn written(&self, name: &str) -> Option<&TypeSchema> {
        self.write.get(name).or_else(|| self.read.get(name))
    }

    /// Returns a type as it is read, or as it is written if it is never read.
    pub(crate) fn given(&self, name: &str) -> Option<&TypeSchema> {
        self.read.get(name).or_else(|| self.write.get(name))
    }
}

/// Removes what only rustdoc shows from the documentation.
fn clean(own: &mut TypeSchema) {
    let clean_object = |object: &mut ObjectSchema| {
        for field in &mut object.fields {
            field.docs = docs::plain(&field.docs).into();
        }
    };
    own.docs = docs::plain(&own.docs).into();
    match &mut own.body {
        TypeBody::Object(object) => clean_object(object),
        TypeBody::Choice(choice) => {
            for variant in &mut choice.variants {
                variant.docs = docs::plain(&variant.docs).into();
                if let VariantContent::Object(object) = &mut variant.content {
                    clean_object(object);
                }
            }
        }
    }
}

//! Merge patches (RFC 7396) of types: each field may be missing, and `null` resets it to its
//! default.

use innerloop_json::schema::{
    FieldPresence, FieldSchema, ObjectSchema, SchemaTable, TypeBody, TypeSchema, ValueSchema,
};

/// Returns the name of a type's patch.
pub(crate) fn patch_name(name: &str) -> String {
    format!("{name}Patch")
}

/// Returns the patches of a type and of all the objects in it. A list is given as a whole.
pub(crate) fn patches(read: &SchemaTable, root: &str) -> SchemaTable {
    let mut patches = SchemaTable::default();
    add(read, root, &mut patches);
    patches
}

fn add(read: &SchemaTable, name: &str, patches: &mut SchemaTable) {
    let own_name = patch_name(name);
    let Some(TypeBody::Object(object)) = read.get(name).map(|own| &own.body) else { return };
    // A type may occur in several fields, or in itself.
    if patches.get(&own_name).is_some() {
        return;
    }
    let fields = object.fields.iter().map(|field| FieldSchema {
        value: patched(read, field.value.clone()).or_null(),
        presence: FieldPresence::Optional,
        // The field of the type itself is documented.
        docs: "".into(),
        ..field.clone()
    });
    patches.types.push(TypeSchema {
        name: own_name.into(),
        module: "",
        docs: format!("A merge patch of a `{name}`: what is missing stays as it is.").into(),
        body: TypeBody::Object(ObjectSchema { fields: fields.collect(), closed: object.closed }),
    });
    for field in &object.fields {
        let value = match field.value.clone().without_null() {
            // A patch names the values of a map one by one.
            ValueSchema::Map(inner) => inner.without_null(),
            value => value,
        };
        if let ValueSchema::Defined(inner) = value {
            add(read, &inner, patches);
        }
    }
}

fn patched(read: &SchemaTable, value: ValueSchema) -> ValueSchema {
    let is_object =
        |name: &str| read.get(name).is_some_and(|own| matches!(own.body, TypeBody::Object(_)));
    match value {
        ValueSchema::Defined(name) if is_object(&name) => {
            ValueSchema::Defined(patch_name(&name).into())
        }
        ValueSchema::Nullable(inner) => patched(read, *inner).or_null(),
        ValueSchema::Map(inner) => ValueSchema::Map(Box::new(patched(read, *inner).or_null())),
        other => other,
    }
}

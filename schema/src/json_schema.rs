//! The JSON Schema of requests and lines. A type that occurs in both is described as it may be
//! given: in a line, all fields that have a default are present.

use crate::{
    docs::snake,
    json_text::JsonText,
    patches::{patch_name, patches},
    types::PublicTypes,
};
use innerloop_json::schema::{
    ChoiceForm, ChoiceSchema, FieldPresence, FieldSchema, ObjectSchema, SchemaTable, TypeBody,
    TypeSchema, ValueSchema, VariantContent, VariantSchema,
};

/// The names here of types that are called otherwise inside their module.
// They are published, and stay when a type is renamed.
const NAMES: [(&str, &str); 12] = [
    ("AnswerLine", "line"),
    ("Effect", "session_effect"),
    ("SetupSpec", "parts"),
    ("LogHeader", "log_header"),
    ("DocsRequest", "workspace"),
    ("LineEffect", "effect"),
    ("EndpointSpec", "endpoint"),
    ("ReplaySpec", "replay"),
    ("LineHttpRequest", "sent_request"),
    ("LineRequest", "request"),
    ("ConfigRequest", "settings"),
    ("LogLine", "entry"),
];

const TITLE: &str = "Innerloop's lines";
const ABOUT: &str = "Requests to sessions, and the lines of their answers: see \
                     protocol.md#lines. A type of both is told as it may be given: in a line all \
                     its fields are there that have a default. Made of the code: see \
                     CONTRIBUTING.md#generated-files";

/// The fields of a schema.
type SchemaFields = Vec<(String, JsonText)>;

/// Returns the whole schema.
pub(crate) fn lines_schema(types: &PublicTypes) -> String {
    let patches = patches(&types.read, "SessionConfig");
    let mut definitions = SchemaDefinitions { types, patches, wanted: Vec::new() };
    let roots =
        ["LineRequest", "AnswerLine"].map(|root| JsonText::Fields(definitions.reference(root)));
    let mut all: SchemaFields = [(16, "count_16"), (32, "count_32"), (64, "count")]
        .map(|(bits, name)| (name.to_owned(), JsonText::Fields(count(bits))))
        .into();
    let headers = ValueSchema::Pair(Box::new((ValueSchema::Text, ValueSchema::Text)));
    all.push(("header".to_owned(), JsonText::Fields(definitions.pair_of(&headers))));
    let mut next = 0;
    // Each definition may refer to further types, so that the list grows while it is walked.
    while let Some(name) = definitions.wanted.get(next).cloned() {
        let body = definitions.definition(&name);
        debug_assert!(all.iter().all(|(own, _)| *own != json_name(&name)), "{name} is not alone");
        all.push((json_name(&name), JsonText::Fields(body)));
        next += 1;
    }
    let document = fields([
        ("$schema", JsonText::text("https://json-schema.org/draft/2020-12/schema")),
        ("title", JsonText::text(TITLE)),
        ("description", JsonText::text(ABOUT)),
        ("anyOf", JsonText::List(roots.into())),
        ("$defs", JsonText::Fields(all)),
    ]);
    JsonText::Fields(document).document()
}

fn json_name(name: &str) -> String {
    let known = NAMES.iter().find(|(own, _)| *own == name);
    known.map_or_else(|| snake(name), |(_, name)| (*name).to_owned())
}

struct SchemaDefinitions<'a> {
    types: &'a PublicTypes,
    patches: SchemaTable,
    /// The types that are referred to, in the order in which they are reached.
    wanted: Vec<String>,
}

impl SchemaDefinitions<'_> {
    fn get(&self, name: &str) -> Option<TypeSchema> {
        self.patches.get(name).or_else(|| self.types.given(name)).cloned()
    }

    fn reference(&mut self, name: &str) -> SchemaFields {
        if !self.wanted.iter().any(|own| own == name) {
            self.wanted.push(name.to_owned());
        }
        fields([("$ref", JsonText::text(&format!("#/$defs/{}", json_name(name))))])
    }

    fn definition(&mut self, name: &str) -> SchemaFields {
        let Some(own) = self.get(name) else { return SchemaFields::new() };
        let mut fields = described(&own.docs);
        fields.extend(match &own.body {
            TypeBody::Object(object) => self.object(object, None),
            TypeBody::Choice(choice) => self.choice(choice),
        });
        fields
    }

    /// Returns the schema of an object, with a tag before its own fields.
    fn object(&mut self, object: &ObjectSchema, tag: Option<(&str, &str)>) -> SchemaFields {
        let mut properties = SchemaFields::new();
        let mut required = Vec::new();
        let mut flattened = SchemaFields::new();
        if let Some((name, value)) = tag {
            properties.push((name.to_owned(), JsonText::Fields(constant(value))));
            required.push(name.to_owned());
        }
        for field in &object.fields {
            if field.presence == FieldPresence::Flattened {
                flattened = self.value(&field.value);
                continue;
            }
            if field.presence == FieldPresence::Required {
                required.push(field.name.to_string());
            }
            properties.push((field.name.to_string(), JsonText::Fields(self.field(field))));
        }
        let mut all = fields([("type", JsonText::text("object"))]);
        all.push(("properties".to_owned(), JsonText::Fields(properties)));
        if !required.is_empty() {
            let required = JsonText::texts(required.iter().map(String::as_str));
            all.push(("required".to_owned(), required));
        }
        if object.closed {
            all.push(closed());
        }
        all.extend(flattened);
        all
    }

    fn field(&mut self, field: &FieldSchema) -> SchemaFields {
        let mut fields = described(&field.docs);
        fields.extend(self.value(&field.value));
        fields
    }

    fn choice(&mut self, choice: &ChoiceSchema) -> SchemaFields {
        let variants = &choice.variants;
        match choice.form {
            ChoiceForm::Keyed => self.keyed(variants),
            ChoiceForm::Named => {
                let is_unit = |variant: &&VariantSchema| variant.content == VariantContent::Unit;
                let (units, keyed): (Vec<_>, Vec<_>) = variants.iter().partition(is_unit);
                if units.is_empty() {
                    return self.keyed(variants);
                }
                let mut kinds: Vec<JsonText> = units.into_iter().map(name_alone).collect();
                if !keyed.is_empty() {
                    let keyed: Vec<_> = keyed.into_iter().cloned().collect();
                    kinds.push(JsonText::Fields(self.keyed(&keyed)));
                }
                fields([("oneOf", JsonText::List(kinds))])
            }
            ChoiceForm::Tagged(tag) => {
                let kinds = variants.iter().map(|variant| {
                    let mut kind = described(&variant.docs);
                    let object = self.content(&variant.content);
                    kind.extend(self.object(&object, Some((tag, variant.name.as_ref()))));
                    JsonText::Fields(kind)
                });
                fields([("oneOf", JsonText::List(kinds.collect()))])
            }
            ChoiceForm::Untagged => {
                let kinds = variants.iter().map(|variant| {
                    JsonText::Fields(match &variant.content {
                        VariantContent::Unit => null(),
                        VariantContent::Value(value) => self.value(value),
                        VariantContent::Object(object) => self.object(object, None),
                    })
                });
                fields([("anyOf", JsonText::List(kinds.collect()))])
            }
        }
    }

    /// Returns the fields beside a tag.
    fn content(&self, content: &VariantContent) -> ObjectSchema {
        match content {
            VariantContent::Unit => ObjectSchema::default(),
            VariantContent::Object(object) => object.clone(),
            VariantContent::Value(ValueSchema::Defined(name)) => {
                match self.get(name).map(|own| own.body) {
                    Some(TypeBody::Object(object)) => object,
                    _ => ObjectSchema::default(),
                }
            }
            VariantContent::Value(_) => ObjectSchema::default(),
        }
    }

    /// Returns the schema of an object with one key.
    fn keyed(&mut self, variants: &[VariantSchema]) -> SchemaFields {
        let properties = variants.iter().map(|variant| {
            let mut kind = described(&variant.docs);
            kind.extend(match &variant.content {
                VariantContent::Unit => null(),
                VariantContent::Value(value) => self.value(value),
                VariantContent::Object(object) => self.object(object, None),
            });
            (variant.name.to_string(), JsonText::Fields(kind))
        });
        let properties = JsonText::Fields(properties.collect());
        let mut all = fields([
            ("type", JsonText::text("object")),
            ("properties", properties),
            ("minProperties", JsonText::word(&1)),
            ("maxProperties", JsonText::word(&1)),
        ]);
        all.push(closed());
        all
    }

    fn value(&mut self, value: &ValueSchema) -> SchemaFields {
        match value {
            ValueSchema::Any => SchemaFields::new(),
            ValueSchema::Bool => of_type("boolean"),
            ValueSchema::Number => of_type("number"),
            ValueSchema::Text => of_type("string"),
            ValueSchema::Base64 => fields([
                ("type", JsonText::text("string")),
                ("contentEncoding", JsonText::text("base64")),
            ]),
            ValueSchema::Integer { signed: false, bits: 64 } => refer("count"),
            ValueSchema::Integer { signed: false, bits: 32 } => refer("count_32"),
            ValueSchema::Integer { signed: false, bits: 16 } => refer("count_16"),
            ValueSchema::Integer { signed: false, bits } => count(*bits),
            ValueSchema::Integer { signed: true, bits } => {
                let most = u64::MAX >> (65 - bits.clamp(&1, &64));
                fields([
                    ("type", JsonText::text("integer")),
                    ("minimum", JsonText::word(&format!("-{}", u128::from(most) + 1))),
                    ("maximum", JsonText::word(&most)),
                ])
            }
            ValueSchema::Names(names) => fields([("enum", JsonText::texts(names.iter().copied()))]),
            ValueSchema::Nullable(inner) => {
                let kinds = [self.value(inner), null()].map(JsonText::Fields);
                fields([("anyOf", JsonText::List(kinds.into()))])
            }
            ValueSchema::Array(item) => {
                let item = JsonText::Fields(self.value(item));
                fields([("type", JsonText::text("array")), ("items", item)])
            }
            ValueSchema::Pair(of) if **of == (ValueSchema::Text, ValueSchema::Text) => {
                refer("header")
            }
            ValueSchema::Pair(_) => self.pair_of(value),
            ValueSchema::Map(inner) if **inner == ValueSchema::Any => of_type("object"),
            ValueSchema::Map(inner) => {
                let inner = JsonText::Fields(self.value(inner));
                fields([("type", JsonText::text("object")), ("additionalProperties", inner)])
            }
            ValueSchema::Patch(of) => match &**of {
                ValueSchema::Defined(name) => self.reference(&patch_name(name)),
                _ => of_type("object"),
            },
            ValueSchema::Defined(name) => self.reference(name),
        }
    }

    fn pair_of(&mut self, pair: &ValueSchema) -> SchemaFields {
        let ValueSchema::Pair(of) = pair else { return SchemaFields::new() };
        let (first, second) = (self.value(&of.0), self.value(&of.1));
        let items = match of.0 == of.1 {
            true => ("items", JsonText::Fields(first)),
            false => ("prefixItems", JsonText::List([first, second].map(JsonText::Fields).into())),
        };
        fields([
            ("type", JsonText::text("array")),
            items,
            ("minItems", JsonText::word(&2)),
            ("maxItems", JsonText::word(&2)),
        ])
    }
}

fn fields<const N: usize>(fields: [(&str, JsonText); N]) -> SchemaFields {
    fields.map(|(name, value)| (name.to_owned(), value)).into()
}

fn described(docs: &str) -> SchemaFields {
    match docs {
        "" => SchemaFields::new(),
        docs => fields([("description", JsonText::text(docs))]),
    }
}

fn of_type(name: &str) -> SchemaFields {
    fields([("type", JsonText::text(name))])
}

fn refer(name: &str) -> SchemaFields {
    fields([("$ref", JsonText::text(&format!("#/$defs/{name}")))])
}

fn null() -> SchemaFields {
    of_type("null")
}

fn constant(value: &str) -> SchemaFields {
    fields([("const", JsonText::text(value))])
}

fn name_alone(variant: &VariantSchema) -> JsonText {
    let mut kind = constant(&variant.name);
    kind.extend(described(&variant.docs));
    JsonText::Fields(kind)
}

fn closed() -> (String, JsonText) {
    ("additionalProperties".to_owned(), JsonText::word(&false))
}

/// Returns the schema of a whole number that is not below zero.
fn count(bits: u32) -> SchemaFields {
    let mut all = fields([("type", JsonText::text("integer")), ("minimum", JsonText::word(&0))]);
    // The limit of 64 bits is not exact in languages whose numbers are floating, and no value gets
    // there.
    if bits < 64 {
        all.push(("maximum".to_owned(), JsonText::word(&((1_u64 << bits) - 1))));
    }
    all
}

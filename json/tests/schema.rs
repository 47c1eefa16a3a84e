//! What the derives tell of types with the feature `schema`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "the types are told, not used; a test that meets what it does not expect is to fail"
)]

use innerloop_json::{
    FromJson, Json, ToJson,
    schema::{
        ChoiceForm, FieldPresence, MergePatch, ObjectSchema, ReadSchema, SchemaTable, TypeBody,
        ValueSchema, VariantContent, WriteSchema,
    },
};

/// A place.
///
/// On a map.
#[derive(ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct Place {
    /// To the right.
    x: u32,
    #[json(default)]
    y: i16,
    #[json(rename = "title", skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    nothing: Option<bool>,
    #[json(like = "MergePatch<Other>")]
    patch: Json,
    #[json(one_of("here", "there"))]
    side: String,
}

#[derive(ToJson, FromJson)]
#[json(default)]
struct Other {
    places: Vec<Place>,
    pair: (String, f64),
    id: Id,
}

impl Default for Other {
    fn default() -> Self {
        Self { places: Vec::new(), pair: (String::new(), 0.0), id: Id(0) }
    }
}

#[derive(ToJson, FromJson)]
struct Id(u64);

/// A piece of news.
#[derive(ToJson, FromJson)]
#[json(tag = "type", rename_all = "snake_case")]
enum News {
    /// No more.
    TheEnd,
    /// More.
    More {
        /// How much.
        amount: u8,
    },
}

#[derive(ToJson)]
struct Stamped {
    #[json(flatten)]
    news: News,
}

fn object(table: &SchemaTable, name: &str) -> ObjectSchema {
    match &table.get(name).unwrap().body {
        TypeBody::Object(object) => object.clone(),
        TypeBody::Choice(_) => panic!("{name} is a choice"),
    }
}

/// The names of fields, each with its presence and what it may be.
fn fields(table: &SchemaTable, name: &str) -> Vec<(String, FieldPresence, ValueSchema)> {
    let fields = object(table, name).fields.into_iter();
    fields.map(|field| (field.name.into_owned(), field.presence, field.value)).collect()
}

fn integer(signed: bool, bits: u32) -> ValueSchema {
    ValueSchema::Integer { signed, bits }
}

#[test]
fn what_is_read_may_lack_what_has_a_default() {
    use FieldPresence::{Optional, Required};
    let mut table = SchemaTable::default();
    assert_eq!(Place::read_schema(&mut table), ValueSchema::Defined("Place".into()));
    let patch = ValueSchema::Patch(Box::new(ValueSchema::Defined("Other".into())));
    assert_eq!(
        fields(&table, "Place"),
        [
            ("x".to_owned(), Required, integer(false, 32)),
            ("y".to_owned(), Optional, integer(true, 16)),
            ("title".to_owned(), Optional, ValueSchema::Text.or_null()),
            ("nothing".to_owned(), Optional, ValueSchema::Bool.or_null()),
            ("patch".to_owned(), Required, patch),
            ("side".to_owned(), Required, ValueSchema::Names(&["here", "there"])),
        ]
    );
    assert!(object(&table, "Place").closed && !object(&table, "Other").closed);
    let others = fields(&table, "Other");
    assert!(others.iter().all(|(_, presence, _)| *presence == Optional), "{others:?}");
}

#[test]
fn what_is_written_lacks_what_is_skipped() {
    use FieldPresence::{Optional, Required};
    let mut table = SchemaTable::default();
    Place::write_schema(&mut table);
    let told: Vec<_> = fields(&table, "Place").into_iter().take(4).collect();
    assert_eq!(
        told,
        [
            ("x".to_owned(), Required, integer(false, 32)),
            ("y".to_owned(), Required, integer(true, 16)),
            ("title".to_owned(), Optional, ValueSchema::Text),
            ("nothing".to_owned(), Required, ValueSchema::Bool.or_null()),
        ]
    );
    let place = ValueSchema::Defined("Place".into());
    assert_eq!(
        fields(&table, "Other"),
        [
            ("places".to_owned(), Required, ValueSchema::Array(Box::new(place))),
            (
                "pair".to_owned(),
                Required,
                ValueSchema::Pair(Box::new((ValueSchema::Text, ValueSchema::Number)))
            ),
            ("id".to_owned(), Required, integer(false, 64)),
        ]
    );
}

#[test]
fn words_come_from_the_documentation() {
    let mut table = SchemaTable::default();
    Place::read_schema(&mut table);
    assert_eq!(table.get("Place").unwrap().docs, "A place.\n\nOn a map.");
    let place = object(&table, "Place");
    let docs: Vec<_> = place.fields.iter().take(2).map(|field| field.docs.as_ref()).collect();
    assert_eq!(docs, ["To the right.", ""]);
}

#[test]
fn kinds_stand_beside_their_tag_or_in_their_object() {
    let mut table = SchemaTable::default();
    Stamped::write_schema(&mut table);
    let flat = fields(&table, "Stamped");
    let news = ValueSchema::Defined("News".into());
    assert_eq!(flat, [("news".to_owned(), FieldPresence::Flattened, news)]);
    let TypeBody::Choice(choice) = &table.get("News").unwrap().body else { panic!("no choice") };
    assert_eq!(choice.form, ChoiceForm::Tagged("type"));
    let [end, more] = choice.variants.as_slice() else { panic!("two kinds") };
    assert_eq!((end.name.as_ref(), &end.content), ("the_end", &VariantContent::Unit));
    assert_eq!((more.name.as_ref(), more.docs.as_ref()), ("more", "More."));
    let VariantContent::Object(fields) = &more.content else { panic!("fields") };
    assert_eq!(fields.fields.first().map(|field| field.docs.as_ref()), Some("How much."));
}

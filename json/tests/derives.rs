//! What the derives read and write, and what they say of what does not fit.

use innerloop_json::{
    Error, FieldNames as _, FromJson, Json, JsonObject, Map, RawJson, ToJson, Value,
    VariantNames as _, from_str, to_string,
};
use std::{borrow::Cow, sync::Arc};

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct Plain {
    name: String,
    #[json(default, skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    #[json(default = "seven", alias = "old_size")]
    size: u8,
    #[json(rename = "type")]
    kind: Kind,
    #[json(skip)]
    cache: Vec<u8>,
}

fn seven() -> u8 {
    7
}

#[derive(Clone, Copy, Debug, PartialEq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum Kind {
    One,
    TwoWords,
    Three,
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(default, rename_all = "camelCase")]
struct Defaults {
    first_field: i32,
    text_field: String,
    patch: Option<Option<String>>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { first_field: -3, text_field: "said".into(), patch: None }
    }
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(rename_all = "snake_case", keyed)]
enum Door {
    Tick,
    Command { index: u32, command: Box<Plain> },
    Text(String),
    Many(Vec<(String, u64)>),
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(rename_all = "snake_case")]
enum External {
    None,
    Tool(String),
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
enum Action {
    Stop,
    Read {
        path: String,
        #[json(default)]
        limit: Option<u64>,
    },
    Search(Search),
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
#[json(deny_unknown_fields)]
struct Search {
    pattern: String,
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
struct Borrowed<'a> {
    text: Cow<'a, str>,
    raw: RawJson<'a>,
    opaque: Json,
    object: JsonObject,
    maps: Map<Value>,
}

#[derive(Debug, PartialEq, ToJson, FromJson)]
struct Id(u64);

#[derive(ToJson)]
struct Event {
    seq: Id,
    #[json(flatten)]
    kind: EventKind,
    late: bool,
}

#[derive(ToJson)]
#[json(tag = "type", rename_all = "snake_case")]
enum EventKind {
    Start,
    Limit { limit: &'static str, outcome: Arc<Search> },
}

#[derive(ToJson)]
#[json(untagged)]
enum Either {
    Number(u32),
    Named { name: &'static str },
}

#[track_caller]
fn both<T>(value: &T, json: &str)
where
    T: std::fmt::Debug + PartialEq + ToJson + for<'a> FromJson<'a>,
{
    assert_eq!(to_string(value), json);
    assert_eq!(from_str::<T>(json).as_ref(), Ok(value));
}

#[track_caller]
fn fails<'a, T: FromJson<'a> + std::fmt::Debug>(json: &'a str, message: &str) {
    let error = from_str::<T>(json).map_err(|error: Error| error.to_string()).err();
    assert_eq!(error.as_deref(), Some(message));
}

#[test]
fn structs_have_their_fields_in_order_and_defaults_where_they_are_absent() {
    let plain =
        Plain { name: "a".into(), limit: None, size: 7, kind: Kind::TwoWords, cache: vec![] };
    both(&plain, r#"{"name":"a","size":7,"type":"two_words"}"#);
    assert_eq!(from_str(r#" {"type":"two_words" , "old_size":7,"name":"a"} "#), Ok(plain));
    let json = r#"{"firstField":-3,"textField":"said","patch":null}"#;
    assert_eq!(to_string(&Defaults::default()), json);
    assert_eq!(from_str("{}"), Ok(Defaults::default()));
    both(&Id(3), "3");
}

#[test]
fn the_marks_between_names_are_no_part_of_a_name() {
    for name in ["!name", "name,limit", "size=old_size", "=old_size"] {
        let json = format!(r#"{{"{name}":1}}"#);
        let error = from_str::<Plain>(&json).unwrap_err();
        assert!(error.message().starts_with(&format!("unknown field `{name}`")), "{error}");
    }
    let json = r#"{"..":1,"patch":null,"":2,"firstField,textField":3,"firstField":4}"#;
    let read: Defaults = from_str(json).unwrap();
    assert_eq!((read.first_field, read.patch), (4, Some(None)));
    for name in ["text=", "tick|command", "{}", ""] {
        let error = from_str::<Door>(&format!(r#"{{"{name}":"a"}}"#)).unwrap_err();
        assert!(error.message().starts_with(&format!("unknown value `{name}`")), "{error}");
    }
}

#[test]
fn null_and_absence_differ_in_options_of_options() {
    let read = |json| from_str::<Defaults>(json).unwrap().patch;
    assert_eq!(read("{}"), None);
    assert_eq!(read(r#"{"patch":null}"#), Some(None));
    assert_eq!(read(r#"{"patch":"a"}"#), Some(Some("a".into())));
}

#[test]
fn what_is_keyed_is_an_object_also_where_there_is_nothing_to_say() {
    both(&Door::Tick, r#"{"tick":null}"#);
    assert_eq!(from_str(r#""tick""#), Ok(Door::Tick));
    both(&Door::Text("x".into()), r#"{"text":"x"}"#);
    both(&Door::Many(vec![("a".into(), 1)]), r#"{"many":[["a",1]]}"#);
    let plain = Plain { name: "a".into(), limit: Some(1), size: 0, kind: Kind::One, cache: vec![] };
    let command = Door::Command { index: 4, command: Box::new(plain) };
    let json = r#"{"command":{"index":4,"command":{"name":"a","limit":1,"size":0,"type":"one"}}}"#;
    both(&command, json);
    both(&External::None, r#""none""#);
    assert_eq!(from_str(r#"{"none":null}"#), Ok(External::None));
    both(&External::Tool("t".into()), r#"{"tool":"t"}"#);
}

#[test]
fn a_tag_may_stand_anywhere_and_is_no_unknown_field() {
    both(&Action::Stop, r#"{"action":"stop"}"#);
    let search = Action::Search(Search { pattern: "p".into() });
    both(&search, r#"{"action":"search","pattern":"p"}"#);
    assert_eq!(from_str(r#"{"pattern":"p","action":"search"}"#), Ok(search));
    let read = Action::Read { path: "p".into(), limit: None };
    assert_eq!(from_str(r#"{"path":"p","action":"read"}"#), Ok(read));
    fails::<Action>(r#"{"path":"p"}"#, "missing field `action` at line 1 column 12");
    let message = "unknown field `to`, expected `pattern` at line 1 column 38";
    fails::<Action>(r#"{"action":"search","pattern":"p","to":1}"#, message);
    let message = "action: unknown value `fly`, expected one of `stop`, `read`, `search` \
                   at line 1 column 15";
    fails::<Action>(r#"{"action":"fly"}"#, message);
}

#[test]
fn what_is_flattened_stands_among_the_fields_around_it() {
    let event = |kind| to_string(&Event { seq: Id(1), kind, late: false });
    assert_eq!(event(EventKind::Start), r#"{"seq":1,"type":"start","late":false}"#);
    let limit =
        EventKind::Limit { limit: "turns", outcome: Arc::new(Search { pattern: "".into() }) };
    let json = r#"{"seq":1,"type":"limit","limit":"turns","outcome":{"pattern":""},"late":false}"#;
    assert_eq!(event(limit), json);
    assert_eq!(
        to_string(&vec![Either::Number(1), Either::Named { name: "n" }]),
        r#"[1,{"name":"n"}]"#
    );
}

#[test]
fn what_is_borrowed_is_a_part_of_the_text() {
    let json = r#"{"text":"plain","raw":[1, 2],"opaque":{"b":1.0,"a":1},"object":{"z":0,"a":"\u00e9"},"maps":{"k":[null,true,1.5]}}"#;
    let read: Borrowed<'_> = from_str(json).unwrap();
    assert!(matches!(read.text, Cow::Borrowed("plain")));
    assert_eq!(read.raw.text(), "[1, 2]");
    assert_eq!(read.object.field("a").map(Json::text), Some(r#""\u00e9""#));
    assert_eq!(to_string(&read), json);
    let lines: Json = from_str("[1,\r\n2]").unwrap();
    assert_eq!(lines.text(), "[1,  2]");
}

#[test]
fn an_error_says_where_it_is_and_what_was_expected() {
    fails::<Plain>("{}", "missing field `name` at line 1 column 2");
    fails::<Plain>("[]", "must be an object, not an array at line 1 column 0");
    let message = "unknown field `x`, expected one of `name`, `limit`, `size`, `type` \
                   at line 1 column 5";
    fails::<Plain>(r#"{"x": 1}"#, message);
    fails::<Plain>("{\"name\":\n 5}", "name: must be a string, not 5 at line 2 column 2");
    fails::<Plain>(r#"{"name":"a","name":"b"}"#, "duplicate field `name` at line 1 column 19");
    fails::<Plain>(
        r#"{"size":300}"#,
        "size: must be a whole number from 0 to 255, not 300 at line 1 column 11",
    );
    fails::<Plain>(
        r#"{"type":"four"}"#,
        "type: unknown value `four`, expected one of `one`, `two_words`, `three` \
         at line 1 column 14",
    );
    let json = r#"{"command":{"command":{"type":true}}}"#;
    let error = from_str::<Door>(json).unwrap_err();
    assert_eq!(error.path(), "command.command.type");
    assert_eq!(error.message(), "must be one of `one`, `two_words`, `three`, not true");
    let error = from_str::<Door>(r#"{"command":{"index":1}}"#).unwrap_err();
    assert_eq!(error.path(), "command.command");
    assert_eq!(error.to_string(), "command: missing field `command` at line 1 column 22");
    let error = from_str::<Door>(r#"{"many":[["a",1],["b",-1]]}"#).unwrap_err();
    assert_eq!(error.path(), "many[1][1]");
    fails::<Door>(
        r#"{"tick":null,"text":"a"}"#,
        "expected `tick` as the only key at line 1 column 20",
    );
    fails::<Door>(
        "{}",
        "expected one of `tick`, `command`, `text`, `many` as a key at line 1 column 2",
    );
    fails::<Door>(r#""text""#, "expected `text` as an object's key at line 1 column 6");
}

#[test]
fn an_error_is_json_with_its_kind_and_its_path() {
    let told = |json| to_string(&from_str::<Vec<Plain>>(json).unwrap_err());
    let cases = [
        ("[", r#"{"path":"","kind":"eof","line":1,"column":1}"#),
        ("[,", r#"{"path":"[0]","kind":"syntax","message":"expected value","line":1,"column":2}"#),
        (
            r#"[{"name":null}]"#,
            r#"{"path":"[0].name","kind":"unexpected","found":"null","expected":"a string","line":1,"column":13}"#,
        ),
        (
            r#"[{"size":-1}]"#,
            r#"{"path":"[0].size","kind":"range","found":"-1","expected":"a whole number from 0 to 255","line":1,"column":11}"#,
        ),
        (
            r#"[{"names":1}]"#,
            r#"{"path":"[0].names","kind":"unknown_field","name":"names","known":["name","limit","size","type"],"line":1,"column":10}"#,
        ),
        (
            r#"[{"type":"four"}]"#,
            r#"{"path":"[0].type","kind":"unknown_value","name":"four","known":["one","two_words","three"],"line":1,"column":15}"#,
        ),
        ("[{}]", r#"{"path":"[0].name","kind":"missing_field","name":"name","line":1,"column":3}"#),
        (
            r#"[{"size":1,"size":2}]"#,
            r#"{"path":"[0]","kind":"duplicate_field","name":"size","line":1,"column":18}"#,
        ),
    ];
    for (json, error) in cases {
        assert_eq!(told(json), error, "{json}");
    }
}

#[test]
fn a_type_names_its_variants_and_their_fields() {
    assert_eq!(Action::VARIANTS, ["stop", "read", "search"]);
    assert_eq!(Action::fields("read"), Some(["path", "limit"].as_slice()));
    assert_eq!(Action::fields("search"), Some(["pattern"].as_slice()));
    assert_eq!(Action::fields("stop"), Some([].as_slice()));
    assert_eq!(Action::fields("fly"), None);
    assert_eq!(Plain::FIELDS, ["name", "limit", "size", "type"]);
}

#[test]
fn a_fault_quotes_only_the_beginning_of_a_long_value() {
    let long = "x".repeat(1 << 20);
    for text in [format!(r#"{{"id":"{long}"}}"#), format!(r#"{{"{long}":1}}"#)] {
        let error = from_str::<Numbered>(&text).err().unwrap();
        assert!(error.message().len() < 300, "{} bytes", error.message().len());
        assert!(error.message().contains('…'), "{}", error.message());
    }
}

#[derive(Debug, FromJson)]
#[json(deny_unknown_fields)]
struct Numbered {
    id: u8,
}

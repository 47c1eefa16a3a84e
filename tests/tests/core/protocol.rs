//! `docs/protocol.md` beside the code: every example in it is read and written again the same, or
//! is what the code writes, and no type or variant is missing.

use innerloop_core::{
    Session,
    input::Input,
    json::{FromJson, ToJson, from_str, to_string},
    log::{self, LogHeader},
    time::{SessionInstant, UnixMillis},
};
use innerloop_tests::{
    samples::{Visitor, visit_all},
    test_host::config,
};
use serde_json::{Value, value::RawValue};
use std::collections::{BTreeMap, BTreeSet};

/// Reads a text as a type and writes it again.
type Reread = fn(&str) -> Result<String, String>;

/// What the code knows of a type.
#[derive(Default)]
struct Known {
    /// The JSON of one value of each variant at least.
    samples: Vec<String>,
    /// Only of types that are read.
    reread: Option<Reread>,
}

#[derive(Default)]
struct Types(BTreeMap<String, Known>);

impl Visitor for Types {
    fn visit_read<T>(&mut self, name: &str, samples: &[T])
    where
        T: ToJson,
        T: for<'a> FromJson<'a>,
    {
        let reread: Reread = |text| {
            let value: T = from_str(text).map_err(|e| e.to_string())?;
            Ok(to_string(&value))
        };
        self.note(name, samples).reread = Some(reread);
    }

    fn visit<T: ToJson>(&mut self, name: &str, samples: &[T]) {
        self.note(name, samples);
    }
}

impl Types {
    /// The types of the samples, and what stands only in logs and snapshots.
    fn all() -> Self {
        let mut types = Self::default();
        visit_all(&mut types);
        types.visit_read("LogHeader", &[LogHeader::new(&config(), UnixMillis(1_800_000_000_000))]);
        let (session, _) = Session::open(config(), UnixMillis(1_800_000_000_000)).unwrap();
        types.text("LogLine", &log::entry(&Input::Tick, SessionInstant(1_500)));
        types.text("LogLine", &log::snapshot(&session));
        types.text("Snapshot", &String::from_utf8(session.snapshot()).unwrap());
        types
    }

    fn note(&mut self, name: &str, samples: &[impl ToJson]) -> &mut Known {
        let samples = samples.iter().map(|sample| compact(&to_string(sample)));
        let known = self.0.entry(name.to_owned()).or_default();
        known.samples.extend(samples);
        known
    }

    fn text(&mut self, name: &str, json: &str) {
        self.0.entry(name.to_owned()).or_default().samples.push(compact(json));
    }
}

/// The examples of a document: the type's name behind `json` at a fence, and its values.
fn examples(document: &str) -> Vec<(&str, Vec<String>)> {
    let fenced = document.split("```json ").skip(1);
    let blocks = fenced.map(|block| block.split("```").next().unwrap().split_once('\n').unwrap());
    blocks
        .map(|(name, body)| {
            let values = serde_json::Deserializer::from_str(body).into_iter::<Box<RawValue>>();
            let values =
                values.map(|value| compact(value.unwrap_or_else(|e| panic!("{name}: {e}")).get()));
            (name.trim(), values.collect())
        })
        .collect()
}

/// JSON without the white space around its values.
fn compact(json: &str) -> String {
    let (mut out, mut in_text, mut escaped) = (String::new(), false, false);
    for c in json.chars() {
        if in_text || !c.is_ascii_whitespace() {
            out.push(c);
        }
        in_text ^= c == '"' && !escaped;
        escaped = in_text && c == '\\' && !escaped;
    }
    out
}

/// What tells a value from others of its type, empty if nothing does.
fn kind(json: &str) -> String {
    match serde_json::from_str(json).unwrap() {
        Value::String(name) => name,
        Value::Object(fields) => {
            let named = ["type", "action"].iter().find_map(|key| fields.get(*key)?.as_str());
            let inner = fields.get("kind").and_then(Value::as_object);
            let only = inner.or(Some(&fields)).filter(|fields| fields.len() == 1);
            let only = only.and_then(|fields| fields.keys().next()).map(String::as_str);
            named.or(only).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// The document; `UPDATE_EXPECT=1` writes those of its examples anew that a session makes.
fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.md");
    let mut document = std::fs::read_to_string(path).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        for name in ["LogHeader", "LogLine", "Snapshot"] {
            let samples = Types::all().0[name].samples.join("\n");
            let (before, rest) = document.split_once(&format!("```json {name}\n")).unwrap();
            let behind = rest.split_once("\n```").unwrap().1;
            document = format!("{before}```json {name}\n{samples}\n```{behind}");
        }
        std::fs::write(path, &document).unwrap();
    }
    document
}

#[test]
fn every_example_of_the_protocol_is_what_the_code_reads_and_writes() {
    let (document, types) = (document(), Types::all());
    for (name, values) in examples(&document) {
        let known = types.0.get(name).unwrap_or_else(|| panic!("{name} is no type at the door"));
        assert!(!values.is_empty(), "{name} has no example");
        for value in values {
            match known.reread {
                Some(reread) => assert_eq!(reread(&value).as_ref(), Ok(&value), "{name}"),
                None => assert!(
                    known.samples.contains(&value),
                    "{name}: {value} is not among\n{}",
                    known.samples.join("\n")
                ),
            }
        }
    }
}

#[test]
fn the_protocol_shows_every_type_and_every_variant() {
    let (document, types) = (document(), Types::all());
    let mut shown: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, values) in examples(&document) {
        shown.entry(name).or_default().extend(values.iter().map(|value| kind(value)));
    }
    for (name, known) in &types.0 {
        let kinds = shown.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not shown"));
        for sample in &known.samples {
            assert!(kinds.contains(&kind(sample)), "{name}: no example like {sample}");
        }
    }
}

#[test]
fn a_snapshot_of_the_protocol_is_restored() {
    let document = document();
    for (_, values) in examples(&document).iter().filter(|(name, _)| *name == "Snapshot") {
        for value in values {
            let session = Session::restore(value.as_bytes(), UnixMillis(0)).unwrap();
            assert_eq!(String::from_utf8(session.snapshot()).unwrap(), *value);
        }
    }
}

//! The samples of all that crosses the door as JSON: that there is one of each variant, and what
//! they look like. The types of the npm package are held against the same file.

use innerloop_core::json::{self, FromJson, ToJson};
use innerloop_tests::samples::{self, Visitor};
use serde::{Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, fmt::Debug, fs, path::Path};

#[test]
fn samples_have_the_json_that_other_languages_read() {
    expect_test::expect_file!["../../fixtures/samples.json"].assert_eq(&samples::as_json());
}

/// Holds each sample's JSON against serde's.
struct Both;

impl Visitor for Both {
    fn visit<T: Serialize + ToJson + Clone + Debug + PartialEq>(
        &mut self,
        name: &str,
        samples: &[T],
    ) {
        for sample in samples {
            let own = json::to_string(sample);
            assert_eq!(serde_json::to_string(sample).unwrap(), own, "{name}");
            let value: serde_json::Value = serde_json::from_str(&own).unwrap();
            assert_eq!(serde_json::to_value(sample).unwrap(), value, "{name}");
        }
    }

    fn visit_read<T>(&mut self, name: &str, samples: &[T])
    where
        T: Serialize + DeserializeOwned + ToJson + Clone + Debug + PartialEq,
        T: for<'a> FromJson<'a>,
    {
        self.visit(name, samples);
        for sample in samples {
            let text = json::to_string(sample);
            assert_eq!(json::from_str::<T>(&text).as_ref(), Ok(sample), "{name}");
            assert_eq!(serde_json::from_str::<T>(&text).ok().as_ref(), Some(sample), "{name}");
            // A value keeps neither the order nor the white space of opaque JSON.
            let value = serde_json::to_value(sample).unwrap();
            let read: T = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value, "{name}");
        }
    }
}

#[test]
fn samples_have_the_same_json_through_serde() {
    samples::visit_all(&mut Both);
}

/// The names of the variants of the samples, by type.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Visitor for Names {
    fn visit<T: Serialize + ToJson + Clone + Debug + PartialEq>(
        &mut self,
        name: &str,
        samples: &[T],
    ) {
        self.0.entry(name.into()).or_default().push_str(&format!("{samples:?}"));
    }
}

#[test]
fn samples_name_the_variants_that_no_other_crate_can_count() {
    let mut names = Names::default();
    samples::visit_all(&mut names);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/types/src");
    let mut open = 0;
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.is_file()) {
        let text = fs::read_to_string(file).unwrap();
        for (name, variants) in open_enums(&text) {
            open += 1;
            // A part is told within its whole.
            let sample = match name {
                "EventKind" => "Event",
                "DeadlineReason" => "Deadline",
                "RejectionReason" => "RejectedInput",
                name => name,
            };
            let said = &names.0[sample];
            for variant in variants {
                let is_there = said.split(|c: char| !c.is_alphanumeric()).any(|w| w == variant);
                assert!(is_there, "{name}::{variant} has no sample in tests/src/samples");
            }
        }
    }
    assert!(open > 6, "only {open} enums are `#[non_exhaustive]`");
}

/// The `#[non_exhaustive]` enums of a file, with their variants.
fn open_enums(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut enums = Vec::new();
    let mut lines = text.lines();
    while lines.any(|line| line == "#[non_exhaustive]") {
        let Some(head) = lines.next() else { break };
        let Some(rest) = head.strip_prefix("pub enum ") else { continue };
        let name = rest.trim_end_matches(" {");
        let body = lines.by_ref().take_while(|line| *line != "}");
        let variants = body.filter_map(|line| {
            let line = line.strip_prefix("    ")?;
            let end = line.find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len());
            line.starts_with(char::is_uppercase).then(|| &line[..end])
        });
        enums.push((name, variants.collect()));
    }
    enums
}

//! One sample of every variant of every type that crosses the door as JSON: what other languages'
//! types, and other codecs, are held against. An enum that other crates may match whole does not
//! compile here while a variant has no sample; of those that are `#[non_exhaustive]` a test
//! counts the variants.

mod action;
mod config;
mod event;
mod input;
mod message;
mod model;
mod output;
mod visitor;

pub use visitor::Visitor;

use innerloop_core::json::ToJson;
use serde::Serialize;

/// Hands the samples of every type over, in an order that stays.
pub fn visit_all(visitor: &mut impl Visitor) {
    message::visit(visitor);
    action::visit(visitor);
    model::visit(visitor);
    config::visit(visitor);
    input::visit(visitor);
    event::visit(visitor);
    output::visit(visitor);
}

/// All samples as one JSON object: a line for each type, with the list of its samples.
///
/// # Panics
/// A sample is no JSON.
#[must_use]
pub fn as_json() -> String {
    struct Lines(Vec<String>);

    impl Visitor for Lines {
        fn visit<T: Serialize + ToJson>(&mut self, name: &str, samples: &[T]) {
            let samples: Vec<String> =
                samples.iter().map(|sample| serde_json::to_string(sample).unwrap()).collect();
            self.0.push(format!("{name:?}: [\n  {}\n]", samples.join(",\n  ")));
        }
    }

    let mut lines = Lines(Vec::new());
    visit_all(&mut lines);
    format!("{{\n{}\n}}\n", lines.0.join(",\n"))
}

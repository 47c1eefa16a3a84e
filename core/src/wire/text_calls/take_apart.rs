//! The whole of a text, by its family.

use super::{found::Parsed, harmony, scan::Doc, walk};
use crate::types::{model::TextFamily as Family, tool::ToolSpec};

/// Takes a model's whole text apart. With `tools`, arguments that come without types are turned
/// to what the tool's schema says.
#[must_use]
pub fn parse(family: Family, text: &str, tools: &[ToolSpec]) -> Parsed {
    let mut doc = Doc::new(text, tools);
    let is_harmony = match family {
        Family::Harmony => true,
        Family::Auto => harmony::is_harmony(text),
        _ => false,
    };
    if is_harmony { harmony::parse(&mut doc) } else { walk::walk(family, &mut doc) }
}

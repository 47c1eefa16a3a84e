//! Ranks of tools by the words of a query: how well each fits by its name and description.

use innerloop_types::{text::is_word, tool::ToolSpec};

/// Returns how well a tool fits a query; 0 if not at all.
pub(crate) fn score(query: &str, tool: &ToolSpec) -> usize {
    let is_named = |part: &str| part.eq_ignore_ascii_case(&tool.name);
    // A tool that is named whole comes before all that have the same words in their names.
    let mut score = if query.split([' ', ',']).any(is_named) { 1_000 } else { 0 };
    for word in words(query) {
        score += if words(&tool.name).any(|own| is_like(own, word)) { 4 } else { 0 };
        score += usize::from(words(&tool.description).any(|own| is_like(own, word)));
    }
    score
}

/// Returns the words of a text; underscores part those of names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c) || c == '_').filter(|word| !word.is_empty())
}

/// Returns whether two words are the same, but for the end of a longer one, as `issue` and `issues`
/// are.
fn is_like(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let is_part = short.len() > 2 || short.len() == long.len();
    is_part && long.get(..short.len()).is_some_and(|start| start.eq_ignore_ascii_case(short))
}

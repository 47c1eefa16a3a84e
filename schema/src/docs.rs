//! Documentation for those who do not read Rust: without links into the crates and without
//! citations of the repository's own documents, wrapped as comments are.

/// Returns the text of a documentation, one line for each paragraph.
pub(crate) fn plain(docs: &str) -> String {
    let paragraphs = docs.split("\n\n").map(|text| without_links(&text.replace('\n', " ")));
    let paragraphs = paragraphs.map(|text| with_names_of_json(&without_citations(&text)));
    let paragraphs: Vec<String> = paragraphs.collect();
    paragraphs.join("\n")
}

/// Replaces `[text](target)` and ``[`text`]`` by their text.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('[') {
        plain.push_str(before);
        let link = behind.split_once(']').filter(|(inside, _)| {
            // Brackets in code are not links: `tools[0]`.
            plain.matches('`').count().is_multiple_of(2) && !inside.contains('[')
        });
        rest = match link {
            Some((inside, after)) => {
                plain.push_str(inside);
                let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
                target.map_or(after, |(_, after)| after)
            }
            None => {
                plain.push('[');
                behind
            }
        };
    }
    plain + rest
}

/// Removes ``(`docs/…`)``, with the space before it.
fn without_citations(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(" (`docs/") {
        plain.push_str(before);
        rest = behind.split_once("`)").map_or("", |(_, after)| after);
    }
    plain + rest
}

/// Shortens a path in code, `Kind::TheEnd`, to its last name, as JSON has it.
fn with_names_of_json(text: &str) -> String {
    let spans = text.split('`').enumerate().map(|(index, span)| match span.rsplit_once("::") {
        Some((_, name)) if index % 2 == 1 && !span.contains(' ') => snake(name),
        _ => span.to_owned(),
    });
    spans.collect::<Vec<_>>().join("`")
}

/// Returns the text in lines of at most that many columns, with an empty line between paragraphs.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, paragraph) in text.lines().enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > columns {
                lines.push(core::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Returns a type's name in snake case.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Returns a variant's name in upper camel case.
pub(crate) fn camel(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut chars = word.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::{plain, wrapped};

    #[test]
    fn links_and_citations_are_for_rustdoc() {
        let docs = "News of an [`Effect`](crate::E) and [`Kind::TheEnd`],\nfor `tools[0]` \
                    (`docs/decisions.md#states`).\n\nMore [of it](https://a.example).";
        assert_eq!(plain(docs), "News of an `Effect` and `the_end`, for `tools[0]`.\nMore of it.");
    }

    #[test]
    fn no_line_is_longer_than_it_may_be() {
        assert_eq!(wrapped("one two three\nfour", 9), ["one two", "three", "", "four"]);
    }
}

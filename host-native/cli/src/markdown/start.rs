//! The kind of a line of Markdown, decided as soon as enough of it has arrived. The decision never
//! changes once it is made, since the text is on the screen by then.

/// The most bytes of a line that are held back until its kind is known.
pub(super) const HELD: usize = 80;

/// The kind of a line, as far as its start shows it. A number is the length of the mark in bytes,
/// all of them ASCII; the text after it belongs to the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStart {
    /// Not known yet: more text is needed.
    Open,
    /// Words.
    Text,
    /// An empty line.
    Blank,
    /// A rule.
    Rule,
    /// A heading.
    Heading(usize),
    /// An item of a list.
    Item(usize),
    /// A quote.
    Quote(usize),
    /// A fence of that many characters; its label follows.
    Fence(usize),
    /// A row of a table.
    Row,
}

/// Returns the kind of the line that begins with `held`, without its indentation; `is_whole` is
/// true if that is all of it.
pub(super) fn start(held: &str, is_whole: bool) -> LineStart {
    let is_whole_or_long = is_whole || held.len() >= HELD;
    let open_or = |start| if is_whole_or_long { start } else { LineStart::Open };
    let Some(first) = held.chars().next() else {
        return if is_whole { LineStart::Blank } else { LineStart::Open };
    };
    match first {
        '#' => heading(held, is_whole),
        '`' | '~' => fence(held, first, is_whole),
        '-' | '*' | '+' | '_' => item_or_rule(held, first, is_whole),
        '>' => match held.as_bytes() {
            [_] => open_or(LineStart::Quote(1)),
            [_, b' ', ..] => LineStart::Quote(2),
            _ => LineStart::Quote(1),
        },
        '|' => LineStart::Row,
        '0'..='9' => numbered(held, is_whole),
        _ => LineStart::Text,
    }
}

fn run(held: &str, of: char) -> usize {
    held.chars().take_while(|c| *c == of).count()
}

fn heading(held: &str, is_whole: bool) -> LineStart {
    let level = run(held, '#');
    match held.as_bytes().get(level) {
        _ if level > 6 => LineStart::Text,
        None if is_whole => LineStart::Text,
        None => LineStart::Open,
        Some(b' ') => LineStart::Heading(level + 1),
        Some(_) => LineStart::Text,
    }
}

fn fence(held: &str, mark: char, is_whole: bool) -> LineStart {
    let length = run(held, mark);
    let label = held.get(length..).unwrap_or_default();
    // As in CommonMark, a fence of backticks has none in its label: this is inline code.
    let is_code = mark == '`' && label.contains('`');
    match (length >= 3, is_whole) {
        _ if is_code => LineStart::Text,
        (true, true) => LineStart::Fence(length),
        (false, true) => LineStart::Text,
        (_, false) if held.len() >= HELD => LineStart::Text,
        (true, false) => LineStart::Open,
        (false, false) if label.is_empty() => LineStart::Open,
        (false, false) => LineStart::Text,
    }
}

fn item_or_rule(held: &str, mark: char, is_whole: bool) -> LineStart {
    let is_item = mark != '_' && held.as_bytes().get(1) == Some(&b' ');
    let otherwise = if is_item { LineStart::Item(2) } else { LineStart::Text };
    // `* * *` is a rule and `* *` an item, so that a line of marks and spaces has to be whole.
    let may_be_rule = mark != '+' && held.chars().all(|c| c == mark || c == ' ');
    if may_be_rule && is_whole && held.chars().filter(|c| *c == mark).count() >= 3 {
        return LineStart::Rule;
    }
    let is_open = may_be_rule || held.len() == 1;
    if is_open && !is_whole && held.len() < HELD { LineStart::Open } else { otherwise }
}

fn numbered(held: &str, is_whole: bool) -> LineStart {
    let digits = held.bytes().take_while(u8::is_ascii_digit).count();
    let rest = held.as_bytes().get(digits..).unwrap_or_default();
    match rest {
        // CommonMark allows nine digits, so that numbers of items do not overflow.
        _ if digits > 9 => LineStart::Text,
        [b'.' | b')', b' ', ..] => LineStart::Item(digits + 2),
        [] | [b'.' | b')'] if !is_whole => LineStart::Open,
        _ => LineStart::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_its_start_says() {
        let cases = [
            ("#", false, LineStart::Open),
            ("## x", false, LineStart::Heading(3)),
            ("#x", false, LineStart::Text),
            ("####### x", false, LineStart::Text),
            ("-", false, LineStart::Open),
            ("- ", false, LineStart::Open),
            ("- a", false, LineStart::Item(2)),
            ("- - -", true, LineStart::Rule),
            ("---", true, LineStart::Rule),
            ("--", true, LineStart::Text),
            ("* *b", false, LineStart::Item(2)),
            ("**b", false, LineStart::Text),
            ("__", false, LineStart::Open),
            ("_x", false, LineStart::Text),
            ("+ x", false, LineStart::Item(2)),
            ("12. x", false, LineStart::Item(4)),
            ("12.5", false, LineStart::Text),
            ("2026", true, LineStart::Text),
            (">", false, LineStart::Open),
            ("> x", false, LineStart::Quote(2)),
            (">x", false, LineStart::Quote(1)),
            ("``", false, LineStart::Open),
            ("`x", false, LineStart::Text),
            ("```ru", false, LineStart::Open),
            ("```rust", true, LineStart::Fence(3)),
            ("```x```", false, LineStart::Text),
            ("|", false, LineStart::Row),
            ("", true, LineStart::Blank),
            ("x", false, LineStart::Text),
        ];
        for (held, is_whole, want) in cases {
            assert_eq!(start(held, is_whole), want, "{held:?}");
        }
    }
}

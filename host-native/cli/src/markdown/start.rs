//! How a line of Markdown begins: what it is, as soon as enough of it is there to tell.

/// Characters of a line that are held back at most until it is known what it is.
pub(super) const HELD: usize = 80;

/// The kind of a line, as far as its start shows it. Numbers count the bytes, all of them ASCII,
/// that have been read; the text behind them belongs to the element that begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStart {
    /// It takes more to tell.
    Open,
    /// Words.
    Text,
    /// Nothing but a line end.
    Blank,
    /// A line across.
    Rule,
    /// A heading, whose words begin there.
    Heading(usize),
    /// An item of a list, whose content begins there.
    Item(usize),
    /// A quote, whose content begins there.
    Quote(usize),
    /// A fence of so many characters, with a label behind it.
    Fence(usize),
    /// A row of a table.
    Row,
}

/// Returns what the line is that begins with `held`, without its indentation; `is_whole` if no more
/// of it comes.
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

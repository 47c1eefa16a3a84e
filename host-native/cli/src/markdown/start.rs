//! How a line of Markdown begins: what it is, as soon as enough of it is there to tell.

/// Characters of a line that are held back at most until it is known what it is.
pub(super) const HELD: usize = 80;

/// What the start of a line says of it. Numbers are of bytes, all of them ASCII, that have been
/// read; what stands behind them belongs to what begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
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

/// What the line is that begins with `held`, without its indentation; `is_whole` if no more of it
/// comes.
pub(super) fn start(held: &str, is_whole: bool) -> Start {
    let is_whole_or_long = is_whole || held.len() >= HELD;
    let open_or = |start| if is_whole_or_long { start } else { Start::Open };
    let Some(first) = held.chars().next() else {
        return if is_whole { Start::Blank } else { Start::Open };
    };
    match first {
        '#' => heading(held, is_whole),
        '`' | '~' => fence(held, first, is_whole),
        '-' | '*' | '+' | '_' => item_or_rule(held, first, is_whole),
        '>' => match held.as_bytes() {
            [_] => open_or(Start::Quote(1)),
            [_, b' ', ..] => Start::Quote(2),
            _ => Start::Quote(1),
        },
        '|' => Start::Row,
        '0'..='9' => numbered(held, is_whole),
        _ => Start::Text,
    }
}

fn run(held: &str, of: char) -> usize {
    held.chars().take_while(|c| *c == of).count()
}

fn heading(held: &str, is_whole: bool) -> Start {
    let level = run(held, '#');
    match held.as_bytes().get(level) {
        _ if level > 6 => Start::Text,
        None if is_whole => Start::Text,
        None => Start::Open,
        Some(b' ') => Start::Heading(level + 1),
        Some(_) => Start::Text,
    }
}

fn fence(held: &str, mark: char, is_whole: bool) -> Start {
    let length = run(held, mark);
    let label = held.get(length..).unwrap_or_default();
    let is_code = mark == '`' && label.contains('`');
    match (length >= 3, is_whole) {
        _ if is_code => Start::Text,
        (true, true) => Start::Fence(length),
        (false, true) => Start::Text,
        (_, false) if held.len() >= HELD => Start::Text,
        (true, false) => Start::Open,
        (false, false) if label.is_empty() => Start::Open,
        (false, false) => Start::Text,
    }
}

fn item_or_rule(held: &str, mark: char, is_whole: bool) -> Start {
    let is_item = mark != '_' && held.as_bytes().get(1) == Some(&b' ');
    let otherwise = if is_item { Start::Item(2) } else { Start::Text };
    let may_be_rule = mark != '+' && held.chars().all(|c| c == mark || c == ' ');
    if may_be_rule && is_whole && held.chars().filter(|c| *c == mark).count() >= 3 {
        return Start::Rule;
    }
    let is_open = may_be_rule || held.len() == 1;
    if is_open && !is_whole && held.len() < HELD { Start::Open } else { otherwise }
}

fn numbered(held: &str, is_whole: bool) -> Start {
    let digits = held.bytes().take_while(u8::is_ascii_digit).count();
    let rest = held.as_bytes().get(digits..).unwrap_or_default();
    match rest {
        _ if digits > 9 => Start::Text,
        [b'.' | b')', b' ', ..] => Start::Item(digits + 2),
        [] | [b'.' | b')'] if !is_whole => Start::Open,
        _ => Start::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_its_start_says() {
        let cases = [
            ("#", false, Start::Open),
            ("## x", false, Start::Heading(3)),
            ("#x", false, Start::Text),
            ("####### x", false, Start::Text),
            ("-", false, Start::Open),
            ("- ", false, Start::Open),
            ("- a", false, Start::Item(2)),
            ("- - -", true, Start::Rule),
            ("---", true, Start::Rule),
            ("--", true, Start::Text),
            ("* *b", false, Start::Item(2)),
            ("**b", false, Start::Text),
            ("__", false, Start::Open),
            ("_x", false, Start::Text),
            ("+ x", false, Start::Item(2)),
            ("12. x", false, Start::Item(4)),
            ("12.5", false, Start::Text),
            ("2026", true, Start::Text),
            (">", false, Start::Open),
            ("> x", false, Start::Quote(2)),
            (">x", false, Start::Quote(1)),
            ("``", false, Start::Open),
            ("`x", false, Start::Text),
            ("```ru", false, Start::Open),
            ("```rust", true, Start::Fence(3)),
            ("```x```", false, Start::Text),
            ("|", false, Start::Row),
            ("", true, Start::Blank),
            ("x", false, Start::Text),
        ];
        for (held, is_whole, want) in cases {
            assert_eq!(start(held, is_whole), want, "{held:?}");
        }
    }
}

//! Errors in TOML files as one line with the place, for messages to the user.

/// The error in one line, with its line and column, from 1 on, if it has a place.
pub fn place(text: &str, error: &toml::de::Error) -> String {
    // A missing field is reported at the start of its table, which is the wrong place to look at.
    let is_there = !error.message().starts_with("missing field");
    let start = error.span().map(|span| span.start).filter(|_| is_there);
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    match start.and_then(|start| position(text, start)) {
        Some(at) => format!("{at}: {message}"),
        None => message,
    }
}

/// The line and column of a byte, from 1 on; `None` if the offset is not within the text.
pub fn position(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some(format!("line {line}, column {column}"))
}

//! What is wrong with a file of TOML, and where.

/// The error in one line, with its line and column, from 1 on, where that says anything.
pub fn place(text: &str, error: &toml::de::Error) -> String {
    let is_there = !error.message().starts_with("missing field");
    let start = error.span().map(|span| span.start).filter(|_| is_there);
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    match start.and_then(|start| position(text, start)) {
        Some(at) => format!("{at}: {message}"),
        None => message,
    }
}

/// The line and column of that byte, from 1 on.
pub fn position(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some(format!("line {line}, column {column}"))
}

//! JSON for people: fields in the order in which they were made, and each value in one line if
//! there is room.

use innerloop_json::quoted;

/// The number of columns of a line.
const COLUMNS: usize = 100;

/// JSON that is to be written.
#[derive(Clone, Debug)]
pub(crate) enum JsonText {
    /// A value as it is written: a quoted text, a number, a word.
    Word(String),
    /// An array of values.
    List(Vec<Self>),
    /// An object, with its fields.
    Fields(Vec<(String, Self)>),
}

impl JsonText {
    pub(crate) fn text(text: &str) -> Self {
        Self::Word(quoted(text))
    }

    pub(crate) fn word(word: &dyn core::fmt::Display) -> Self {
        Self::Word(word.to_string())
    }

    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Returns the document, with its final line feed.
    pub(crate) fn document(&self) -> String {
        let mut out = String::new();
        self.write(0, 0, &mut out);
        out.push('\n');
        out
    }

    /// Writes a value that begins in that column, in a line with that indentation.
    fn write(&self, indent: usize, column: usize, out: &mut String) {
        let short = self.in_line();
        // A comma may follow, and needs a column, too.
        if column + short.chars().count() < COLUMNS {
            return out.push_str(&short);
        }
        let inner = indent + 2;
        let (open, close, items) = match self {
            Self::Word(word) => return out.push_str(word),
            Self::List(items) => ('[', ']', items.iter().map(|item| (None, item)).collect()),
            Self::Fields(fields) => {
                let items = fields.iter().map(|(name, value)| (Some(name), value));
                ('{', '}', items.collect::<Vec<_>>())
            }
        };
        out.push(open);
        for (index, (name, value)) in items.iter().enumerate() {
            let lead = name.map_or(String::new(), |name| format!("{}: ", quoted(name)));
            let comma = if index > 0 { "," } else { "" };
            out.push_str(&format!("{comma}\n{}{lead}", " ".repeat(inner)));
            value.write(inner, inner + lead.chars().count(), out);
        }
        out.push_str(&format!("\n{}{close}", " ".repeat(indent)));
    }

    fn in_line(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::in_line).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Fields(fields) => {
                let fields =
                    fields.iter().map(|(n, value)| format!("{}: {}", quoted(n), value.in_line()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

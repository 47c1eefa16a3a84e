//! The one reader of JSON that servers and models write. A text is passed over once; after that a
//! value is a position in it, and is read only where somebody asks for it. A value of another type
//! than the one that is asked for counts as absent, so that an odd value costs itself and nothing
//! else.

use super::surrogates::{self, JoinedText, PendingSurrogate};
use alloc::{borrow::Cow, string::String, vec::Vec};
use innerloop_json::{IntoList, Reader, Token, parse_f64};
use innerloop_types::{
    json::{Json, JsonObject},
    steps,
    text::listed,
};

/// The reason why a text is not JSON.
pub(super) use innerloop_json::Error;

/// A text with one JSON value in it.
#[derive(Debug, Default)]
pub(super) struct JsonDocument<'a> {
    text: &'a str,
    /// Nothing if there is no value.
    tokens: Vec<Token>,
}

/// One of a document's values.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueRef<'a> {
    document: &'a JsonDocument<'a>,
    /// The value's token; of an absent value none.
    at: usize,
}

/// Values that stand one behind the other.
#[derive(Clone, Debug)]
pub(super) struct ElementIter<'a> {
    next: ValueRef<'a>,
    end: usize,
}

/// An object's fields.
#[derive(Clone, Debug)]
pub(super) struct EntryIter<'a>(ElementIter<'a>);

/// The document that absent values point to, so that a value needs no `Option` around it.
static NOTHING: JsonDocument<'_> = JsonDocument { text: "", tokens: Vec::new() };

const ABSENT: usize = usize::MAX;

/// Returns the text of what should be UTF-8, with U+FFFD for what is not.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Returns the text with `null` in place of the numbers that JSON cannot write and some servers do
/// (Python's `NaN` and `Infinity`).
pub(super) fn finite(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 4] = ["NaN", "Infinity", "-NaN", "-Infinity"];
    steps::count(text.len());
    let (mut finite, mut from, mut at, mut in_string) = (String::new(), 0, 0, false);
    while let Some(byte) = text.as_bytes().get(at) {
        let rest = text.get(at..).filter(|_| !in_string).unwrap_or_default();
        if let Some(word) = WORDS.into_iter().find(|word| rest.starts_with(word)) {
            finite.push_str(text.get(from..at).unwrap_or_default());
            finite.push_str("null");
            at += word.len();
            from = at;
            continue;
        }
        in_string ^= *byte == b'"';
        at += if in_string && *byte == b'\\' { 2 } else { 1 };
    }
    finite.push_str(text.get(from..).unwrap_or_default());
    if from > 0 && is_json(&finite) { Cow::Owned(finite) } else { Cow::Borrowed(text) }
}

/// Returns whether `text` is one JSON value.
pub(super) fn is_json(text: &str) -> bool {
    steps::count(text.len());
    let mut reader = Reader::new(text);
    reader.skip().and_then(|()| reader.end()).is_ok()
}

impl<'a> JsonDocument<'a> {
    /// Reads a text that is one JSON value.
    ///
    /// # Errors
    /// Fails if it is not.
    pub(super) fn parse(text: &'a str) -> Result<Self, Error> {
        steps::count(text.len());
        let mut reader = Reader::new(text);
        let tokens = reader.tokens()?;
        reader.end()?;
        Ok(Self { text, tokens })
    }

    /// Reads a text; one that is not a JSON value gives an empty document.
    pub(super) fn of(text: &'a str) -> Self {
        Self::parse(text).unwrap_or_default()
    }

    /// Reads a value that was kept; no value gives an empty document.
    pub(super) fn kept(json: Option<&'a Json>) -> Self {
        Self::of(json.map_or("", Json::text))
    }

    /// Reads the JSON value at the beginning of `text`, if there is one.
    pub(super) fn first(text: &'a str) -> Option<Self> {
        let tokens = Reader::new(text).tokens().ok()?;
        Some(Self { text, tokens })
    }

    /// Reads an object; nothing if `text` is another value, such as the `[DONE]` that ends some
    /// streams.
    ///
    /// # Errors
    /// Fails if `text` begins like an object but is not JSON.
    pub(super) fn object(text: &'a str) -> Result<Option<Self>, Error> {
        if text.trim_ascii_start().starts_with('{') {
            Self::parse(text).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the number of names and values in the document.
    pub(super) const fn count(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the document's value.
    pub(super) const fn root(&self) -> ValueRef<'_> {
        ValueRef { document: self, at: 0 }
    }
}

impl Default for ValueRef<'_> {
    fn default() -> Self {
        Self { document: &NOTHING, at: ABSENT }
    }
}

impl<'a> Iterator for ElementIter<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<ValueRef<'a>> {
        let value = self.next;
        if value.at >= self.end {
            return None;
        }
        steps::count(1);
        self.next.at = value.end();
        Some(value)
    }
}

impl<'a> Iterator for EntryIter<'a> {
    type Item = (Cow<'a, str>, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = (self.0.next()?, self.0.next()?);
        Some((name.string()?, value))
    }
}

impl<'a> ValueRef<'a> {
    /// Returns the value's JSON; `null` for an absent one.
    pub(super) fn json(self) -> &'a str {
        self.token().and_then(|token| self.json_of(*token)).unwrap_or("null")
    }

    fn token(self) -> Option<&'a Token> {
        self.document.tokens.get(self.at)
    }

    /// Returns the JSON of the value, whose token is given.
    fn json_of(self, token: Token) -> Option<&'a str> {
        let text = self.document.text;
        if !self.is_nested() {
            return text.get(token.from()..token.to());
        }
        // An array's or object's token tells which token comes behind it, not where its text ends.
        // That is looked for here, since few of them are wanted as text.
        let json = Reader::new(text.get(token.from()..)?).raw().ok()?;
        steps::count(json.len());
        Some(json)
    }

    /// Returns whether the value is an array or object.
    fn is_nested(self) -> bool {
        matches!(self.first_byte(), b'{' | b'[')
    }

    /// Returns the number of the token behind the value.
    fn end(self) -> usize {
        match self.token() {
            None => ABSENT,
            Some(token) if self.is_nested() => token.next(),
            Some(_) => self.at + 1,
        }
    }

    /// Returns the first byte of the value's JSON.
    fn first_byte(self) -> u8 {
        let byte = self.token().and_then(|it| self.document.text.as_bytes().get(it.from()));
        // An absent value begins like `null`, so that no caller has to tell the two apart.
        byte.copied().unwrap_or(b'n')
    }

    /// Returns whether the value is absent or null.
    pub(super) fn is_null(self) -> bool {
        self.first_byte() == b'n'
    }

    /// Returns whether the value is an object.
    pub(super) fn is_object(self) -> bool {
        self.first_byte() == b'{'
    }

    /// Returns whether the value is an array.
    pub(super) fn is_array(self) -> bool {
        self.first_byte() == b'['
    }

    /// Returns whether the value is a string.
    pub(super) fn is_string(self) -> bool {
        self.first_byte() == b'"'
    }

    /// Returns whether the value is a number.
    pub(super) fn is_number(self) -> bool {
        matches!(self.first_byte(), b'-' | b'0'..=b'9')
    }

    /// Returns whether the value is `true`.
    pub(super) fn is_true(self) -> bool {
        self.first_byte() == b't'
    }

    /// Returns the value, or another one if it is null.
    pub(super) fn or(self, other: Self) -> Self {
        if self.is_null() { other } else { self }
    }

    /// Returns the value, unless it is null.
    pub(super) fn some(self) -> Option<Self> {
        (!self.is_null()).then_some(self)
    }

    /// Returns the values of an object's fields of those names; of equal names the last.
    pub(super) fn fields<const N: usize>(self, names: &[&str; N]) -> [Self; N] {
        let mut found = [Self::default(); N];
        self.pick(names, &mut found);
        found
    }

    /// Returns the values of an object's fields of those names, which may also be written in snake
    /// case. Of equal names the last counts that is not null.
    pub(super) fn camel_fields<const N: usize>(self, names: &[&str; N]) -> [Self; N] {
        let mut found = [Self::default(); N];
        self.pick_camel(names, &mut found);
        found
    }

    fn pick(self, names: &[&str], found: &mut [Self]) {
        for (name, value) in self.known_entries(names) {
            keep(names, found, &name, value);
        }
    }

    fn pick_camel(self, names: &[&str], found: &mut [Self]) {
        // `null` under one spelling must not hide a value under the other.
        for (name, value) in self.known_entries(names).filter(|(_, value)| !value.is_null()) {
            if name.contains('_') {
                keep(names, found, &camel_case(&name), value);
            } else {
                keep(names, found, &name, value);
            }
        }
    }

    /// Returns the value of an object's field.
    pub(super) fn field(self, name: &str) -> Self {
        let mut found = [Self::default()];
        self.pick(&[name], &mut found);
        let [value] = found;
        value
    }

    /// Returns the values of those of these fields that have one, in the order of `names`.
    pub(super) fn each_of(self, names: &'static str) -> impl Iterator<Item = Self> {
        listed(names).map(move |name| self.field(name)).filter(|value| !value.is_null())
    }

    /// Returns the value of the first of these fields that has one.
    pub(super) fn first_of(self, names: &'static str) -> Self {
        self.each_of(names).next().unwrap_or_default()
    }

    /// Returns the number in an object's field, see [`Self::count`].
    pub(super) fn count_of(self, name: &str) -> Option<u64> {
        self.field(name).count()
    }

    /// Returns an object's fields in order.
    pub(super) fn entries(self) -> EntryIter<'a> {
        EntryIter(self.inside(b'{'))
    }

    /// Returns an object's fields, without those whose names are longer than any of `names` can be:
    /// a name with escapes is decoded again for each look-up, and a long one would cost its length
    /// each time.
    fn known_entries(self, names: &[&str]) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        // An escaped letter takes six bytes, snake case doubles the letters at most, and two are
        // quotes.
        let longest = names.iter().map(|name| name.len() * 12).max().unwrap_or(0) + 2;
        let mut fields = self.inside(b'{');
        let pairs = core::iter::from_fn(move || Some((fields.next()?, fields.next()?)));
        let known = pairs.filter(move |(name, _)| name.string_len() <= longest);
        known.filter_map(|(name, value)| Some((name.string()?, value)))
    }

    /// Returns how long the JSON of a string is.
    fn string_len(self) -> usize {
        self.token().map_or(0, |token| token.to() - token.from())
    }

    /// Returns the names of an object's fields in order.
    pub(super) fn names(self) -> impl Iterator<Item = Cow<'a, str>> {
        self.entries().map(|(name, _)| name)
    }

    /// Returns the elements of an array; none of another value.
    pub(super) fn elements(self) -> ElementIter<'a> {
        self.inside(b'[')
    }

    /// Returns the tokens within the value if it begins with that bracket, or else none.
    fn inside(self, bracket: u8) -> ElementIter<'a> {
        let end = if self.first_byte() == bracket { self.end() } else { 0 };
        ElementIter { next: Self { at: self.at.wrapping_add(1), ..self }, end }
    }

    /// Returns the elements of an array. Another value counts as the only element, `null` as none.
    pub(super) fn items(self) -> ElementIter<'a> {
        match self.first_byte() {
            b'[' => self.elements(),
            b'n' => ElementIter { next: self, end: 0 },
            _ => ElementIter { next: self, end: self.end() },
        }
    }

    /// Returns the objects among [`Self::items`].
    pub(super) fn objects(self) -> impl Iterator<Item = Self> {
        self.items().filter(|item| item.is_object())
    }

    /// Returns whether the value is a string that is not empty.
    pub(super) fn has_text(self) -> bool {
        self.is_string() && self.json().len() > 2
    }

    /// Returns a string's text, with U+FFFD for a lone surrogate.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        match self.plain() {
            Some(text) => Some(Cow::Borrowed(text)),
            None => self.is_string().then(|| surrogates::whole(self.json()).text),
        }
    }

    /// Returns the text of a string that goes on with the one before, see
    /// [`PendingSurrogate::join`]. Any other value has no text.
    pub(super) fn joined(self, surrogate: &mut PendingSurrogate) -> JoinedText<'a> {
        match self.plain().filter(|_| !surrogate.is_waiting()) {
            Some(text) => JoinedText { text: Cow::Borrowed(text), is_whole: true },
            None => surrogate.join(self.json()),
        }
    }

    /// Returns the text of a string without escapes.
    fn plain(self) -> Option<&'a str> {
        let token = self.token().filter(|token| self.is_string() && !token.has_escapes())?;
        self.document.text.get(token.from() + 1..token.to() - 1)
    }

    /// Returns a string's text, unless it is empty.
    pub(super) fn word(self) -> Option<Cow<'a, str>> {
        self.string().filter(|word| !word.is_empty())
    }

    /// Returns a value's text: of a string its own; of a number or truth value its JSON; of an
    /// array its elements' texts, or those of their fields `text`, joined.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self.first_byte() {
            b'"' => self.string(),
            b'{' | b'n' => None,
            b'[' => {
                let of_item = |item: Self| item.field("text").some().unwrap_or(item).text();
                Some(Cow::Owned(self.elements().filter_map(of_item).collect()))
            }
            _ => Some(Cow::Borrowed(self.json())),
        }
    }

    /// Returns a count of tokens or a position: a number, also one with a fraction or in quotes;
    /// none if it is below zero.
    pub(super) fn count(self) -> Option<u64> {
        let text = match self.first_byte() {
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => Cow::Borrowed(self.json()),
            _ => return None,
        };
        let digits = text.trim();
        digits.parse::<u64>().ok().or_else(|| {
            let number = parse_f64(digits)?;
            (number.is_finite() && number >= 0.0).then(|| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "saturates"
                )]
                let whole = number as u64;
                whole
            })
        })
    }

    /// Returns a number that is not infinite.
    pub(super) fn number(self) -> Option<f64> {
        let number = self.is_number().then(|| parse_f64(self.json())).flatten();
        number.filter(|number| number.is_finite())
    }

    /// Returns a copy of the value's JSON, to be kept.
    pub(super) fn to_json(self) -> Option<Json> {
        Json::parse(self.json()).ok()
    }

    /// Returns copies of an object's fields, to be kept.
    pub(super) fn to_object(self) -> Option<JsonObject> {
        let field =
            |(name, value): (Cow<'a, str>, Self)| Some((name.into_owned(), value.to_json()?));
        self.is_object().then(|| JsonObject(self.entries().filter_map(field).into_list()))
    }
}

/// Keeps the value of a field whose name is one of `names`.
fn keep<'a>(names: &[&str], found: &mut [ValueRef<'a>], name: &str, value: ValueRef<'a>) {
    let at = names.iter().position(|known| *known == name);
    if let Some(place) = at.and_then(|at| found.get_mut(at)) {
        *place = value;
    }
}

/// Converts a name from snake case to camel case.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = String::from(words.next().unwrap_or_default());
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

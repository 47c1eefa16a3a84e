//! The one reader of JSON that servers and models write. A value is a slice of the text that came,
//! and is looked at only where somebody asks. A value of another type than the one that is asked
//! for counts as absent, so that an odd value costs itself and nothing else.

use super::surrogates;
use crate::base::json::{Json, Object};
use alloc::{borrow::Cow, vec::Vec};
use innerloop_json::{Reader, parse_f64};

/// Why a text is not JSON.
pub(super) use innerloop_json::Error;

/// The text of one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw<'a>(&'a str);

impl Default for Raw<'_> {
    fn default() -> Self {
        Self("null")
    }
}

/// The fields of those names of the object `text`; nothing if it is another value, such as the
/// `[DONE]` that ends some streams.
///
/// # Errors
/// `text` begins like an object but is not valid JSON.
pub(super) fn object<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<Option<[Raw<'a>; N]>, Error> {
    if !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    let mut found = [Raw::default(); N];
    each_field(text, &mut |name, value| keep(&names, &mut found, &name, value))?;
    Ok(Some(found))
}

/// Whether `text` is one JSON value.
pub(super) fn is_json(text: &str) -> bool {
    Raw::parse(text).is_ok()
}

/// Keeps the value of a field that is asked for; of equal names the last.
fn keep<'a>(names: &[&str], found: &mut [Raw<'a>], name: &str, value: Raw<'a>) {
    let at = names.iter().position(|known| *known == name);
    if let Some(place) = at.and_then(|at| found.get_mut(at)) {
        *place = value;
    }
}

impl<'a> Raw<'a> {
    /// The JSON value that is the whole of `text`.
    ///
    /// # Errors
    /// `text` is not one JSON value.
    pub(super) fn parse(text: &'a str) -> Result<Self, Error> {
        let mut reader = Reader::new(text);
        let value = reader.raw()?;
        reader.end()?;
        Ok(Self(value))
    }

    /// JSON that stands in the source.
    pub(super) const fn literal(json: &'static str) -> Self {
        Self(json)
    }

    /// A value that was kept.
    pub(super) fn of(json: &'a Json) -> Self {
        Self(json.text())
    }

    /// The JSON value at the beginning of `text`.
    pub(super) fn first(text: &'a str) -> Option<Self> {
        Reader::new(text).raw().ok().map(Self)
    }

    /// The value's JSON.
    pub(super) const fn json(self) -> &'a str {
        self.0
    }

    /// Whether the value is absent or null.
    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Whether the value is an object.
    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether the value is an array.
    pub(super) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Whether the value is a string.
    pub(super) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    /// Whether the value is a number.
    pub(super) fn is_number(self) -> bool {
        self.0.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    }

    /// Whether the value is `true`.
    pub(super) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// The value, or else another one.
    pub(super) fn or(self, other: Self) -> Self {
        if self.is_null() { other } else { self }
    }

    /// The value, unless it is null.
    pub(super) fn some(self) -> Option<Self> {
        (!self.is_null()).then_some(self)
    }

    /// The values of an object's fields of those names; of equal names the last.
    pub(super) fn fields<const N: usize>(self, names: [&str; N]) -> [Self; N] {
        let mut found = [Self::default(); N];
        self.pick(&names, &mut found);
        found
    }

    fn pick(self, names: &[&str], found: &mut [Self]) {
        self.each_field(&mut |name, value| keep(names, found, &name, value));
    }

    /// The value of an object's field.
    pub(super) fn field(self, name: &str) -> Self {
        let [value] = self.fields([name]);
        value
    }

    /// The value of the first of these fields that has one.
    pub(super) fn first_of<const N: usize>(self, names: [&str; N]) -> Self {
        self.fields(names).into_iter().find(|value| !value.is_null()).unwrap_or_default()
    }

    /// Hands out an object's fields in order.
    pub(super) fn each_field(self, on_field: &mut dyn FnMut(Cow<'a, str>, Self)) {
        if self.is_object() {
            // The value has been checked when it was cut out.
            let _ = each_field(self.0, on_field);
        }
    }

    /// The names of an object's fields in order.
    pub(super) fn names(self) -> Vec<Cow<'a, str>> {
        let mut names = Vec::new();
        self.each_field(&mut |name, _| names.push(name));
        names
    }

    /// The elements of an array.
    pub(super) fn elements(self) -> Vec<Self> {
        let mut elements = Vec::new();
        if self.is_array() {
            // The value has been checked when it was cut out.
            let _ = each_element(self.0, &mut elements);
        }
        elements
    }

    /// The elements of an array; of another value but null itself as the only one.
    pub(super) fn items(self) -> Vec<Self> {
        if self.is_array() { self.elements() } else { self.some().into_iter().collect() }
    }

    /// The objects among [`Self::items`].
    pub(super) fn objects(self) -> impl Iterator<Item = Self> + use<'a> {
        self.items().into_iter().filter(|item| item.is_object())
    }

    /// Whether the value is a string that is not empty.
    pub(super) fn has_text(self) -> bool {
        self.is_string() && self.0.len() > 2
    }

    /// A string's text, with U+FFFD for a lone surrogate.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        self.is_string().then(|| surrogates::whole(self.0).text)
    }

    /// A string's text that is not empty.
    pub(super) fn word(self) -> Option<Cow<'a, str>> {
        self.string().filter(|word| !word.is_empty())
    }

    /// A value's text: of a string its own; of a number or truth value its JSON; of an array its
    /// elements' texts, or those of their fields `text`, joined.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self.0.as_bytes().first()? {
            b'"' => self.string(),
            b'{' | b'n' => None,
            b'[' => {
                let of_item = |item: Self| item.field("text").some().unwrap_or(item).text();
                Some(Cow::Owned(self.elements().into_iter().filter_map(of_item).collect()))
            }
            _ => Some(Cow::Borrowed(self.0)),
        }
    }

    /// A count of tokens or a position: a number, also one with a fraction or in quotes; none if
    /// it is below zero.
    pub(super) fn count(self) -> Option<u64> {
        let digits = self.0.trim_matches('"').trim();
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

    /// A number that is not infinite.
    pub(super) fn number(self) -> Option<f64> {
        let number = self.is_number().then(|| parse_f64(self.0)).flatten();
        number.filter(|number| number.is_finite())
    }

    /// The value, to be kept.
    pub(super) fn to_json(self) -> Option<Json> {
        Json::parse(self.0).ok()
    }

    /// An object's fields, to be kept.
    pub(super) fn to_object(self) -> Option<Object> {
        let mut object = Object::default();
        let mut keep = |name: Cow<'a, str>, value: Self| {
            object.0.extend(value.to_json().map(|json| (name.into_owned(), json)));
        };
        self.is_object().then(|| self.each_field(&mut keep))?;
        Some(object)
    }
}

/// Hands out the fields of the object that is the whole of `text`.
fn each_field<'a>(
    text: &'a str,
    on_field: &mut dyn FnMut(Cow<'a, str>, Raw<'a>),
) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    reader.object()?;
    while let Some(name) = reader.key_lossy()? {
        on_field(name, Raw(reader.raw()?));
    }
    reader.end()
}

fn each_element<'a>(text: &'a str, elements: &mut Vec<Raw<'a>>) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    reader.array()?;
    while reader.element()? {
        elements.push(Raw(reader.raw()?));
    }
    Ok(())
}

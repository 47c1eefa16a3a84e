//! A reader of JSON, step by step. Every step checks what it passes over, so that a value that was
//! skipped is as valid as one that was read.

use crate::{
    error::{Error, JsonFault},
    number::Number,
};
use alloc::{borrow::Cow, string::String, vec::Vec};
use innerloop_json_scan::{
    MAX_DEPTH, MAX_TEXT, Token, TokenIndex, code_unit, plain_len, quoted, unescaped, value_end,
};

/// The kind of value that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// The value `null` itself.
    Null,
    /// Either `true` or `false`.
    Bool,
    /// A number of any form.
    Number,
    /// A string in its quotes.
    String,
    /// An array of any values.
    Array,
    /// An object with any fields.
    Object,
}

/// A place in a JSON text. To walk an object, call [`Reader::object`], then [`Reader::key`] until
/// it gives `None`, and read or skip a value after each key; walk an array likewise with
/// [`Reader::array`] and [`Reader::element`]. After an error the place is undefined.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u8,
    /// True if an array or object was just opened, so that no comma comes before the next item.
    is_opened: bool,
    /// A field that the next object may have and that is passed over: the tag of an enum.
    pub(crate) tag: &'static str,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `text`.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, is_opened: false, tag: "" }
    }

    /// Returns the number of bytes that have been read.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Returns the kind of value that comes next. Only white space is read.
    ///
    /// # Errors
    /// There is no value, or not the beginning of one.
    pub fn kind(&mut self) -> Result<ValueKind, Error> {
        match self.peek() {
            Some(b'n') => Ok(ValueKind::Null),
            Some(b't' | b'f') => Ok(ValueKind::Bool),
            Some(b'-' | b'0'..=b'9') => Ok(ValueKind::Number),
            Some(b'"') => Ok(ValueKind::String),
            Some(b'[') => Ok(ValueKind::Array),
            Some(b'{') => Ok(ValueKind::Object),
            Some(_) => Err(self.error_ahead("expected value")),
            None => Err(self.eof()),
        }
    }

    /// Returns whether what comes next is `null` or nothing valid. Only white space is read.
    pub(crate) fn is_at_null(&mut self) -> bool {
        self.peek() == Some(b'n')
    }

    /// Reads `null`.
    ///
    /// # Errors
    /// It is something else.
    pub fn null(&mut self) -> Result<(), Error> {
        match self.kind()? {
            ValueKind::Null => self.word("null"),
            _ => Err(self.unexpected("null".into())),
        }
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// It is something else.
    pub fn bool(&mut self) -> Result<bool, Error> {
        match self.kind()? {
            ValueKind::Bool if self.peek() == Some(b't') => self.word("true").map(|()| true),
            ValueKind::Bool => self.word("false").map(|()| false),
            _ => Err(self.unexpected("true or false".into())),
        }
    }

    /// Reads a number.
    ///
    /// # Errors
    /// It is none, or one that is larger than any floating number.
    pub fn number(&mut self) -> Result<Number, Error> {
        let text = self.number_text()?;
        Number::of(text).ok_or_else(|| self.syntax("number out of range"))
    }

    /// Reads a number and returns it as it is written.
    ///
    /// # Errors
    /// It is none.
    pub fn number_text(&mut self) -> Result<&'a str, Error> {
        if self.kind()? != ValueKind::Number {
            return Err(self.unexpected("a number".into()));
        }
        let from = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        } else if matches!(self.byte(), Some(b'0'..=b'9')) {
            return Err(self.error_ahead("invalid number"));
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(self.since(from))
    }

    /// Reads a string; it borrows from the text if it has no escapes.
    ///
    /// # Errors
    /// It is none, or half of a surrogate pair is in it.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        if self.kind()? != ValueKind::String {
            return Err(self.unexpected("a string".into()));
        }
        self.string_text(false)
    }

    /// Reads a string as [`Reader::string`] does, with U+FFFD for half of a surrogate pair.
    ///
    /// # Errors
    /// It is none.
    pub fn string_lossy(&mut self) -> Result<Cow<'a, str>, Error> {
        if self.kind()? != ValueKind::String {
            return Err(self.unexpected("a string".into()));
        }
        self.string_text(true)
    }

    /// Enters an object.
    ///
    /// # Errors
    /// It is none, or it is nested too deep.
    pub fn object(&mut self) -> Result<(), Error> {
        match self.kind()? {
            ValueKind::Object => self.enter(),
            _ => Err(self.unexpected("an object".into())),
        }
    }

    /// Returns the next key of the object that was entered; `None` at its end, which is then read.
    ///
    /// # Errors
    /// Neither comes.
    pub fn key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if self.next_item(b'}')? { self.key_text().map(Some) } else { Ok(None) }
    }

    /// Enters an array.
    ///
    /// # Errors
    /// It is none, or it is nested too deep.
    pub fn array(&mut self) -> Result<(), Error> {
        match self.kind()? {
            ValueKind::Array => self.enter(),
            _ => Err(self.unexpected("an array".into())),
        }
    }

    /// Returns whether the array that was entered has another element; if not, its end is read.
    ///
    /// # Errors
    /// Neither comes.
    pub fn element(&mut self) -> Result<bool, Error> {
        self.next_item(b']')
    }

    /// Passes over a value.
    ///
    /// # Errors
    /// It is not valid JSON.
    pub fn skip(&mut self) -> Result<(), Error> {
        // The fast scan knows only that a value is not valid. The slow walk finds the same fault
        // again, with its place and kind.
        match value_end(self.text.as_bytes(), self.at, self.depth, None) {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => self.walk(),
        }
    }

    /// Passes over a value step by step, as far as it is valid. Its depth is bounded by `enter`.
    fn walk(&mut self) -> Result<(), Error> {
        match self.kind()? {
            ValueKind::Null => self.word("null"),
            ValueKind::Bool => self.bool().map(|_| ()),
            ValueKind::Number => self.number_text().map(|_| ()),
            ValueKind::String => self.inside().map(|_| ()),
            ValueKind::Array => {
                self.enter()?;
                while self.next_item(b']')? {
                    self.walk()?;
                }
                Ok(())
            }
            ValueKind::Object => {
                self.enter()?;
                while self.next_item(b'}')? {
                    self.inside()?;
                    self.colon()?;
                    self.walk()?;
                }
                Ok(())
            }
        }
    }

    /// Passes over a value and returns its text, without the white space around it.
    ///
    /// # Errors
    /// It is not valid JSON.
    pub fn raw(&mut self) -> Result<&'a str, Error> {
        self.peek();
        let from = self.at;
        self.skip()?;
        Ok(self.since(from))
    }

    /// Passes over a value and returns its tokens.
    ///
    /// # Errors
    /// It is not valid JSON, or longer than 2 GiB.
    pub fn tokens(&mut self) -> Result<Vec<Token>, Error> {
        if self.text.len() > MAX_TEXT {
            return Err(self.syntax("longer than 2 GiB"));
        }
        let mut tokens = Vec::new();
        let index = TokenIndex::new(&mut tokens, self.text.as_bytes());
        match value_end(self.text.as_bytes(), self.at, self.depth, Some(index)) {
            Some(end) => self.at = end,
            // The walk finds out what is wrong. Should it find nothing where the scan failed, that
            // is an error, too.
            None => self.walk().and_then(|()| Err(self.syntax("expected value")))?,
        }
        Ok(tokens)
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    /// There is more.
    pub fn end(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(_) => Err(self.error_ahead("trailing characters")),
            None => Ok(()),
        }
    }

    /// Returns an error about what was read last, with a message.
    #[must_use]
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.fault(JsonFault::Invalid { message: message.into() })
    }

    /// Returns an error about what was read last.
    #[must_use]
    pub fn fault(&self, kind: JsonFault) -> Error {
        Error::new(kind, self.text, self.at)
    }

    /// Returns the error for a value that comes next and is not what was `expected`.
    #[must_use]
    pub fn unexpected(&mut self, expected: Cow<'static, str>) -> Error {
        match self.found() {
            Ok(found) => self.fault(JsonFault::Unexpected { found, expected }),
            Err(error) => error,
        }
    }

    fn syntax(&self, message: &'static str) -> Error {
        self.fault(JsonFault::Syntax { message })
    }

    fn eof(&self) -> Error {
        self.fault(JsonFault::Eof)
    }

    fn found(&mut self) -> Result<String, Error> {
        Ok(match self.kind()? {
            ValueKind::Null => self.word("null").map(|()| String::from("null"))?,
            ValueKind::Bool => String::from(if self.bool()? { "true" } else { "false" }),
            ValueKind::String => quoted(&self.string_lossy()?),
            ValueKind::Array => "an array".into(),
            ValueKind::Object => "an object".into(),
            ValueKind::Number => self.number_text()?.into(),
        })
    }

    /// Returns an error about the byte that comes next.
    fn error_ahead(&self, message: &'static str) -> Error {
        let at = self.text.len().min(self.at + 1);
        Error::new(JsonFault::Syntax { message }, self.text, at)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.byte() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        // A text that ends in the middle of a word may be the beginning of a valid one.
        let is_cut = word.starts_with(rest);
        Err(if is_cut { self.eof() } else { self.syntax("expected value") })
    }

    fn digits(&mut self) -> Result<(), Error> {
        let from = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        match self.byte() {
            _ if self.at > from => Ok(()),
            Some(_) => Err(self.error_ahead("invalid number")),
            None => Err(self.eof()),
        }
    }

    /// Reads the bracket that opens an array or object.
    fn enter(&mut self) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_ahead("recursion limit exceeded"));
        }
        self.at += 1;
        self.depth += 1;
        self.is_opened = true;
        Ok(())
    }

    /// Reads what comes between items, or the bracket that ends them, and returns whether there is
    /// another item.
    fn next_item(&mut self, end: u8) -> Result<bool, Error> {
        let is_first = core::mem::take(&mut self.is_opened);
        let next = self.peek();
        if next == Some(end) {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        let is_array = end == b']';
        match next {
            Some(_) if is_first => {}
            Some(b',') => {
                self.at += 1;
                if self.peek() == Some(end) {
                    return Err(self.error_ahead("trailing comma"));
                }
            }
            None => return Err(self.eof()),
            Some(_) if is_array => return Err(self.error_ahead("expected `,` or `]`")),
            Some(_) => return Err(self.error_ahead("expected `,` or `}`")),
        }
        match self.peek() {
            None => Err(self.eof()),
            Some(byte) if !is_array && byte != b'"' => {
                Err(self.error_ahead("key must be a string"))
            }
            Some(_) => Ok(true),
        }
    }

    fn key_text(&mut self) -> Result<Cow<'a, str>, Error> {
        let key = self.string_text(false)?;
        self.colon()?;
        Ok(key)
    }

    fn colon(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.error_ahead("expected `:`")),
            None => Err(self.eof()),
        }
    }

    fn string_text(&mut self, is_lossy: bool) -> Result<Cow<'a, str>, Error> {
        let (inside, has_escapes) = self.inside()?;
        if !has_escapes {
            return Ok(Cow::Borrowed(inside));
        }
        match unescaped(inside, is_lossy) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(_) => Err(self.syntax("lone leading surrogate in hex escape")),
        }
    }

    /// Passes over a string, and returns its text between the quotes and whether it contains
    /// escapes.
    fn inside(&mut self) -> Result<(&'a str, bool), Error> {
        self.at += 1;
        let from = self.at;
        let mut has_escapes = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            self.at += plain_len(rest);
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.escape()?;
                }
                Some(_) => {
                    let message =
                        "control character (\\u0000-\\u001F) found while parsing a string";
                    return Err(self.syntax(message));
                }
                None => return Err(self.eof()),
            }
        }
        let inside = self.since(from);
        self.at += 1;
        Ok((inside, has_escapes))
    }

    /// Passes over an escape.
    fn escape(&mut self) -> Result<(), Error> {
        self.at += 1;
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        match rest.split_first() {
            Some((b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', _)) => self.at += 1,
            Some((b'u', digits)) if code_unit(digits).is_some() => self.at += 5,
            Some((b'u', digits)) if digits.len() < 4 => {
                self.at = self.text.len();
                return Err(self.eof());
            }
            Some(_) => return Err(self.error_ahead("invalid escape")),
            None => return Err(self.eof()),
        }
        Ok(())
    }
}

//! Python's literals and keyword arguments, read and written as JSON. Pythonic calls consist of
//! them, and models that mean JSON often quote like Python. Gemma's values are read here, too: they
//! nest in the same way, and only their texts and words differ.

use super::{
    super::{
        lenient::JsonDocument,
        surrogates,
        writer::{JsonWriter, ObjectFields},
    },
    scan::find,
};
use alloc::{
    borrow::Cow,
    string::{String, ToString},
};
use innerloop_json::{Number, parse_f64};
use innerloop_types::{steps, text::is_word};

/// The maximum nesting depth of literals.
// Reading is recursive, and the model decides how deep it goes.
const DEPTH: u32 = 64;

/// A reader of literals in a text.
#[derive(Clone, Debug)]
pub(super) struct LiteralReader<'a> {
    text: &'a str,
    /// The position that it has reached, in bytes.
    at: usize,
    /// True if texts are Gemma's: between tokens, or bare.
    is_gemma: bool,
}

/// The tokens around the texts of Gemma 4 and of FunctionGemma; one token stands on both sides.
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

/// Returns the literal that is the whole of `text`, as JSON.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut reader = LiteralReader::new(text, 0);
    let json = reader.json()?;
    reader.space();
    (reader.at == text.len()).then_some(json)
}

impl<'a> LiteralReader<'a> {
    /// Creates a reader of Python's literals that begins at `at`.
    pub(super) const fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, is_gemma: false }
    }

    /// Creates a reader of Gemma's values that begins at `at`.
    pub(super) const fn gemma(text: &'a str, at: usize) -> Self {
        Self { text, at, is_gemma: true }
    }

    /// Returns the position that the reader has reached.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Takes a name, which may have dots and dashes in it.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let fits = |c: char| is_word(c) || matches!(c, '.' | '-');
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        steps::count(end);
        let name = rest.get(..end)?;
        let begins = name.chars().next().is_some_and(|c| is_word(c) && !c.is_ascii_digit());
        if !begins || name.ends_with(['.', '-']) {
            return None;
        }
        self.at += end;
        Some(name)
    }

    /// Takes a token, if it stands here.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    /// Skips white space.
    pub(super) fn space(&mut self) {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        steps::count(space);
        self.at += space;
    }

    /// Reads `a=1, b="x")` as a JSON object, up to the closing parenthesis and with it.
    pub(super) fn keyword_arguments(&mut self) -> Option<String> {
        let mut fields = ObjectFields::default();
        loop {
            self.space();
            if self.take(")") {
                break;
            }
            let key = self.name()?;
            self.space();
            if !self.take("=") {
                return None;
            }
            self.value(fields.set(key), DEPTH)?;
            self.space();
            if !self.take(",") && !self.rest().starts_with(')') {
                return None;
            }
        }
        let mut out = JsonWriter::new();
        fields.write(&mut out);
        Some(out.0)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads a value as JSON.
    pub(super) fn json(&mut self) -> Option<String> {
        let mut out = JsonWriter::new();
        self.value(&mut out, DEPTH)?;
        Some(out.0)
    }

    fn value(&mut self, out: &mut JsonWriter, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.space();
        match self.rest().chars().next()? {
            '{' => self.dict(out, depth),
            '[' => self.list("[", "]", out, depth),
            '(' => self.list("(", ")", out, depth),
            '<' if self.is_gemma => {
                out.string(self.marked()?);
                Some(())
            }
            c if self.is_gemma && c != '"' => self.bare(out),
            '"' | '\'' => self.strings(out),
            '-' | '+' | '.' | '0'..='9' => self.number(out),
            _ => self.word(out),
        }
    }

    /// Reads the text between Gemma's tokens that begins here.
    pub(super) fn marked(&mut self) -> Option<&'a str> {
        let quote = QUOTES.into_iter().find(|quote| self.take(quote))?;
        let rest = self.rest();
        let end = find(rest, quote)?;
        self.at += end + quote.len();
        rest.get(..end)
    }

    /// Reads a bare word of Gemma's: a number, a truth value, nothing, or text.
    fn bare(&mut self, out: &mut JsonWriter) -> Option<()> {
        let rest = self.rest();
        let end = rest.find(&[',', '}', ']', '<'][..])?;
        steps::count(end);
        self.at += end;
        let word = rest.get(..end)?.trim();
        match word {
            "true" | "false" => out.raw(word),
            "null" | "None" | "none" | "nil" => out.raw("null"),
            _ => match number(word) {
                Some(number) => out.raw(&number),
                None => out.string(word),
            },
        };
        Some(())
    }

    fn list(&mut self, open: &str, close: &str, out: &mut JsonWriter, depth: u32) -> Option<()> {
        self.take(open);
        out.raw("[");
        let mut is_first = true;
        loop {
            self.space();
            if self.take(close) {
                break;
            }
            if !is_first {
                out.raw(",");
            }
            is_first = false;
            self.value(out, depth)?;
            self.space();
            if !self.take(",") && !self.rest().starts_with(close) {
                return None;
            }
        }
        out.raw("]");
        Some(())
    }

    /// Reads a dictionary, or a set, which becomes a list.
    fn dict(&mut self, out: &mut JsonWriter, depth: u32) -> Option<()> {
        self.take("{");
        let mut fields = ObjectFields::default();
        loop {
            self.space();
            if self.take("}") {
                break;
            }
            let mut key = JsonWriter::new();
            match self.bare_key() {
                Some(name) => {
                    key.string(name);
                }
                None => self.value(&mut key, depth)?,
            }
            self.space();
            if fields.is_empty() && self.rest().starts_with([',', '}']) {
                return self.set(&key.0, out, depth);
            }
            let key = JsonDocument::parse(&key.0).ok()?;
            let key = key.root();
            // JSON's keys are strings, so the key of `{1: 2}` becomes `"1"`.
            let key = key.string().unwrap_or(Cow::Borrowed(key.json()));
            if !self.take(":") {
                return None;
            }
            self.value(fields.set(&key), depth)?;
            self.space();
            if !self.take(",") && !self.rest().starts_with('}') {
                return None;
            }
        }
        let before = out.len();
        fields.write(out);
        steps::count(out.len() - before);
        Some(())
    }

    /// Reads a key without quotes, as in `{name: 1}`.
    pub(super) fn bare_key(&mut self) -> Option<&'a str> {
        if self.is_gemma {
            return self.gemma_key();
        }
        // Without a colon it is not a key but the first element of a set, so nothing is taken yet.
        let mut ahead = self.clone();
        let name = ahead.name()?;
        let here = ahead.at;
        ahead.space();
        let is_key = ahead.take(":") && !matches!(name, "True" | "False" | "None");
        is_key.then(|| {
            self.at = here;
            name
        })
    }

    /// Reads a key of Gemma's without quotes, which may hold spaces.
    fn gemma_key(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(&[':', ',', '{', '}', '[', ']', '<', '"', '\n'][..])?;
        steps::count(end);
        let key = rest.get(..end)?.trim();
        let is_key = !key.is_empty() && rest.get(end..)?.starts_with(':');
        is_key.then(|| {
            self.at += end;
            key
        })
    }

    /// Reads the rest of a set behind its first element, as a list.
    fn set(&mut self, first: &str, out: &mut JsonWriter, depth: u32) -> Option<()> {
        out.raw("[").raw(first);
        loop {
            self.space();
            let goes_on = self.take(",");
            self.space();
            if self.take("}") {
                break;
            }
            if !goes_on {
                return None;
            }
            out.raw(",");
            self.value(out, depth)?;
        }
        out.raw("]");
        Some(())
    }

    fn number(&mut self, out: &mut JsonWriter) -> Option<()> {
        let rest = self.rest();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        steps::count(end);
        let digits = rest.get(..end)?.replace('_', "");
        let json = number(&digits)?;
        self.at += end;
        out.raw(&json);
        Some(())
    }

    fn word(&mut self, out: &mut JsonWriter) -> Option<()> {
        for (word, json) in [
            ("True", "true"),
            ("true", "true"),
            ("False", "false"),
            ("false", "false"),
            ("None", "null"),
            ("null", "null"),
        ] {
            if self.take(word) {
                let next = self.rest().chars().next();
                out.raw(json);
                // `Trueish` is a name, not a literal.
                return (!next.is_some_and(is_word)).then_some(());
            }
        }
        self.strings(out)
    }

    /// Reads a string, or several side by side, which Python joins.
    fn strings(&mut self, out: &mut JsonWriter) -> Option<()> {
        let mut text = String::new();
        self.string(&mut text)?;
        loop {
            let here = self.at;
            self.space();
            if !self.rest().starts_with(['"', '\'']) {
                // White space behind the last string belongs to what follows.
                self.at = here;
                break;
            }
            self.string(&mut text)?;
        }
        out.string(&text);
        Some(())
    }

    /// Reads a string and appends what it stands for.
    pub(super) fn string(&mut self, text: &mut String) -> Option<()> {
        let is_raw = self.take("r") || self.take("R");
        if !is_raw {
            let _ = self.take("u");
        }
        // Three quotes first: one would find an empty string.
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.take(quote))?;
        loop {
            let rest = self.rest();
            let found = rest.find([quote.chars().next()?, '\\']);
            steps::count(found.unwrap_or(rest.len()));
            let end = found?;
            text.push_str(rest.get(..end)?);
            self.at += end;
            if self.take(quote) {
                return Some(());
            }
            let mut rest = self.rest().chars();
            let here = rest.next()?;
            if here != '\\' {
                text.push(here);
                self.at += here.len_utf8();
            } else if is_raw {
                let next = rest.next()?;
                text.extend(['\\', next]);
                self.at += 1 + next.len_utf8();
            } else {
                self.at += 1;
                self.escape(text)?;
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        let plain = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'a' => '\u{7}',
            'v' => '\u{b}',
            '0' => '\0',
            '\\' | '\'' | '"' | '/' => letter,
            // A backslash at a line's end joins the lines.
            '\n' => return Some(()),
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            _ => {
                // Python keeps the backslash of an escape that it does not know.
                text.extend(['\\', letter]);
                return Some(());
            }
        };
        text.push(plain);
        Some(())
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let code = self.hex(digits)?;
        // JSON writes characters beyond U+FFFF as two surrogates.
        if (0xd800..0xdc00).contains(&code) && self.take("\\u") {
            let (first, second) = (u16::try_from(code).ok()?, u16::try_from(self.hex(4)?).ok()?);
            return surrogates::pair(first, second);
        }
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        Some(code)
    }
}

/// Returns a number as JSON; `None` for infinity and for anything that is not a number.
pub(super) fn number(digits: &str) -> Option<String> {
    // As it was written, where JSON can say it: no digit changes by way of a float.
    if JsonDocument::of(digits).root().number().is_some() {
        return Some(digits.to_string());
    }
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(whole.to_string());
    }
    // Rust reads `inf` and `nan` as floats, which JSON cannot write.
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return None;
    }
    let number = parse_f64(digits).and_then(Number::from_f64)?;
    Some(number.to_string())
}

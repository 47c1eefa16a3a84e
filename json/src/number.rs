//! JSON numbers as `serde_json` keeps them: whole if they fit into 64 bits, else floating.

use crate::decimal::parse_f64;
use alloc::string::String;
use core::fmt;

/// A number. Whole numbers and floating ones are never equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number from 0 up.
    Unsigned(u64),
    /// A whole number below 0.
    Negative(i64),
    /// Any other finite number.
    Float(f64),
}

impl Number {
    /// Returns the number of a text that follows JSON's grammar; `None` if it is out of range.
    pub(crate) fn of(text: &str) -> Option<Self> {
        if !text.contains(['.', 'e', 'E']) {
            if let Ok(number) = text.parse() {
                return Some(Self::Unsigned(number));
            }
            // Minus zero has no integer; as a floating number it keeps its sign.
            if let Ok(number @ ..0) = text.parse() {
                return Some(Self::Negative(number));
            }
        }
        parse_f64(text).and_then(Self::from_f64)
    }

    /// Returns the floating number, if it is finite.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self::Float(number))
    }

    /// Returns the number as an unsigned integer, if it is one.
    #[must_use]
    pub const fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Unsigned(number) => Some(*number),
            Self::Negative(_) | Self::Float(_) => None,
        }
    }

    /// Returns the number as a signed integer, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Unsigned(number) => i64::try_from(*number).ok(),
            Self::Negative(number) => Some(*number),
            Self::Float(_) => None,
        }
    }

    /// Returns the number as a floating one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest floating number is asked for")]
    pub const fn as_f64(&self) -> f64 {
        match self {
            Self::Unsigned(number) => *number as f64,
            Self::Negative(number) => *number as f64,
            Self::Float(number) => *number,
        }
    }

    /// Returns whether the number is whole and written as such: `1.0` is not.
    #[must_use]
    pub const fn is_integer(&self) -> bool {
        !matches!(self, Self::Float(_))
    }

    pub(crate) fn push_to(self, out: &mut String) {
        match self {
            Self::Unsigned(number) => out.push_str(itoa::Buffer::new().format(number)),
            Self::Negative(number) => out.push_str(itoa::Buffer::new().format(number)),
            Self::Float(number) => push_f64(out, number),
        }
    }
}

/// Appends the shortest text that reads as `number`; `null` for what is not a number of JSON.
pub(crate) fn push_f64(out: &mut String, number: f64) {
    if number.is_finite() {
        out.push_str(zmij::Buffer::new().format_finite(number));
    } else {
        out.push_str("null");
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        u64::try_from(number).map_or(Self::Negative(number), Self::Unsigned)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

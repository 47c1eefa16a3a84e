//! Floating numbers from decimal text, exactly rounded. The standard library's way is faster, but
//! carries 10 KB of powers of five: much in a small module, where floating numbers are rare. Long
//! arithmetic needs no table.

use alloc::{vec, vec::Vec};
use core::num::IntErrorKind;

/// The number of digits that are read: a number half-way between two floating ones has fewer.
// Of digits beyond these it is enough to know that one is not zero (`is_more`), which breaks a tie.
const MOST_DIGITS: usize = 770;
/// The number of decimal digits that are taken at once: a power of ten that fits into a limb.
const STEP: usize = 9;

/// Returns the floating number nearest to `text`, as `str::parse` reads it, but without its words
/// for infinity and NaN.
#[must_use]
pub fn parse_f64(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.as_bytes(), fraction.as_bytes()].concat();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = digits.get(zeros..).unwrap_or_default();
    let fraction = i64::try_from(fraction.len()).ok()?;
    let number = nearest(digits, exponent.saturating_sub(fraction));
    Some(if text.starts_with('-') { -number } else { number })
}

/// Reads an exponent. One that is out of range counts as the last one in it.
fn parse_exponent(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(exponent) => Some(exponent),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => Some(i64::MAX),
            IntErrorKind::NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

/// Returns the number nearest to `digits` times ten to the `power`. The first digit is not zero.
fn nearest(digits: &[u8], power: i64) -> f64 {
    let (digits, rest) = digits.split_at(digits.len().min(MOST_DIGITS));
    let power = rest.iter().fold(power, |power, _| power.saturating_add(1));
    let before_point = digits.iter().fold(power, |count, _| count.saturating_add(1));
    // Beyond these powers the result is zero or infinity, whatever the digits. It also bounds the
    // work of a hostile exponent.
    match before_point {
        _ if digits.is_empty() => return 0.0,
        ..-330 => return 0.0,
        310.. => return f64::INFINITY,
        _ => {}
    }
    let is_more = rest.iter().any(|digit| *digit != b'0');
    let mut natural = BigNatural { limbs: Vec::new(), exponent: 0, is_more };
    for digits in digits.chunks(STEP) {
        let number = digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        natural.multiply_add(ten_to(digits.len()), number);
    }
    // Rounding looks at three limbs, and needs them for small numbers, too.
    natural.push_zeros(4);
    natural.times_ten_to(power);
    natural.rounded()
}

fn ten_to(power: usize) -> u64 {
    (0..power).fold(1, |product, _| product * 10)
}

/// Returns powers of ten whose product is ten to `power`, each fitting into a limb.
fn powers_of_ten(power: u64) -> impl Iterator<Item = u64> {
    let power = usize::try_from(power).unwrap_or(0);
    (0..power).step_by(STEP).map(move |done| ten_to((power - done).min(STEP)))
}

/// A natural number, in limbs of 32 bits of which the lowest is the first, times two to the
/// `exponent`.
struct BigNatural {
    limbs: Vec<u64>,
    exponent: i32,
    /// True if the number is a little more than its limbs.
    is_more: bool,
}

impl BigNatural {
    fn multiply_add(&mut self, factor: u64, summand: u64) {
        let mut carry = summand;
        for limb in &mut self.limbs {
            let product = *limb * factor + carry;
            *limb = product & 0xffff_ffff;
            carry = product >> 32;
        }
        if carry > 0 {
            self.limbs.push(carry);
        }
    }

    fn divide(&mut self, divisor: u64) {
        let mut remainder = 0;
        for limb in self.limbs.iter_mut().rev() {
            let dividend = (remainder << 32) | *limb;
            *limb = dividend / divisor;
            remainder = dividend % divisor;
        }
        self.is_more |= remainder > 0;
    }

    fn times_ten_to(&mut self, power: i64) {
        let steps = powers_of_ten(power.unsigned_abs());
        if power < 0 {
            // Each division takes off less than a limb, so that one limb per step keeps the
            // precision.
            self.push_zeros(steps.size_hint().0);
            steps.for_each(|ten| self.divide(ten));
        } else {
            steps.for_each(|ten| self.multiply_add(ten, 0));
        }
    }

    /// Adds limbs of zeros below the others; the number stays the same.
    fn push_zeros(&mut self, count: usize) {
        let above = core::mem::replace(&mut self.limbs, vec![0; count]);
        self.limbs.extend(above);
        self.exponent = (0..count).fold(self.exponent, |exponent, _| exponent - 32);
    }

    /// Returns the nearest floating number; of two, the even one.
    fn rounded(mut self) -> f64 {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        if self.limbs.is_empty() {
            return 0.0;
        }
        let (low, high) = self.limbs.split_at(self.limbs.len().saturating_sub(3));
        let is_more = self.is_more || low.iter().any(|limb| *limb > 0);
        let exponent = low.iter().fold(self.exponent, |exponent, _| exponent + 32);
        let high = high.iter().rfold(0, |number, limb| (number << 32) | u128::from(*limb));
        // A floating number has 53 bits, the last of which counts 2⁻¹⁰⁷⁴ or more.
        let bits = 128 - high.leading_zeros().cast_signed();
        let last = (exponent + bits - 53).max(-1074);
        let dropped = (last - exponent).unsigned_abs();
        let Some(kept) = high.checked_shr(dropped) else { return 0.0 };
        let half = 1_u128 << (dropped - 1);
        let rest = high - (kept << dropped);
        let is_up = rest > half || (rest == half && (is_more || kept % 2 == 1));
        let Ok(exponent @ ..=2045) = u64::try_from(last + 1074) else { return f64::INFINITY };
        // The highest bit of a number that is not tiny adds one to the exponent.
        let mantissa = u64::try_from(kept).unwrap_or_default() + u64::from(is_up);
        f64::from_bits((exponent << 52) + mantissa)
    }
}

#[cfg(test)]
mod tests {
    use super::parse_f64;
    use std::{format, string::String};

    #[track_caller]
    fn check(text: &str) {
        let theirs = text.parse::<f64>().ok().map(f64::to_bits);
        assert_eq!(parse_f64(text).map(f64::to_bits), theirs, "{text}");
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "00.10",
            "1e5",
            "1E+5",
            "25e-1",
            "0.1",
            "0.3",
            "1e22",
            "1e23",
            "9007199254740993",
            "9007199254740992.5",
            "18446744073709551616",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "1e308",
            "1e309",
            "1e-400",
            "1e99999999999999999999",
            "0e99999999999999999999",
            "1e-99999999999999999999",
            "-1e400",
            "1e-330",
            "1e-340",
            "123456789e-332",
            "0.00000000000000000001e330",
        ] {
            check(text);
        }
        for text in
            ["", "-", ".", "+.", "e5", "1e", "1e+", "1e5.", "--1", "1 ", " 1", "0x1", "1.2.3"]
        {
            check(text);
        }
        assert_eq!([parse_f64("inf"), parse_f64("NaN")], [None, None]);
    }

    #[test]
    fn halves_are_decided_by_what_stands_far_behind() {
        // Half-way between the smallest number and nothing: half of all its digits.
        let mut rest = 0;
        let smallest = format!("{:.1074}0", f64::from_bits(1)).split_off(2);
        let halved = smallest.bytes().map(|digit| {
            let dividend = rest * 10 + digit - b'0';
            rest = dividend % 2;
            char::from(b'0' + dividend / 2)
        });
        let half: String = halved.collect();
        for behind in ["", "000", "0001"] {
            check(&format!("0.{half}{behind}"));
            check(&format!("3.{half}{behind}"));
        }
        for (digits, zeros) in [("9007199254740993", 0), ("9007199254740993", 3_000)] {
            let padded = format!("{digits}.{}", "0".repeat(zeros));
            check(&padded);
            check(&format!("{padded}1"));
        }
        check(&format!("{}e-5000", "7".repeat(5_000)));
        check(&format!("0.{}7e5000", "0".repeat(5_000)));
    }

    #[test]
    fn any_digits_are_read_alike() {
        let mut state = 7_u64;
        let mut next = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u32::try_from(state >> 33).unwrap_or_default() % below
        };
        for _ in 0..5_000 {
            let digits: String =
                (0..=next(25)).filter_map(|_| char::from_digit(next(10), 10)).collect();
            let exponent = i64::from(next(720)) - 370;
            check(&format!("{digits}.{}e{exponent}", next(1_000_000_000)));
            let (high, low) = (u64::from(next(1 << 31)), u64::from(next(1 << 31)));
            let bits = f64::from_bits((high << 33) | (low << 2));
            if bits.is_finite() {
                check(&format!("{bits:?}"));
            }
        }
    }
}

//! Floating numbers side by side with the standard library's.

#![allow(clippy::cast_possible_truncation, reason = "any bits will do")]

use innerloop_json::parse_f64;

#[track_caller]
fn check(text: &str) {
    let ours = parse_f64(text).map(f64::to_bits);
    assert_eq!(ours, text.parse().ok().map(f64::to_bits), "{text}");
}

#[test]
fn what_is_a_number() {
    for text in [
        "",
        "-",
        "+",
        ".",
        "-.",
        "e1",
        ".e1",
        "1e",
        "1e+",
        "1e-",
        "1e1.5",
        "1.2.3",
        "1 ",
        " 1",
        "1_0",
        "0x1",
        "--1",
        "+-1",
        "1e--1",
        "é",
        "1é",
        "0",
        "-0",
        "+0",
        "00",
        "1.",
        ".5",
        "-.5e1",
        "1E+05",
        "01.50",
        "1e0000000000000000000000001",
        "0e99999999999999999999",
        "1e99999999999999999999",
        "-1e-99999999999999999999",
    ] {
        check(text);
    }
}

#[test]
fn numbers_at_the_borders() {
    for text in [
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.8e308",
        "179769313486231580793e289",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201e-308",
        "4.9e-324",
        "5e-324",
        "2.5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2e-324",
        "1e-400",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000001",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678901234567890",
        "0.1",
        "0.3",
        "34.4",
        "1e-22",
        "1e-23",
        "6.631236846766476e-316",
        "1.1125369292536007e-308",
    ] {
        check(text);
    }
    let zeros = "0".repeat(5_000);
    for text in [
        format!("1{zeros}"),
        format!("1{zeros}e-5000"),
        format!("0.{zeros}1"),
        format!("0.{zeros}1e5001"),
        format!("1.{zeros}1"),
        format!("9007199254740993.{zeros}1"),
        format!("9007199254740993.{zeros}"),
        "7".repeat(5_000),
        format!("{}e-4990", "7".repeat(5_000)),
    ] {
        check(&text);
    }
}

#[test]
fn numbers_of_all_sizes_and_those_exactly_between_two() {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for _ in 0..500 {
        let float = f64::from_bits(next());
        if !float.is_finite() {
            continue;
        }
        check(&format!("{float:e}"));
        check(&format!("{float:.17e}"));
        check(&format!("{float:.3e}"));
        // All digits of the number and of its neighbour, which are added up and halved.
        let size = float.abs();
        let (low, high) = (format!("{size:.1100}"), format!("{:.1100}", size.next_up()));
        let middle = middle(&low, &high);
        check(&middle);
        check(&format!("{middle}1"));
        check(&format!("{}4{}", middle.trim_end_matches(['0', '5']), "9".repeat(30)));
        check(&format!("{}e-{}", next() % 100_000_000, next() % 350));
        check(&format!("{}.{}e-{}", next(), next(), next() % 360));
        check(&format!("{}.{}e{}", next(), next(), next() % 300));
    }
}

/// Half of the sum of two decimals with as many digits behind the point.
fn middle(low: &str, high: &str) -> String {
    let low = format!("{}{low}", "0".repeat(high.len() - low.len()));
    let mut sum = Vec::new();
    let mut carry = 0;
    for (a, b) in low.bytes().rev().zip(high.bytes().rev()) {
        if a == b'.' {
            sum.push(b'.');
            continue;
        }
        let digit = a - b'0' + b - b'0' + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    sum.push(carry);
    let mut half = String::new();
    let mut rest = 0;
    for digit in sum.into_iter().rev() {
        if digit == b'.' {
            half.push('.');
            continue;
        }
        let digit = rest * 10 + digit;
        half.push(char::from(b'0' + digit / 2));
        rest = digit % 2;
    }
    half.push(if rest == 1 { '5' } else { '0' });
    half
}

//! The formats of numbers for people: counts, amounts of money, times.

use innerloop_core::message::Usage;
pub(super) use innerloop_core::text::{counted, grouped};

/// Formats nano-dollars as `$0.0123`, with four digits after the point, the last one rounded.
pub(super) fn dollars(nano: u64) -> String {
    let tenths = nano.saturating_add(50_000) / 100_000;
    format!("${}.{:04}", grouped(tenths / 10_000), tenths % 10_000)
}

/// Formats milliseconds as `4.2 s`.
pub(super) fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Formats tokens as `17,152 tokens in (12,000 cached), 749 out`.
pub(super) fn tokens(usage: &Usage) -> String {
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    let (input, output) = (grouped(usage.input_total), grouped(usage.output_total));
    format!("{input} tokens in{cached}, {output} out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups() {
        let numbers = [0, 7, 999, 1_000, 12_345, 123_456, 1_234_567];
        let texts = numbers.map(grouped);
        assert_eq!(texts, ["0", "7", "999", "1,000", "12,345", "123,456", "1,234,567"]);
        assert_eq!(counted(1, "turn"), "1 turn");
        assert_eq!(counted(0, "turn"), "0 turns");
    }

    #[test]
    fn costs_are_told_in_dollars() {
        let costs = [0, 49_999, 50_000, 12_345_678, 1_999_999_999, 1_234_000_000_000];
        let texts = costs.map(dollars);
        let want = ["$0.0000", "$0.0000", "$0.0001", "$0.0123", "$2.0000", "$1,234.0000"];
        assert_eq!(texts, want);
    }
}

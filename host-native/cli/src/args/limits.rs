//! The limits of a run that stop it before it is done: time, cost and tokens.

use super::number;
use clap::Args;
use jiff::SignedDuration;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after this time: 30s, 5m, 1h30m; a number alone is seconds.
    ///
    /// The run is interrupted as by Ctrl-C, and ends with exit code 4; with --apply, what was done
    /// is applied. What becomes of the changes at the end is not part of the time.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Stop when the model's replies have cost this many US dollars, those of subagents included.
    ///
    /// Needs a model whose price is known; --models names a catalogue with others. It is looked at
    /// before each call of the model, so that the last one may go beyond; the run ends as with
    /// --max-tool-rounds, exit code 4.
    #[arg(long, value_name = "N", value_parser = nano_usd)]
    pub(crate) max_cost_usd: Option<u64>,
    /// Stop when this many tokens went in and out, those of subagents included, as with
    /// --max-cost-usd.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::positive::<u64>,
        allow_negative_numbers = true
    )]
    pub(crate) max_tokens: Option<u64>,
}

/// Parses a time that is not 0.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time such as 30s, 5m or 1h30m".to_owned();
    let text = text.trim();
    let read = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let read = text.parse::<SignedDuration>().ok();
            read.and_then(|read| Duration::try_from(read).ok())
        }
    };
    read.filter(|read| !read.is_zero()).ok_or_else(wrong)
}

/// Parses dollars as nano-dollars, more than 0.
fn nano_usd(text: &str) -> Result<u64, String> {
    let wrong = || "give US dollars such as 2 or 0.50".to_owned();
    // Read by its digits, not as a float: a limit of 0.1 is exactly 100,000,000 nano-dollars.
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.len() + part.len() == 0 || part.len() > 9 {
        return Err(wrong());
    }
    let number = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>() };
    let nano = number(whole).ok().zip(number(&format!("{part:0<9}")).ok());
    let nano = nano.and_then(|(whole, part)| whole.checked_mul(1_000_000_000)?.checked_add(part));
    nano.filter(|nano| *nano > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let seconds = |text| duration(text).map(|time| time.as_secs()).ok();
        let good = [("30s", 30), ("5m", 300), ("1h30m", 5_400), ("90", 90), (" 2 h 5 min ", 7_500)];
        for (text, read) in good {
            assert_eq!(seconds(text), Some(read), "{text}");
        }
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for text in ["", "0", "0s", "-5m", "soon", "5 parsecs", "1mo", "99999999999999999999"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn dollars_are_read_to_the_last_digit() {
        let good = [
            ("2", 2_000_000_000),
            ("0.5", 500_000_000),
            (".25", 250_000_000),
            ("1.", 1_000_000_000),
            ("0.000000001", 1),
            ("18446744073.709551615", u64::MAX),
        ];
        for (text, read) in good {
            assert_eq!(nano_usd(text), Ok(read), "{text}");
        }
        let bad = ["", ".", "0", "0.0", "-1", "+1", "1e3", "$2", "1,5", "0.0000000001", "NaN"];
        for text in bad.into_iter().chain(["18446744073.709551616", "99999999999999999999"]) {
            assert!(nano_usd(text).is_err(), "{text}");
        }
    }
}

//! Dates with something added, which GNU's `date -d '2024-01-01 +1 day'` reads, turned into the
//! dates that bashkit's `date` reads.

use super::calendar::{calendar, civil, days};
use std::time::SystemTime;

/// The last year that is reckoned with.
const MAX_YEAR: u64 = 1_000_000;

/// Corrects the arguments of `date`.
pub(super) fn put_right(args: &mut [String]) {
    let mut is_date = false;
    for arg in args {
        let value = match std::mem::replace(&mut is_date, arg == "-d" || arg == "--date") {
            true => Some(arg.clone()),
            false => arg.strip_prefix("--date=").or(arg.strip_prefix("-d")).map(str::to_owned),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        if let Some(date) = moved(&value) {
            *arg = arg.replace(&value, &date);
        }
    }
}

/// Returns the date that a date with something added stands for; `None` if the text is anything
/// else, which is left to bashkit.
fn moved(text: &str) -> Option<String> {
    let spaced = text.replace('+', " +").replace(" -", " - ").replace(" +", " + ");
    let mut words = spaced.split_whitespace().peekable();
    if let Some(time) = time_of_day(text) {
        let [year, month, day, ..] = calendar(SystemTime::now());
        return Some(format!("{year:04}-{month:02}-{day:02} {time}"));
    }
    let date = words.next()?;
    let mut parts = date.splitn(3, '-').map(str::parse::<u64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    // Larger years and counts overflow further down, and mean no day that anybody looks for.
    if year > MAX_YEAR || month > 12 || day > 31 {
        return None;
    }
    let mut clock = [0_i32; 3];
    if let Some(word) = words.next_if(|word| word.contains(':')) {
        for (part, text) in clock.iter_mut().zip(word.splitn(3, ':')) {
            *part = text.parse().ok()?;
        }
    }
    let zone = words.next_if(|word| matches!(*word, "UTC" | "Z" | "GMT")).map_or("", |_| " UTC");
    // A date without anything added is one that bashkit reads itself.
    words.peek()?;
    let [hour, minute, second] = clock.map(i64::from);
    let mut months = i64::try_from(year * 12 + month).ok()?.checked_sub(1)?;
    let mut seconds = hour * 3600 + minute * 60 + second;
    while let Some(word) = words.next() {
        let (sign, count) = match word {
            "+" => (1, words.next()?),
            "-" => (-1, words.next()?),
            count => (1, count),
        };
        let (count, unit) = match count.parse::<i32>() {
            Ok(count) => (i64::from(count), words.next()?),
            // A unit without a number is one of them.
            Err(_) => (1, count),
        };
        let is_ago = words.next_if_eq(&"ago").is_some();
        let count = if is_ago { -sign * count } else { sign * count };
        match unit.trim_end_matches('s') {
            "year" => months = months.saturating_add(12 * count),
            "month" => months = months.saturating_add(count),
            "fortnight" => seconds = seconds.saturating_add(14 * 86_400 * count),
            "week" => seconds = seconds.saturating_add(7 * 86_400 * count),
            "day" => seconds = seconds.saturating_add(86_400 * count),
            "hour" => seconds = seconds.saturating_add(3600 * count),
            "minute" | "min" => seconds = seconds.saturating_add(60 * count),
            "second" | "sec" => seconds = seconds.saturating_add(count),
            _ => return None,
        }
    }
    // Months are added before days, and a day past the end of its month runs on into the next, as
    // in GNU's `date`.
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let year = u64::try_from(year).ok().filter(|year| *year <= MAX_YEAR)?;
    let start = days(year, u64::try_from(month).ok()?, day)?;
    let moved = (i64::try_from(start).ok()? * 86_400).saturating_add(seconds);
    let (day, second) = (u64::try_from(moved.div_euclid(86_400)).ok()?, moved.rem_euclid(86_400));
    let (year, month, day) = civil(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{zone}"))
}

/// Reads a time of the day, such as `18:30`, `6:30:15` or `06:30 PM`, to the second.
fn time_of_day(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    let half = ["am", "pm"].into_iter().find(|half| lower.ends_with(half));
    let plain = half.map_or(lower.as_str(), |half| lower.trim_end_matches(half).trim_end());
    let parts: Vec<u32> = plain.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let hour = match half {
        Some("am") => hour % 12,
        Some(_) => hour % 12 + 12,
        None => hour,
    };
    Some(format!("{hour:02}:{minute:02}:{second:02}"))
}

//! The time that a provider asks to wait, in its five forms: `retry-after-ms`, `retry-after` in
//! seconds or as a date, a field of the error, and its words.

use super::super::lenient::ValueRef;
use innerloop_json::parse_f64;
use innerloop_types::{input::ResponseHead, text::listed, time::UnixMillis};

/// Phrases before a duration, in lower case.
const BEFORE: &str = "try again in |retry in |retry after |try again after |please wait ";

/// Returns the delay that the headers ask for.
pub(super) fn of_head(head: &ResponseHead) -> Option<u64> {
    let number = |text: &str, factor: f64| millis(parse_f64(text.trim())? * factor);
    if let Some(found) = head.header("retry-after-ms").and_then(|text| number(text, 1.0)) {
        return Some(found);
    }
    let text = head.header("retry-after")?;
    number(text, 1000.0).or_else(|| until(http_date(text)?, head.at))
}

/// Returns the delay that the fields of an error ask for: Google's `RetryInfo`, seconds, or the
/// time of a reset.
pub(super) fn of_fields(error: ValueRef<'_>, outer: ValueRef<'_>, now: UnixMillis) -> Option<u64> {
    let [details, metadata] = error.fields(&["details", "metadata"]);
    let delays = details.elements().map(|detail| detail.field("retryDelay"));
    if let Some(found) = delays.filter_map(ValueRef::string).find_map(|delay| duration(&delay)) {
        return Some(found);
    }
    let number = |name: &str| {
        [error, outer, metadata].into_iter().find_map(|value| value.field(name).number())
    };
    let seconds = ["retry_after", "retry_after_seconds", "resets_in_seconds"];
    let found = number("retry_after_ms").and_then(millis);
    let found = found.or_else(|| seconds.iter().find_map(|name| millis(number(name)? * 1000.0)));
    found.or_else(|| until(UnixMillis(millis(number("resets_at")? * 1000.0)?), now)).or_else(|| {
        // OpenRouter repeats its own headers in the error: milliseconds since 1970.
        let reset = metadata.field("headers").field("X-RateLimit-Reset").string()?;
        until(UnixMillis(reset.parse().ok()?), now)
    })
}

/// Returns the delay that the words ask for: "try again in 1.2s", "Please retry in 6m0s", "retry
/// after 20 seconds". A page needs them, since OpenAI hides `retry-after` from it.
pub(super) fn of_text(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    listed(BEFORE).find_map(|phrase| {
        // The phrase may also stand where no duration follows.
        let mut after =
            text.match_indices(phrase).filter_map(|(at, _)| text.get(at + phrase.len()..));
        after.find_map(duration)
    })
}

/// Returns the duration at the start of `text`, which is in lower case, such as `1.2s`, `28ms`,
/// `6m0s` or `20 seconds`.
fn duration(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = None;
    loop {
        rest = rest.trim_start_matches(' ');
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start_matches(' ');
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let factor = match unit {
            "ms" | "millisecond" | "milliseconds" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => 86_400_000.0,
            _ => return total.and_then(millis),
        };
        let Some(number) = parse_f64(number) else { return total.and_then(millis) };
        total = Some(total.unwrap_or(0.0) + number * factor);
        rest = after;
    }
}

/// Returns the time until `then` in milliseconds; `None` if the time now is not known.
fn until(then: UnixMillis, now: UnixMillis) -> Option<u64> {
    (now.0 > 0).then(|| then.0.saturating_sub(now.0))
}

/// Returns whole milliseconds; `None` for a value that cannot be a delay.
fn millis(value: f64) -> Option<u64> {
    (value.is_finite() && value >= 0.0).then(|| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        // 34.4 s is not quite 34,400 ms in binary.
        let whole = (value + 0.5) as u64;
        whole
    })
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<UnixMillis> {
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split([' ', ':']);
    let day = i64::from(words.next()?.parse::<u16>().ok()?);
    let month = words.next()?;
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = i64::try_from(months.find(month)? / 3).ok()? + 1;
    let mut number = || words.next()?.parse::<u16>().ok().map(i64::from);
    let (year, hour, minute, second) = (number()?, number()?, number()?, number()?);
    // Days from the civil date, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era_days = 365 * y + y / 4 - y / 100 + y / 400;
    let days = era_days + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    u64::try_from(seconds).ok().map(|seconds| UnixMillis(seconds.saturating_mul(1000)))
}

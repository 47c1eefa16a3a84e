//! Dates and times of the calendar, in UTC.

use std::time::SystemTime;

/// Returns a time as text, to the nanosecond.
pub(super) fn stamp(time: SystemTime) -> String {
    let [year, month, day, hour, minute, second] = calendar(time);
    let nanos = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{nanos:09} +0000")
}

/// Returns year, month, day, hour, minute and second of a time.
pub(super) fn calendar(time: SystemTime) -> [u64; 6] {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (day, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(day);
    [year, month, day, second / 3600, second / 60 % 60, second % 60]
}

/// Returns the number of days from 1970-01-01 to a day, which may be past the end of its month.
pub(super) fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    // Years begin with March here, so that the leap day comes last and month lengths follow one
    // formula.
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let of_era = year % 400;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    (year / 400 * 146_097 + of_era).checked_sub(719_468)
}

/// Returns year, month and day of the day that is this many days after 1970-01-01.
pub(super) fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

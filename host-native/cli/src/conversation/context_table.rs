//! The table of what fills the context window, as `/context` shows it: one line for each part, with
//! its tokens, its share of the window, and a bar where the terminal has room for one.

use crate::{
    number_format::grouped,
    style::{OutputStyle, TextColour},
};
use innerloop_core::status::ContextUsage;

/// The columns in front of the bar: name, tokens and share, with the spaces between them.
const COLUMNS: usize = 30;

/// The least columns of a bar that tells anything, and the most that are needed.
const SHORTEST: usize = 8;
const LONGEST: usize = 40;

/// Returns the line above the table: how full the window is.
pub(super) fn headline(usage: &ContextUsage) -> String {
    let (total, window) = (grouped(usage.total), grouped(usage.window));
    format!("context: about {total} of {window} tokens")
}

/// Returns the table for a terminal of that many columns.
pub(super) fn table(usage: &ContextUsage, columns: usize, style: OutputStyle) -> String {
    let rows = [
        ("system prompt", usage.system),
        ("instructions", usage.documents),
        ("tools", usage.tools),
        ("history", usage.history),
        ("tool results", usage.results),
        ("free", usage.free),
    ];
    let most = columns.saturating_sub(COLUMNS).min(LONGEST);
    let mut table = String::new();
    for (name, tokens) in rows {
        let (share, count) = (share(tokens, usage.window), grouped(tokens));
        let line = format!("{name:13} {count:>9} {share:>4}");
        // What is free is no load: a bar of it would be the longest of all.
        let bar = if name == "free" { String::new() } else { bar(tokens, usage.window, most) };
        table.push_str(&match bar.is_empty() {
            true => format!("{line}\n"),
            false => format!("{line}  {}\n", style.paint(TextColour::Cyan, &bar)),
        });
    }
    table
}

/// Returns how much of the window that is, in percent.
fn share(tokens: u64, window: u64) -> String {
    match tokens.saturating_mul(100).checked_div(window) {
        Some(0) if tokens > 0 => "<1%".to_owned(),
        percent => format!("{}%", percent.unwrap_or_default()),
    }
}

/// Returns the bar of a part: the window is as long as `most` columns, and what is there at all has
/// one.
fn bar(tokens: u64, window: u64, most: usize) -> String {
    if most < SHORTEST || tokens == 0 {
        return String::new();
    }
    let cells = u64::try_from(most).unwrap_or_default().saturating_mul(tokens);
    let cells = cells.checked_div(window).and_then(|cells| usize::try_from(cells).ok());
    "█".repeat(cells.unwrap_or_default().clamp(1, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColourChoice;

    const USAGE: ContextUsage = ContextUsage {
        system: 2_000,
        documents: 0,
        tools: 12_000,
        history: 50_000,
        results: 36_000,
        total: 100_000,
        window: 200_000,
        free: 100_000,
    };

    #[test]
    fn n19_parts_stand_below_one_another_with_share_and_bar() {
        let style = OutputStyle::new(ColourChoice::Never);
        assert_eq!(headline(&USAGE), "context: about 100,000 of 200,000 tokens");
        let wide = format!(
            "system prompt     2,000   1%  █\ninstructions          0   0%\n\
             tools            12,000   6%  ██\nhistory          50,000  25%  {}\n\
             tool results     36,000  18%  {}\nfree            100,000  50%\n",
            "█".repeat(10),
            "█".repeat(7),
        );
        assert_eq!(table(&USAGE, 200, style), wide);
        let coloured = table(&USAGE, 200, OutputStyle::new(ColourChoice::Always));
        assert!(coloured.contains("\x1b["), "{coloured}");
    }

    #[test]
    fn n19_a_narrow_terminal_has_short_bars_or_none() {
        let style = OutputStyle::new(ColourChoice::Never);
        for columns in [20, 30, 37, 38, 44, 80] {
            let table = table(&USAGE, columns, style);
            let longest = table.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= columns.max(28), "{columns}\n{table}");
            assert_eq!(table.contains('█'), columns >= 38, "{columns}\n{table}");
        }
    }

    #[test]
    fn n19_a_window_that_is_exceeded_or_unknown_breaks_no_bar() {
        assert_eq!(bar(300, 200, 10).chars().count(), 10);
        assert_eq!((bar(300, 0, 10).chars().count(), share(300, 0)), (1, "0%".to_owned()));
        assert_eq!((share(1, 200), share(0, 200)), ("<1%".to_owned(), "0%".to_owned()));
    }
}

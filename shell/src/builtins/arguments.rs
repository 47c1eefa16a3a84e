//! The arguments of bashkit's own commands, corrected where it reads them differently from GNU's
//! programs. The commands stay bashkit's.

use super::dates;
use crate::devices;
use bashkit::hooks::ToolEvent;

/// Corrects the arguments of a command.
pub(super) fn put_right(mut event: ToolEvent) -> ToolEvent {
    match event.name.as_str() {
        "date" => dates::put_right(&mut event.args),
        "grep" | "egrep" | "fgrep" => grep(&mut event.args),
        "head" => expect_of_head(&event.args),
        "dd" => expect_of_dd(&event.args),
        _ => {}
    }
    event
}

/// Returns whether a word is a cluster of options without values.
fn is_cluster(word: &str, letters: &str) -> bool {
    let given = word.strip_prefix('-').unwrap_or_default();
    !given.is_empty() && given.chars().all(|letter| letters.contains(letter))
}

/// Removes an option from the clusters that contain it.
fn without(args: &mut Vec<String>, letters: &str, unwanted: char) {
    let mut is_over = false;
    args.retain_mut(|arg| {
        is_over |= arg == "--";
        if is_over || !is_cluster(arg, letters) {
            return true;
        }
        arg.retain(|letter| letter != unwanted);
        arg != "-"
    });
}

/// Corrects `grep`: with `-L` and `-l` it lists files and counts nothing, and it reads standard
/// input once, with a name if there are other files.
fn grep(args: &mut Vec<String>) {
    let flags = "abcEFGhHiIlLnorRPsvwxyz";
    let options = args.iter().take_while(|arg| *arg != "--").filter(|arg| is_cluster(arg, flags));
    let lists = options.flat_map(|arg| arg.chars()).any(|letter| matches!(letter, 'l' | 'L'));
    if lists {
        without(args, flags, 'c');
        args.retain(|arg| arg != "--count");
    }
    let has_pattern = args.iter().any(|arg| arg.starts_with("-e") || arg.starts_with("-f"));
    let is_operand = |arg: &str| arg == "-" || !arg.starts_with('-');
    let skipped = usize::from(!has_pattern);
    let operands = args.iter().filter(|arg| is_operand(arg)).skip(skipped);
    if operands.filter(|arg| *arg == "-").count() > 1 {
        let (mut operand, mut inputs) = (0, 0);
        args.retain(|arg| {
            operand += usize::from(is_operand(arg));
            inputs += usize::from(arg == "-" && operand > skipped);
            arg != "-" || inputs < 2
        });
        args.insert(0, "-H".to_owned());
    }
}

/// Tells the devices the number of bytes that `head -c` reads of an endless one.
fn expect_of_head(args: &[String]) {
    let mut count = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        count = match arg.strip_prefix("-c").or_else(|| arg.strip_prefix("--bytes=")) {
            Some("") => args.next().and_then(|count| bytes(count)),
            Some(joined) => bytes(joined),
            None => count,
        };
    }
    devices::expect(count);
}

/// Tells the devices the number of bytes that `dd` reads of an endless one.
fn expect_of_dd(args: &[String]) {
    let value =
        |name: &str| args.iter().rev().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='));
    let size = value("ibs").or(value("bs")).map_or(Some(512), bytes);
    let skipped = value("skip").and_then(bytes).unwrap_or(0);
    // Skipped blocks are read, too.
    let count = value("count").and_then(bytes).and_then(|count| count.checked_add(skipped));
    devices::expect(size.zip(count).and_then(|(size, count)| size.checked_mul(count)));
}

/// Reads a number of bytes, such as `4`, `1k` or `1MB`.
pub(super) fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits)? {
        "" | "c" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "KB" => 1000,
        "k" | "K" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

//! `seq` and `yes`, which print in pieces for as long as somebody reads.

use super::{options::OptionSpec, shared::fail};
use bashkit::{Command, CommandContext, CommandStatus, Result as ShellResult, async_trait};

/// The number of bytes that are printed at once.
const PIECE: usize = 4096;

/// The number of digits behind the point that are kept.
const MOST_DIGITS: usize = 15;

pub(super) struct YesCommand;

#[async_trait]
impl Command for YesCommand {
    async fn execute(&self, context: CommandContext<'_>) -> ShellResult<CommandStatus> {
        let args = match context.args.split_first() {
            Some((first, rest)) if first == "--" => rest,
            _ => context.args,
        };
        let line = if args.is_empty() { "y\n".to_owned() } else { args.join(" ") + "\n" };
        let piece = line.repeat(PIECE.div_ceil(line.len()));
        loop {
            // The loop ends here: writing fails when nobody reads any more.
            context.stdout.write_all(piece.as_bytes()).await?;
        }
    }
}

pub(super) struct SeqCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "seq",
    short: "f:s:t:w",
    long: &[("format:", 'f'), ("separator:", 's'), ("equal-width", 'w')],
};

/// Numbers from one to another, as multiples of a power of ten: with floating numbers, steps such
/// as 0.1 would add up to wrong ones.
struct NumberSequence {
    first: i128,
    step: i128,
    last: i128,
    /// The number of digits behind the point.
    digits: usize,
    /// The minimum width of each number, filled up with zeros.
    width: usize,
    format: Option<NumberFormat>,
}

/// A format of `-f`.
struct NumberFormat {
    before: String,
    spec: String,
    after: String,
}

#[async_trait]
impl Command for SeqCommand {
    async fn execute(&self, context: CommandContext<'_>) -> ShellResult<CommandStatus> {
        // A negative number is not an option.
        let is_number = |arg: &&String| {
            arg.strip_prefix('-').is_some_and(|rest| {
                rest.starts_with(|digit: char| digit.is_ascii_digit() || digit == '.')
            })
        };
        let at = context.args.iter().position(|arg| is_number(&arg)).unwrap_or(context.args.len());
        let (options, numbers) = context.args.split_at_checked(at).unwrap_or_default();
        let read = KNOWN.read(options).and_then(|given| {
            let mut operands = given.operands.clone();
            operands.extend(numbers.iter().cloned());
            Ok((NumberSequence::of(&operands, given.has('w'), given.value('f'))?, given))
        });
        let (numbers, given) = match read {
            Ok(read) => read,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let separator = given.value('s').unwrap_or("\n");
        if let Some(counter) = numbers.counter() {
            return counted(&context, counter, &numbers, separator).await;
        }
        let mut piece = String::with_capacity(2 * PIECE);
        let mut next = numbers.first;
        let mut is_first = true;
        while numbers.holds(next) {
            if !is_first {
                piece.push_str(separator);
            }
            is_first = false;
            piece.push_str(&numbers.show(next));
            next += numbers.step;
            if piece.len() >= PIECE {
                context.stdout.write_all(piece.as_bytes()).await?;
                piece.clear();
            }
        }
        if !is_first {
            piece.push('\n');
        }
        context.stdout.write_all(piece.as_bytes()).await?;
        Ok(CommandStatus::success())
    }
}

/// Prints numbers that grow by one.
async fn counted(
    context: &CommandContext<'_>,
    mut counter: Vec<u8>,
    numbers: &NumberSequence,
    separator: &str,
) -> ShellResult<CommandStatus> {
    let mut left = numbers.last - numbers.first + 1;
    let mut piece = Vec::with_capacity(2 * PIECE);
    while left > 0 {
        piece.extend(&counter);
        left -= 1;
        piece.extend(if left > 0 { separator.as_bytes() } else { b"\n" });
        if piece.len() >= PIECE {
            context.stdout.write_all(&piece).await?;
            piece.clear();
        }
        // The digits are counted up in place: a trailing run of nines becomes zeros, and the digit
        // before it grows by one.
        let nines = counter.iter().rev().take_while(|digit| **digit == b'9').count();
        let mut digits = counter.iter_mut().rev();
        digits.by_ref().take(nines).for_each(|digit| *digit = b'0');
        match digits.next() {
            Some(digit) => *digit += 1,
            None => counter.insert(0, b'1'),
        }
    }
    context.stdout.write_all(&piece).await?;
    Ok(CommandStatus::success())
}

impl NumberSequence {
    /// Returns the first number, if the others follow by counting its digits up.
    fn counter(&self) -> Option<Vec<u8>> {
        let is_plain = self.step == 1 && self.digits == 0 && self.format.is_none();
        let has_any = self.first >= 0 && self.first <= self.last;
        (is_plain && has_any).then(|| self.show(self.first).into_bytes())
    }

    fn of(operands: &[String], is_equal: bool, format: Option<&str>) -> Result<Self, String> {
        let (first, step, last) = match operands {
            [last] => ("1", "1", last.as_str()),
            [first, last] => (first.as_str(), "1", last.as_str()),
            [first, step, last] => (first.as_str(), step.as_str(), last.as_str()),
            [] => return Err(KNOWN.wrong("missing operand")),
            [_, _, _, extra, ..] => return Err(KNOWN.wrong(&format!("extra operand '{extra}'"))),
        };
        let digits = [first, step].map(digits_behind).into_iter().max().unwrap_or(0);
        let scale = digits.max(digits_behind(last));
        let read = |text: &str| {
            scaled(text, scale)
                .ok_or_else(|| KNOWN.wrong(&format!("invalid floating point argument: '{text}'")))
        };
        let (first, step, last) = (read(first)?, read(step)?, read(last)?);
        if step == 0 {
            return Err(KNOWN.wrong("invalid Zero increment value: '0'"));
        }
        // Digits behind the point that only the last number has are not shown.
        let unit = 10_i128.pow(u32::try_from(scale - digits).unwrap_or(0));
        let mut numbers = Self {
            first: first / unit,
            step: step / unit,
            last: last.div_euclid(unit) + i128::from(step < 0 && last.rem_euclid(unit) != 0),
            digits,
            width: 0,
            format: format.map(NumberFormat::of).transpose()?,
        };
        if is_equal && numbers.format.is_none() {
            let ends = [numbers.first, numbers.last].map(|number| numbers.show(number).len());
            numbers.width = ends.into_iter().max().unwrap_or(0);
        }
        Ok(numbers)
    }

    fn holds(&self, number: i128) -> bool {
        if self.step > 0 { number <= self.last } else { number >= self.last }
    }

    fn show(&self, number: i128) -> String {
        let unit = 10_i128.pow(u32::try_from(self.digits).unwrap_or(0)).unsigned_abs();
        let (whole, rest) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
        let sign = if number < 0 { "-" } else { "" };
        let end = match self.digits {
            0 => String::new(),
            digits => format!(".{rest:0digits$}"),
        };
        if let Some(format) = &self.format {
            return format.show(&format!("{sign}{whole}{end}"));
        }
        let width = self.width.saturating_sub(sign.len() + end.len());
        format!("{sign}{whole:0width$}{end}")
    }
}

impl NumberFormat {
    fn of(format: &str) -> Result<Self, String> {
        let wrong = || KNOWN.wrong(&format!("format '{format}' has no % directive"));
        let plain = format.replace("%%", "\u{1}");
        let (before, rest) = plain.split_once('%').ok_or_else(wrong)?;
        let end = rest.find(['f', 'g', 'e', 'F', 'G', 'E']).ok_or_else(wrong)?;
        let (spec, after) = rest.split_at_checked(end + 1).ok_or_else(wrong)?;
        let back = |text: &str| text.replace('\u{1}', "%");
        Ok(Self { before: back(before), spec: spec.to_owned(), after: back(after) })
    }

    fn show(&self, number: &str) -> String {
        let letter = self.spec.chars().last().unwrap_or('g');
        let spec = self.spec.trim_end_matches(letter);
        let flags: String = spec.chars().take_while(|flag| "-+ 0#'".contains(*flag)).collect();
        let rest = spec.get(flags.len()..).unwrap_or_default();
        let (width, digits) = rest.split_once('.').unwrap_or((rest, ""));
        let width: usize = width.parse().unwrap_or(0);
        let value: f64 = number.parse().unwrap_or(0.0);
        let mut shown = match (letter, digits.parse::<usize>()) {
            ('f' | 'F', digits) => format!("{value:.*}", digits.unwrap_or(6)),
            ('e' | 'E', digits) => format!("{value:.*e}", digits.unwrap_or(6)),
            (_, Ok(digits)) => format!("{value:.digits$}"),
            _ => value.to_string(),
        };
        if flags.contains('+') && value >= 0.0 {
            shown.insert(0, '+');
        }
        let shown = match (flags.contains('-'), flags.contains('0')) {
            (true, _) => format!("{shown:<width$}"),
            (false, true) => match shown.strip_prefix('-') {
                Some(rest) => format!("-{rest:0>0$}", width.saturating_sub(1)),
                None => format!("{shown:0>width$}"),
            },
            _ => format!("{shown:>width$}"),
        };
        format!("{}{shown}{}", self.before, self.after)
    }
}

fn digits_behind(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, digits)| digits.len().min(MOST_DIGITS))
}

/// Reads a decimal number, as a multiple of the power of ten with that many digits.
fn scaled(text: &str, digits: usize) -> Option<i128> {
    let (is_below, plain) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if plain.contains(['e', 'E', 'x', 'X']) {
        let value: f64 = plain.parse().ok()?;
        let plain = format!("{value:.digits$}");
        return scaled(&plain, digits).map(|number| if is_below { -number } else { number });
    }
    let (whole, rest) = plain.split_once('.').unwrap_or((plain, ""));
    // With at most 18 and 15 digits, every number and step fits into an `i128`.
    let is_wrong = whole.len() + rest.len() == 0 || whole.len() > 18;
    if is_wrong || !whole.bytes().chain(rest.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let rest: String = rest.chars().chain("0".repeat(digits).chars()).take(digits).collect();
    let number: i128 = format!("{whole}{rest}").parse().ok().or((whole.is_empty()).then_some(0))?;
    Some(if is_below { -number } else { number })
}

//! `expr`: expressions of words, with the precedence that POSIX gives the operators.

use super::{nesting::TOO_DEEP, shared::fail};
use bashkit::{Command, CommandContext, CommandStatus, Result as ShellResult, async_trait};
use regex_lite::Regex;

pub(super) struct ExprCommand;

/// The operators, those that bind weakest first.
const LEVELS: [&[&str]; 6] = [
    &["|"],
    &["&"],
    &["<", "<=", "=", "==", "!=", ">=", ">"],
    &["+", "-"],
    &["*", "/", "%"],
    &[":"],
];

/// The deepest nesting of parentheses and functions.
const DEEPEST: usize = 200;

/// The status of an invalid expression.
const INVALID: i32 = 2;

#[async_trait]
impl Command for ExprCommand {
    async fn execute(&self, context: CommandContext<'_>) -> ShellResult<CommandStatus> {
        let args = match context.args.split_first() {
            Some((first, rest)) if first == "--" => rest,
            _ => context.args,
        };
        if args.is_empty() {
            let words = "expr: missing operand\nTry 'expr --help' for more information.\n";
            return fail(&context, words, INVALID).await;
        }
        let mut words = ExprParser { words: args, at: 0, depth: 0 };
        let value = words.level(&LEVELS).and_then(|value| match words.peek() {
            None => Ok(value),
            Some(extra) => Err(format!("syntax error: unexpected argument '{extra}'")),
        });
        match value {
            Ok(value) => {
                context.stdout.write_all(format!("{value}\n").as_bytes()).await?;
                Ok(CommandStatus::with_code(i32::from(is_nothing(&value))))
            }
            Err(words) => fail(&context, &format!("expr: {words}\n"), INVALID).await,
        }
    }
}

/// The words, the number of those that are read, and the depth at which the next one stands.
struct ExprParser<'a> {
    words: &'a [String],
    at: usize,
    depth: usize,
}

impl<'a> ExprParser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let word = self.peek().ok_or_else(|| match self.at.checked_sub(1) {
            Some(before) => {
                let before = self.words.get(before).map_or("", String::as_str);
                format!("syntax error: missing argument after '{before}'")
            }
            None => "syntax error".to_owned(),
        })?;
        self.at += 1;
        Ok(word)
    }

    fn level(&mut self, levels: &[&[&str]]) -> Result<String, String> {
        let Some((operators, tighter)) = levels.split_first() else { return self.primary() };
        let mut value = self.level(tighter)?;
        while let Some(operator) = self.peek().filter(|word| operators.contains(word)) {
            self.at += 1;
            let right = self.level(tighter)?;
            value = apply(operator, value, &right)?;
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<String, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("syntax error: {TOO_DEEP}"));
        }
        let value = self.inner();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Result<String, String> {
        let word = self.next()?;
        match word {
            "(" => {
                let value = self.level(&LEVELS)?;
                match self.peek() {
                    Some(")") => self.at += 1,
                    Some(other) => {
                        return Err(format!("syntax error: expecting ')' instead of '{other}'"));
                    }
                    None => {
                        let last = self.words.last().map_or("", String::as_str);
                        return Err(format!("syntax error: expecting ')' after '{last}'"));
                    }
                }
                Ok(value)
            }
            ")" => Err("syntax error: unexpected ')'".to_owned()),
            // In GNU's `expr` a `+` makes the next word a plain string, even if it is a keyword.
            "+" => Ok(self.next()?.to_owned()),
            "length" => Ok(self.primary()?.chars().count().to_string()),
            "match" => {
                let text = self.primary()?;
                matched(&text, &self.primary()?)
            }
            "index" => {
                let text = self.primary()?;
                let set = self.primary()?;
                let at = text.chars().position(|letter| set.contains(letter));
                Ok(at.map_or(0, |at| at + 1).to_string())
            }
            "substr" => {
                let text = self.primary()?;
                let (from, len) = (self.primary()?, self.primary()?);
                Ok(match (from.parse::<usize>(), len.parse::<usize>()) {
                    (Ok(from @ 1..), Ok(len)) => text.chars().skip(from - 1).take(len).collect(),
                    _ => String::new(),
                })
            }
            _ => Ok(word.to_owned()),
        }
    }
}

fn apply(operator: &str, left: String, right: &str) -> Result<String, String> {
    let truth = |truth: bool| Ok(i32::from(truth).to_string());
    match operator {
        "|" if !is_nothing(&left) => return Ok(left),
        "|" => return Ok(if is_nothing(right) { "0".into() } else { right.to_owned() }),
        "&" if is_nothing(&left) || is_nothing(right) => return Ok("0".into()),
        "&" => return Ok(left),
        ":" => return matched(&left, right),
        _ => {}
    }
    let numbers = number(&left).zip(number(right));
    let order = numbers.map_or_else(|| left.as_str().cmp(right), |(a, b)| a.cmp(&b));
    match operator {
        "<" => return truth(order.is_lt()),
        "<=" => return truth(order.is_le()),
        "=" | "==" => return truth(order.is_eq()),
        "!=" => return truth(order.is_ne()),
        ">=" => return truth(order.is_ge()),
        ">" => return truth(order.is_gt()),
        _ => {}
    }
    let (a, b) = numbers.ok_or("non-integer argument")?;
    if b == 0 && matches!(operator, "/" | "%") {
        return Err("division by zero".to_owned());
    }
    let value = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    Ok(value.ok_or("the number is too large")?.to_string())
}

fn number(text: &str) -> Option<i128> {
    // A number with a plus is a word for `expr`, but not for `parse`.
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// Returns whether a value counts as false.
fn is_nothing(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    value.is_empty() || (!digits.is_empty() && digits.bytes().all(|byte| byte == b'0'))
}

/// Returns the group of a basic regular expression in a text, or the number of characters that it
/// matches at the text's start.
fn matched(text: &str, pattern: &str) -> Result<String, String> {
    let has_group = pattern.contains("\\(");
    let regex = Regex::new(&format!("^(?s:{})", extended(pattern)))
        .map_err(|_| format!("invalid regular expression '{pattern}'"))?;
    let found = regex.captures(text);
    Ok(match found {
        Some(found) if has_group => found.get(1).map_or("", |group| group.as_str()).to_owned(),
        Some(found) => found.get(0).map_or(0, |all| all.as_str().chars().count()).to_string(),
        None if has_group => String::new(),
        None => "0".to_owned(),
    })
}

/// Translates a basic regular expression to the syntax of extended ones.
fn extended(pattern: &str) -> String {
    let mut extended = String::new();
    let mut letters = pattern.strip_prefix('^').unwrap_or(pattern).chars().peekable();
    let mut starts = true;
    while let Some(letter) = letters.next() {
        let is_start = std::mem::replace(&mut starts, false);
        match letter {
            '\\' => match letters.next() {
                Some(special @ ('(' | ')' | '{' | '}' | '+' | '?' | '|')) => {
                    starts = matches!(special, '(' | '|');
                    extended.push(special);
                }
                Some('`') => extended.push('^'),
                Some('\'') => extended.push('$'),
                Some(other) => extended.extend(['\\', other]),
                None => extended.push_str("\\\\"),
            },
            // At the beginning of an expression or group a star stands for itself.
            '*' if is_start => extended.push_str("\\*"),
            '(' | ')' | '{' | '}' | '+' | '?' | '|' => extended.extend(['\\', letter]),
            '[' => {
                extended.push('[');
                bracket(&mut letters, &mut extended);
            }
            other => extended.push(other),
        }
    }
    extended
}

/// Translates the rest of a bracket expression.
fn bracket(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, extended: &mut String) {
    if letters.peek() == Some(&'^') {
        letters.next();
        extended.push('^');
    }
    let mut is_first = true;
    while let Some(letter) = letters.next() {
        match letter {
            ']' if !is_first => {
                extended.push(']');
                return;
            }
            '[' if letters.peek() == Some(&':') => {
                extended.push('[');
                for letter in letters.by_ref() {
                    extended.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            // In POSIX these stand for themselves between brackets; the library would read
            // operators.
            ']' | '[' | '\\' | '&' | '~' => extended.extend(['\\', letter]),
            other => extended.push(other),
        }
        is_first = false;
    }
}

//! The bounds of what is nested in the arguments of bashkit's commands, where they have none of
//! their own: their functions call themselves once for each level, and a full stack would end the
//! whole command line. What is nested deeper fails in the command's own words.

use bashkit::hooks::ToolEvent;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The words of the errors.
pub(crate) const TOO_DEEP: &str = "nested too deeply";

/// The most words of an expression of `test` or `find` that nest or join others.
const MOST_WORDS: usize = 500;

/// The most commands in one that each run the next one, as in `env nice timeout 5 make`.
const MOST_RUNNERS: usize = 50;

/// The deepest brackets, and the most operators, in a program of `jq`.
const DEEPEST_PROGRAM: usize = 100;
const MOST_OPERATORS: usize = 1000;

/// The most bytes of the stack that are in use when `eval` begins, or when a file is read, as a
/// script that runs itself is: nothing else bounds these.
const MOST_STACK: usize = 512 << 10;
const MOST_STACK_OF_SCRIPTS: usize = 1 << 20;

/// Commands that run the command in their arguments.
const RUNNERS: [&str; 12] = [
    "builtin", "command", "env", "eval", "exec", "nice", "nohup", "retry", "time", "timeout",
    "watch", "xargs",
];

/// The address at which the stack began, which grows downwards.
static STACK: AtomicUsize = AtomicUsize::new(0);

/// Notes that the stack begins here.
#[inline(never)]
pub(crate) fn begin_stack() {
    STACK.store(address(), Ordering::Relaxed);
}

/// Returns about the address of the top of the stack.
#[inline(never)]
fn address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Returns the number of bytes of the stack that are in use.
fn used() -> usize {
    STACK.load(Ordering::Relaxed).saturating_sub(address())
}

/// Returns whether so much of the stack is in use that no other script may begin.
pub(crate) fn is_deep() -> bool {
    used() > MOST_STACK_OF_SCRIPTS
}

/// Replaces arguments that are nested too deeply by ones that fail.
pub(super) fn bounded(mut event: ToolEvent) -> ToolEvent {
    let ToolEvent { name, args } = &event;
    let is_too_deep = match name.as_str() {
        "test" | "[" => count(args, &["(", "-a", "-o"]) > MOST_WORDS,
        "find" => count(args, &["(", "!", "-not", "-a", "-and", "-o", "-or", ","]) > MOST_WORDS,
        "jq" => program_of(args).is_some_and(is_deep_program),
        "eval" => {
            used() > MOST_STACK
                || count(args, &RUNNERS) > MOST_RUNNERS
                || is_deep_script(&args.join(" "))
        }
        name if RUNNERS.contains(&name) => count(args, &RUNNERS) > MOST_RUNNERS,
        _ => false,
    };
    if is_too_deep {
        let words: &[&str] = match name.as_str() {
            "[" => &[TOO_DEEP, TOO_DEEP, "]"],
            "test" => &[TOO_DEEP, TOO_DEEP],
            "jq" => &["-n", "\"nested too deeply\" | error"],
            "eval" => &["echo 'bash: eval: nested too deeply' >&2; false"],
            "command" => &["-V", TOO_DEEP],
            "timeout" => &["1", TOO_DEEP],
            _ => &[TOO_DEEP],
        };
        event.args = words.iter().map(|word| (*word).to_owned()).collect();
    }
    event
}

fn count(args: &[String], words: &[&str]) -> usize {
    args.iter().filter(|arg| words.contains(&arg.as_str())).count()
}

/// Returns the program among the arguments of `jq`.
fn program_of(args: &[String]) -> Option<&str> {
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let values = match arg {
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => 2,
            "--indent" | "-L" => 1,
            "-f" | "--from-file" => return None,
            _ if arg.len() > 1 && arg.starts_with('-') => 0,
            _ => return Some(arg),
        };
        args.by_ref().take(values).for_each(drop);
    }
    None
}

/// Returns whether a program of `jq` is nested too deeply, or joins too many filters.
fn is_deep_program(program: &str) -> bool {
    let (mut depth, mut operators, mut is_text) = (0_usize, 0, false);
    // The depths of the parentheses that stand in texts.
    let mut inside = Vec::new();
    let mut letters = program.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_text => {
                let is_code = letters.next() == Some('(');
                if is_code {
                    depth += 1;
                    inside.push(depth);
                    is_text = false;
                }
            }
            '"' => is_text = !is_text,
            _ if is_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                is_text = letter == ')' && inside.pop_if(|at| *at == depth).is_some();
                depth = depth.saturating_sub(1);
            }
            '|' | '+' | '-' | '*' | '/' | '%' => operators += 1,
            _ => {}
        }
        if depth > DEEPEST_PROGRAM {
            return true;
        }
    }
    let words = program.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words = words.filter(|word| matches!(*word, "if" | "try" | "def" | "and" | "or"));
    operators + words.count() > MOST_OPERATORS
}

/// Returns whether a script nests what the parser does not bound: `time` before `time`, and the
/// operators of one `[[ … ]]`.
pub(crate) fn is_deep_script(script: &str) -> bool {
    let (mut times, mut joined, mut is_inside) = (0, 0, false);
    for word in script.split_whitespace() {
        times = match word {
            "time" => times + 1,
            "-p" | "--" | "!" => times,
            _ => 0,
        };
        match word {
            "[[" => (joined, is_inside) = (0, true),
            _ if word.contains("]]") => is_inside = false,
            "||" | "&&" if is_inside => joined += 1,
            _ => {}
        }
        if times > MOST_RUNNERS || joined > MOST_WORDS {
            return true;
        }
    }
    false
}

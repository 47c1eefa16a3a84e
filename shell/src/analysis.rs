//! Whether a command line only reads: whether each command in it is known to change nothing, and
//! nothing is written by a redirection. In doubt it does not: a yes spares a person a question.

use bashkit::{AnalyzedCommand, AnalyzedRedirect, Bash, ScriptAnalysis};

/// Commands that change nothing, whatever their arguments are.
const HARMLESS: &[&str] = &[
    ":",
    "[",
    "[[",
    "b2sum",
    "base32",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "dirs",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "grep",
    "head",
    "hexdump",
    "id",
    "join",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "printenv",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "unexpand",
    "wc",
    "which",
    "whoami",
];

/// Actions of `find` that change something or start something.
const FIND_ACTIONS: &[&str] =
    &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// Returns whether a command line only reads, as the shell stands.
pub(crate) fn reads_only(bash: &Bash, script: &str) -> bool {
    let Ok(analysis) = bash.analyze(script) else { return false };
    let state = bash.shell_state();
    let is_redefined =
        |name: &str| state.functions.contains_key(name) || state.aliases.contains_key(name);
    let ScriptAnalysis { commands, redirects, functions, .. } = &analysis;
    !analysis.is_opaque()
        && functions.is_empty()
        && state.traps.is_empty()
        && redirects.iter().all(is_harmless)
        && commands.iter().all(|command| match command.name.as_deref() {
            Some(name) => !is_redefined(name) && changes_nothing(name, command),
            None => command.is_assignment_only(),
        })
}

fn is_harmless(redirect: &AnalyzedRedirect) -> bool {
    !redirect.mode.is_write() || redirect.path.as_deref() == Some("/dev/null")
}

fn changes_nothing(name: &str, command: &AnalyzedCommand) -> bool {
    if HARMLESS.contains(&name) {
        return true;
    }
    // What an argument is that is not known now may be anything.
    let Some(args) = command.literal_args() else { return false };
    let begins = |start: &str| args.iter().any(|arg| arg.starts_with(start));
    match name {
        "find" => !args.iter().any(|arg| FIND_ACTIONS.contains(arg)),
        "sort" => !args.iter().any(|arg| is_short(arg, 'o')) && !begins("--o"),
        "uniq" => args.iter().filter(|arg| !arg.starts_with('-')).count() < 2,
        "sed" => args.first() == Some(&"-n") && args.get(1).is_some_and(|script| prints(script)),
        "awk" => args.iter().all(|arg| !arg.starts_with('-')) && args.first().is_some_and(tells),
        "command" => args.first() == Some(&"-v"),
        "env" => args.is_empty(),
        _ => false,
    }
}

/// Returns whether an argument holds a flag of one letter.
fn is_short(arg: &str, letter: char) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter)
}

/// Returns whether a script of `sed` does nothing but print lines by their numbers.
fn prints(script: &str) -> bool {
    script.chars().all(|char| char.is_ascii_digit() || "$,;p ".contains(char))
}

/// Returns whether a program of `awk` does nothing but print: it writes to no file and starts
/// nothing.
fn tells(program: &&str) -> bool {
    !program.contains(['>', '|', '@'])
        && !["system", "getline", "close"].iter().any(|word| program.contains(word))
}

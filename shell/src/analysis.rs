//! The analysis of a command line: it only reads if each command in it is known to change nothing,
//! and no redirection writes. In doubt the answer is no, since a yes spares a person a question.

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

/// Returns whether a command line only reads, given the state of the shell.
pub(crate) fn reads_only(bash: &Bash, script: &str) -> bool {
    let Ok(analysis) = bash.analyze(script) else { return false };
    let state = bash.shell_state();
    // An earlier command line may have defined a function or an alias with the name of a harmless
    // command.
    let is_redefined =
        |name: &str| state.functions.contains_key(name) || state.aliases.contains_key(name);
    let ScriptAnalysis { commands, redirects, functions, .. } = &analysis;
    !analysis.is_opaque()
        // A function of the line itself may take any name, too, and a trap runs at its end.
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
    // An argument that is only known when the line runs may be anything.
    let Some(args) = command.literal_args() else { return false };
    let begins = |start: &str| args.iter().any(|arg| arg.starts_with(start));
    match name {
        "find" => !args.iter().any(|arg| FIND_ACTIONS.contains(arg)),
        // `sort -o` writes a file; long options may be shortened, down to `--o`.
        "sort" => !args.iter().any(|arg| is_short(arg, 'o')) && !begins("--o"),
        // The second operand of `uniq` is its output.
        "uniq" => args.iter().filter(|arg| !arg.starts_with('-')).count() < 2,
        "sed" => args.first() == Some(&"-n") && args.get(1).is_some_and(|script| prints(script)),
        "awk" => args.iter().all(|arg| !arg.starts_with('-')) && args.first().is_some_and(tells),
        "command" => args.first() == Some(&"-v"),
        // With arguments `env` starts a program, and so does `command` without `-v`.
        "env" => args.is_empty(),
        _ => false,
    }
}

/// Returns whether an argument contains a flag of one letter.
fn is_short(arg: &str, letter: char) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter)
}

/// Returns whether a script of `sed` only prints lines by their numbers.
fn prints(script: &str) -> bool {
    script.chars().all(|char| char.is_ascii_digit() || "$,;p ".contains(char))
}

/// Returns whether a program of `awk` only prints: it writes to no file and starts nothing.
fn tells(program: &&str) -> bool {
    !program.contains(['>', '|', '@'])
        && !["system", "getline", "close"].iter().any(|word| program.contains(word))
}

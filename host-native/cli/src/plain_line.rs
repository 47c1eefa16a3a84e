//! The parser of command lines that can be understood without a shell: simple commands of literal
//! words, with only `&&`, `||`, `;` and `|` between them. It refuses every line that a shell might
//! read in another way (expansions, redirections, assignments, background jobs, reserved words),
//! since rules allow calls by what is read here. A line that is refused is only asked about.

/// The words that begin something other than a simple command.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// The characters that have no special meaning outside of quotes in any shell.
const PLAIN: &str = "_-./:,@%+=";

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand<'a> {
    /// The words without quotes; the first is the program.
    pub(super) words: Vec<String>,
    /// The command as it is written in the line.
    pub(super) text: &'a str,
}

/// Parses the simple commands of a line, at least one; returns none if it holds anything else.
pub(super) fn simple_commands(line: &str) -> Option<Vec<SimpleCommand<'_>>> {
    let mut commands = Vec::new();
    let mut rest = line;
    loop {
        let (command, after) = simple(rest)?;
        commands.push(command);
        rest = match after.strip_prefix("&&").or_else(|| after.strip_prefix("||")) {
            Some(next) => next,
            None if after.is_empty() => return Some(commands),
            // A single `&` is refused here, and `|&` and `;;` by the next command, which is empty.
            None => after.strip_prefix([';', '|'])?,
        };
    }
}

/// Parses the first simple command of a text; also returns the rest.
fn simple(text: &str) -> Option<(SimpleCommand<'_>, &str)> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    while !rest.is_empty() && !rest.starts_with(['&', '|', ';']) {
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after.trim_start_matches([' ', '\t']);
    }
    // An assignment such as `PATH=.` before a command would change what its name stands for.
    let program = words.first()?;
    if program.is_empty() || program.contains('=') || RESERVED.contains(&program.as_str()) {
        return None;
    }
    let text = text.get(..text.len().checked_sub(rest.len())?)?.trim_matches([' ', '\t']);
    Some((SimpleCommand { words, text }, rest))
}

/// Parses the first word of a text, without its quotes; also returns the rest.
fn word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..)?;
        rest = match next {
            ' ' | '\t' | '&' | '|' | ';' => break,
            '\'' | '"' => {
                let (quoted, after) = after.split_once(next)?;
                // Within double quotes a shell still expands these; `!` is Bash's history.
                let is_read = |sign: char| {
                    sign.is_control() || next == '"' && matches!(sign, '$' | '`' | '\\' | '!')
                };
                if quoted.contains(is_read) {
                    return None;
                }
                word.push_str(quoted);
                after
            }
            next if next.is_ascii_alphanumeric() || PLAIN.contains(next) => {
                word.push(next);
                after
            }
            // Every other character is refused, known or not: this list must not be the other way
            // round.
            _ => return None,
        };
    }
    Some((word, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<String>>> {
        Some(simple_commands(line)?.into_iter().map(|command| command.words).collect())
    }

    #[test]
    fn literal_words_are_read() {
        for (line, want) in [
            ("git status", vec![vec!["git", "status"]]),
            (" \tgit  status -s ", vec![vec!["git", "status", "-s"]]),
            ("echo 'a $b; c' \"d | e\" f'g'\"h\"", vec![vec!["echo", "a $b; c", "d | e", "fgh"]]),
            ("echo '' \"\"", vec![vec!["echo", "", ""]]),
            ("a b&&c||d;e|f", vec![vec!["a", "b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"]]),
            (
                "git log --format=%h@x,y a/b.c:1+2",
                vec![vec!["git", "log", "--format=%h@x,y", "a/b.c:1+2"]],
            ),
            ("echo 'ünï'", vec![vec!["echo", "ünï"]]),
        ] {
            let found = words(line).unwrap_or_default();
            assert_eq!(found, want, "{line}");
        }
        let commands = simple_commands("cargo test  | tail '-5' ;ls").unwrap();
        let texts: Vec<&str> = commands.iter().map(|command| command.text).collect();
        assert_eq!(texts, ["cargo test", "tail '-5'", "ls"]);
    }

    /// The lines that need a shell.
    const OTHERS: &[&str] = &[
        "",
        " ",
        ";",
        "ls;",
        "ls &&",
        "&& ls",
        "ls ;; ls",
        "ls |& cat",
        "ls & rm x",
        "ls &",
        "ls||",
        "ls | | cat",
        "a\nb",
        "a\rb",
        "a\u{b}b",
        "a\u{a0}b",
        "a\0",
        "'a\nb'",
        "git status > x",
        "git status >x",
        "git status 2>&1",
        "cat < x",
        "cat <<EOF",
        "<(a)",
        "git $(evil)",
        "git `evil`",
        "git \"$(evil)\"",
        "git \"`evil`\"",
        "echo $x",
        "echo $'a'",
        "echo $\"a\"",
        "echo \"a\\\"b\"",
        "echo a\\ b",
        "echo \"a!b\"",
        "! ls",
        "ls *",
        "ls ?",
        "ls [a]",
        "ls {a,b}",
        "{ ls; }",
        "(ls)",
        "ls ~",
        "ls ~evil",
        "ls #x",
        "ls a#b",
        "a^b",
        "X=1 git status",
        "X=1",
        "x+=1 ls",
        "'X=1' ls",
        "if ls",
        "time ls",
        "ls; then ls",
        "function f",
        "echo 'open",
        "echo \"open",
        "[[ a",
        "[ a ]",
        "ünï",
        "'' a",
        "%\u{7f}",
        "f() ls",
        "coproc ls",
        "ls | while read",
        "do ls",
        "a=(1)",
        "a[0]=1",
    ];

    #[test]
    fn all_else_is_not() {
        for line in OTHERS {
            assert_eq!(words(line), None, "{line:?}");
        }
        let long = "a ".repeat(1 << 18);
        assert_eq!(words(&long).map(|all| all[0].len()), Some(1 << 18));
    }
}

//! Command lines that can be read without a shell: simple commands of literal words, with nothing
//! but `&&`, `||`, `;` and `|` between them. Whatever a shell would expand, redirect, assign, run
//! in the background or take for a word of its own makes a line one that is not read here.

/// Words with which a shell begins something else than a simple command.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// Signs that stand for themselves outside of quotes, in every shell.
const PLAIN: &str = "_-./:,@%+=";

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand<'a> {
    /// Without quotes; the first is the program.
    pub(super) words: Vec<String>,
    /// As it stands in the line.
    pub(super) text: &'a str,
}

/// The simple commands of a line in their order, one at least; nothing if it holds anything else.
pub(super) fn simple_commands(line: &str) -> Option<Vec<SimpleCommand<'_>>> {
    let mut commands = Vec::new();
    let mut rest = line;
    loop {
        let (command, after) = simple(rest)?;
        commands.push(command);
        rest = match after.strip_prefix("&&").or_else(|| after.strip_prefix("||")) {
            Some(next) => next,
            None if after.is_empty() => return Some(commands),
            None => after.strip_prefix([';', '|'])?,
        };
    }
}

/// The first simple command of a text, and what comes behind it.
fn simple(text: &str) -> Option<(SimpleCommand<'_>, &str)> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    while !rest.is_empty() && !rest.starts_with(['&', '|', ';']) {
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after.trim_start_matches([' ', '\t']);
    }
    let program = words.first()?;
    if program.is_empty() || program.contains('=') || RESERVED.contains(&program.as_str()) {
        return None;
    }
    let text = text.get(..text.len().checked_sub(rest.len())?)?.trim_matches([' ', '\t']);
    Some((SimpleCommand { words, text }, rest))
}

/// The word with which a text begins, without its quotes, and what comes behind it.
fn word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..)?;
        rest = match next {
            ' ' | '\t' | '&' | '|' | ';' => break,
            '\'' | '"' => {
                let (quoted, after) = after.split_once(next)?;
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

    /// Lines that need a shell.
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

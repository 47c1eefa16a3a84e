//! The meaning of `tmp` in a call: the system's folder for temporary files, or the project's own of
//! that name. Programs in the sandbox cannot tell one from the other, since both are `/tmp` to
//! them, so the call's words decide where what it makes belongs. The workspace's overlay asks for
//! it.

use innerloop_types::action::Action;

/// The meaning of `tmp` in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TmpMeaning {
    /// The call does not say.
    #[default]
    Unsaid,
    /// The project's folder, as in `tmp/plan.md`.
    Project,
    /// The system's folder, as in `/tmp/log`.
    System,
    /// Both folders, each by its name. What is made belongs to the project.
    Both,
}

/// The texts that stand for the project's root before a `/`.
const ROOTS: [&str; 7] = ["$PWD", "${PWD}", "$(pwd)", "`pwd`", "$HOME", "${HOME}", "~"];

/// The command and the variable that use the system's folder without naming it.
const USERS: [&str; 2] = ["mktemp", "TMPDIR"];

const NAME: &str = "tmp";

impl TmpMeaning {
    /// Returns what an action means by `tmp`.
    #[must_use]
    pub fn of(action: &Action) -> Self {
        match action {
            Action::Shell { command, .. } => Self::in_text(command),
            Action::RunProgram { args, stdin, .. } => {
                let args = args.iter().map(String::as_str).chain(stdin.as_deref());
                args.map(Self::in_text).fold(Self::Unsaid, Self::and)
            }
            _ => match action.path() {
                Some(path) if path.starts_with("/tmp/") => Self::System,
                Some(path) if path.trim_start_matches("./").starts_with("tmp/") => Self::Project,
                _ => Self::Unsaid,
            },
        }
    }

    /// Returns the name of the meaning, for hosts in other languages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsaid => "unsaid",
            Self::Project => "project",
            Self::System => "system",
            Self::Both => "both",
        }
    }

    /// Returns whether only the system's folder is meant, whose files may go with the session.
    #[must_use]
    pub const fn is_system(self) -> bool {
        matches!(self, Self::System)
    }

    /// Returns whether the project's own folder is meant, perhaps among others.
    #[must_use]
    pub const fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::Both)
    }

    const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unsaid, other) => other,
            (one, Self::Unsaid) => one,
            (Self::Project, Self::Project) => Self::Project,
            (Self::System, Self::System) => Self::System,
            // A file too many in the project is seen and can be removed; one that goes with the
            // session is lost.
            _ => Self::Both,
        }
    }

    fn in_text(text: &str) -> Self {
        let names = text.match_indices(NAME).filter_map(|(at, _)| {
            let (before, rest) = text.split_at_checked(at)?;
            let after = rest.get(NAME.len()..)?.chars().next();
            let is_longer = after.is_some_and(|next| is_of_a_name(next) || ".-".contains(next));
            if is_longer { None } else { meant(before) }
        });
        let used = USERS.iter().any(|word| text.contains(word)).then_some(Self::System);
        names.chain(used).fold(Self::Unsaid, Self::and)
    }
}

/// Returns what `tmp` means behind these words; `None` if it is a part of another name.
fn meant(before: &str) -> Option<TmpMeaning> {
    let Some(above) = before.strip_suffix('/') else {
        // `my-tmp` and `x.tmp` are other names, and `$tmp` is a variable.
        let is_a_word = !before.ends_with(|last: char| is_of_a_name(last) || ".-$".contains(last));
        return is_a_word.then_some(TmpMeaning::Project);
    };
    if ROOTS.iter().any(|root| above.ends_with(root)) || is_here(above) {
        return Some(TmpMeaning::Project);
    }
    // What stands before the slash of an absolute path is no name: a blank, a quote, `=`, `>` and
    // the like.
    let is_absolute = !above.ends_with(|last: char| is_of_a_name(last) || "./-})*?".contains(last));
    is_absolute.then_some(TmpMeaning::System)
}

/// Returns whether the path that these words end with is `.`.
fn is_here(words: &str) -> bool {
    let before = words.strip_suffix('.');
    before.is_some_and(|it| !it.ends_with(|last: char| is_of_a_name(last) || "./-".contains(last)))
}

/// Returns whether a letter goes on with a name. Beyond ASCII every character does.
const fn is_of_a_name(letter: char) -> bool {
    // The tables of `is_alphanumeric` take 2 KB of the page's module.
    letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_which_folder_is_meant() {
        let all = [
            ("awk '{print}' f > tmp && mv tmp f", TmpMeaning::Project),
            ("mkdir -p tmp/cache", TmpMeaning::Project),
            ("mkdir ./tmp; cd ./tmp", TmpMeaning::Project),
            ("out=tmp; mkdir \"$out\"", TmpMeaning::Project),
            ("cp a \"$PWD/tmp/a\"", TmpMeaning::Project),
            ("cp a ~/tmp/a", TmpMeaning::Project),
            ("echo x > /tmp/a", TmpMeaning::System),
            ("echo x >/tmp/a; ls '/tmp'", TmpMeaning::System),
            ("cat --file=/tmp/a", TmpMeaning::System),
            ("f=$(mktemp)", TmpMeaning::System),
            ("echo x > $TMPDIR/a", TmpMeaning::System),
            ("mkdir tmp && cp /tmp/a tmp", TmpMeaning::Both),
            ("echo x > a.tmp; echo y > tmp.txt; cat src/tmp/x ../tmp/y", TmpMeaning::Unsaid),
            ("ls /var/tmp tmp2 my-tmp tmp-1 $tmp ${x}/tmp", TmpMeaning::Unsaid),
            ("make test", TmpMeaning::Unsaid),
        ];
        for (line, meant) in all {
            let action = Action::Shell { command: line.to_owned(), folder: None };
            assert_eq!(TmpMeaning::of(&action), meant, "{line}");
        }
        let write = |path: &str| TmpMeaning::of(&Action::write(path.to_owned(), String::new()));
        assert_eq!(write("tmp/plan.md"), TmpMeaning::Project);
        assert_eq!(write("./tmp/plan.md"), TmpMeaning::Project);
        assert_eq!(write("src/tmp/plan.md"), TmpMeaning::Unsaid);
        assert_eq!(write("/tmp/plan.md"), TmpMeaning::System);
        let args = ["tmp/a".to_owned(), "/tmp/b".to_owned()].into();
        let run = Action::RunProgram { program: "qjs".to_owned(), args, stdin: None };
        assert_eq!(TmpMeaning::of(&run), TmpMeaning::Both);
    }
}

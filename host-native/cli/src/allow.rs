//! The rules for calls that run without a question: `--allow`, and what a person allows for the
//! rest of a session. A rule is matched against what a call means, not against its text, which a
//! model writes. What a rule does not clearly cover stays open and is asked about.

use super::{
    patch_reader::PatchReader,
    plain_line::{SimpleCommand, simple_commands},
};
use fast_glob::{glob_match, validate};
use innerloop_core::{
    Profile, action::Action, config::SessionConfig, json::VariantNames as _, path::resolved,
};
use innerloop_tools::parts::with_bracketed_names;
use innerloop_workspace::Workspace;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// The actions whose rules take no pattern: they name neither a command nor only files.
const WHOLE: [&str; 5] = ["fetch", "glob", "grep", "list", "read_many"];

/// The most calls that are remembered.
const MOST: usize = 10_000;

/// A rule: every call of a tool, or those that a pattern names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallRule {
    /// The tool's name, or the action's.
    tool: String,
    pattern: Option<CallPattern>,
}

/// The pattern of a tool's calls: for command lines their words, for others the files' paths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CallPattern {
    words: Option<CommandPrefix>,
    paths: Option<String>,
}

/// The words that a command begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CommandPrefix {
    words: Vec<String>,
    end: PrefixTail,
}

/// The words that may follow the prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PrefixTail {
    /// Nothing.
    Here,
    /// Any words, or none.
    Any,
    /// A word that begins so, and any others.
    Word(String),
}

/// The verdict of the rules on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RuleVerdict {
    /// It runs.
    Allowed,
    /// It runs if that holds of its command line.
    AllowedIf(CommandConditions),
    /// The rules do not cover it.
    Open,
}

/// The conditions that must hold where a command line runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandConditions {
    /// Programs that must be the ones that their names stand for.
    pub(super) programs: Vec<String>,
    /// Commands that must only read.
    pub(super) readers: Vec<String>,
}

/// Rules; clones share what a person has allowed meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct CallRules {
    rules: Arc<Vec<CallRule>>,
    remembered: Arc<Mutex<Vec<(String, Action)>>>,
    /// True if calls can't be understood at the moment, so that the rules cover none.
    are_suspended: Arc<AtomicBool>,
}

impl CallRule {
    /// Parses `TOOL` or `TOOL:PATTERN`.
    ///
    /// # Errors
    /// The fault, in words.
    fn parse(text: &str) -> Result<Self, String> {
        let (tool, pattern) = match text.split_once(':') {
            Some((tool, pattern)) => (tool.trim(), Some(pattern.trim())),
            None => (text.trim(), None),
        };
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "_-.".contains(sign);
        if tool.is_empty() || !tool.chars().all(is_sign) {
            return Err(format!("{text:?} names no tool; write TOOL or TOOL:PATTERN"));
        }
        if WHOLE.contains(&tool) && pattern.is_some() {
            return Err(format!("{tool} takes no pattern; {tool} alone allows every call of it"));
        }
        let pattern = pattern.map(|pattern| CallPattern::parse(tool, pattern)).transpose();
        let pattern = pattern.map_err(|why| format!("{text:?}: {why}"))?;
        Ok(Self { tool: tool.to_owned(), pattern })
    }

    /// Returns whether the rule is about the tool of that name, or about that action.
    fn is_about(&self, name: &str, action: Option<&Action>) -> bool {
        self.tool == name || action.is_some_and(|action| self.tool == name_of(action))
    }

    fn begins(&self, words: &[String]) -> bool {
        let beginning = self.pattern.as_ref().and_then(|pattern| pattern.words.as_ref());
        beginning.is_some_and(|beginning| beginning.fits(words))
    }
}

impl CallPattern {
    fn parse(tool: &str, text: &str) -> Result<Self, String> {
        if text.is_empty() || text == "*" {
            return Err(format!("{tool} alone allows every call of it"));
        }
        let (words, paths) = (CommandPrefix::parse(text), glob(text));
        match tool {
            "shell" | "run_program" => Ok(Self { words: Some(words?), paths: None }),
            tool if Action::VARIANTS.contains(&tool) => {
                Ok(Self { words: None, paths: Some(paths?) })
            }
            // Other tools' names depend on the model's vocabulary: the pattern is kept in both
            // readings, and the first call shows which of them applies.
            _ => match (words, paths) {
                (Err(why), Ok(_)) if text.contains([' ', '\t']) => Err(why),
                (Err(_), Err(why)) => Err(why),
                (words, paths) => Ok(Self { words: words.ok(), paths: paths.ok() }),
            },
        }
    }
}

impl CommandPrefix {
    fn parse(text: &str) -> Result<Self, String> {
        let (fixed, is_open) = text.strip_suffix('*').map_or((text, false), |fixed| (fixed, true));
        // Read as command lines are, so that a rule and a line can be compared word by word.
        let commands = simple_commands(fixed).unwrap_or_default();
        let [SimpleCommand { words, .. }] = commands.as_slice() else {
            let how = "write the words of one command, as a shell would read them; a * stands at \
                       the end alone, and what a shell would expand belongs in quotes";
            return Err(how.to_owned());
        };
        let mut words = words.clone();
        let end = match is_open {
            false => PrefixTail::Here,
            true if fixed.ends_with([' ', '\t']) => PrefixTail::Any,
            true => words.pop().map_or(PrefixTail::Any, PrefixTail::Word),
        };
        if words.is_empty() {
            return Err(format!("a program's name is whole: write `{fixed} *`"));
        }
        Ok(Self { words, end })
    }

    fn fits(&self, words: &[String]) -> bool {
        let Some(rest) = words.strip_prefix(self.words.as_slice()) else { return false };
        match &self.end {
            PrefixTail::Here => rest.is_empty(),
            PrefixTail::Any => true,
            PrefixTail::Word(start) => rest.first().is_some_and(|word| word.starts_with(start)),
        }
    }
}

impl CallRules {
    /// Parses rules.
    ///
    /// # Errors
    /// The fault of the first wrong one, in words.
    pub(super) fn parse(texts: &[String]) -> Result<Self, String> {
        let rules: Result<Vec<CallRule>, String> =
            texts.iter().map(|text| CallRule::parse(text)).collect();
        Ok(Self { rules: Arc::new(rules?), ..Self::default() })
    }

    /// Returns an explanation of each rule with brackets, which can be read in two ways.
    pub(super) fn understood(&self) -> impl Iterator<Item = String> {
        self.rules.iter().filter_map(|CallRule { tool, pattern }| {
            let glob = pattern.as_ref()?.paths.as_deref().filter(|glob| glob.contains('['))?;
            let (said, names) = (glob.replace('\\', ""), glob.contains("\\["));
            let classes = glob.matches('[').count() > glob.matches("\\[").count();
            let how = match (names, classes) {
                (true, false) => "its brackets are part of the name".to_owned(),
                (false, _) => "its brackets stand for one of the characters in them".to_owned(),
                (true, true) => format!(
                    "it means {glob}, where brackets behind a backslash are part of the name and \
                     others stand for one of the characters in them"
                ),
            };
            Some(format!("the rule {tool}:{said}: {how}"))
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Checks that each rule names a tool of that session or an action, and that none has a pattern
    /// for one of the user's own tools, whose arguments it could not be matched against.
    ///
    /// # Errors
    /// The fault of the first wrong one, in words.
    pub(super) fn check(&self, config: &SessionConfig) -> Result<(), String> {
        let profile = Profile::of(&config.model);
        let is_own = |name: &str| config.tools.iter().any(|tool| tool.name == name);
        for CallRule { tool, pattern } in self.rules.iter() {
            if is_own(tool) && pattern.is_some() {
                return Err(format!("{tool} is a tool of your own, and takes no pattern"));
            }
            if !is_own(tool) && !Action::VARIANTS.contains(&tool.as_str()) && !profile.knows(tool) {
                let actions = Action::VARIANTS.join(", ");
                return Err(format!(
                    "there is no tool {tool}; name one of the model's, or an action: {actions}"
                ));
            }
        }
        Ok(())
    }

    /// Suspends all rules, or ends that. What a call means depends on the model's family.
    pub(super) fn suspend(&self, is_suspended: bool) {
        self.are_suspended.store(is_suspended, Ordering::Relaxed);
    }

    pub(super) fn are_suspended(&self) -> bool {
        self.are_suspended.load(Ordering::Relaxed)
    }

    /// Remembers a call of an agent in `folder`: the same call is allowed from now on. The folder
    /// is part of it, since the same command line does something else in another folder.
    pub(super) fn remember(&self, folder: &str, action: Action) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() < MOST {
            remembered.push((folder.to_owned(), action));
        }
    }

    /// Forgets what a person has allowed for the rest of the session.
    pub(super) fn forget(&self) {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns whether a person has allowed exactly that call.
    pub(super) fn remembers(&self, folder: &str, action: &Action) -> bool {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |(there, other): &(String, Action)| there == folder && other == action;
        !self.are_suspended() && remembered.iter().any(is_same)
    }

    /// Returns the verdict of the rules on a call of an agent in `folder`.
    pub(super) fn verdict(
        &self,
        name: &str,
        action: Option<&Action>,
        patches: &PatchReader,
        (folder, workspace): (&str, &Workspace),
    ) -> RuleVerdict {
        if self.are_suspended() {
            return RuleVerdict::Open;
        }
        if action.is_some_and(|action| self.remembers(folder, action)) {
            return RuleVerdict::Allowed;
        }
        let about: Vec<&CallRule> =
            self.rules.iter().filter(|rule| rule.is_about(name, action)).collect();
        if about.iter().any(|rule| rule.pattern.is_none()) {
            return RuleVerdict::Allowed;
        }
        let is_allowed = match action {
            _ if about.is_empty() => false,
            Some(Action::Shell { command, folder }) => {
                return line(&about, command, folder.is_some()).unwrap_or(RuleVerdict::Open);
            }
            Some(Action::RunProgram { program, args, .. }) => {
                let words: Vec<String> = std::iter::once(program).chain(args).cloned().collect();
                about.iter().any(|rule| rule.begins(&words))
            }
            Some(action) => files(&about, action, patches, (folder, workspace)),
            None => false,
        };
        if is_allowed { RuleVerdict::Allowed } else { RuleVerdict::Open }
    }
}

/// Returns the verdict on a command line; none if only a shell can read it. Commands that no rule
/// names may still run if they only read, beside one that a rule does name.
fn line(rules: &[&CallRule], command: &str, is_elsewhere: bool) -> Option<RuleVerdict> {
    let mut conditions = CommandConditions::default();
    for (index, SimpleCommand { mut words, text }) in
        simple_commands(command)?.into_iter().enumerate()
    {
        // A relative path of a program depends on the folder: a call may name one, and an earlier
        // command of the line, such as `cd`, may change it. Such a program is not the one that the
        // rule names.
        let may_move = is_elsewhere || index > 0;
        let is_moved = |program: &String| may_move && is_relative(program);
        let is_named = !words.first().is_some_and(is_moved);
        if is_named && rules.iter().any(|rule| rule.begins(&words)) {
            conditions.programs.push(words.swap_remove(0));
        } else {
            conditions.readers.push(text.to_owned());
        }
    }
    let is_any_named = !conditions.programs.is_empty();
    Some(if is_any_named { RuleVerdict::AllowedIf(conditions) } else { RuleVerdict::Open })
}

fn is_relative(program: &str) -> bool {
    program.contains('/') && !program.starts_with('/')
}

/// Returns whether a rule names each file of an action, both by its path and by where links lead:
/// a link inside of an allowed folder must not open the rest of the workspace.
fn files(
    rules: &[&CallRule],
    action: &Action,
    patches: &PatchReader,
    (folder, workspace): (&str, &Workspace),
) -> bool {
    let patch = match action {
        Action::Patch { patch, .. } => match patches.read(patch) {
            None => return false,
            patch => patch,
        },
        _ => None,
    };
    let mut paths: Vec<&str> =
        action.files(patch.as_deref()).iter().map(|file| file.path).collect();
    if let Action::ViewImage { path } = action {
        paths.push(path);
    }
    let is_named = |path: &str| {
        let globs = rules.iter().filter_map(|rule| rule.pattern.as_ref()?.paths.as_deref());
        globs.into_iter().any(|glob| glob_match(glob, path))
    };
    let is_file_named = |path: &&str| {
        let Some(path) = resolved(folder, path) else { return false };
        let real = workspace.real_path(&path);
        is_named(&path) && real.is_some_and(|real| real == path || is_named(&real))
    };
    !paths.is_empty() && paths.iter().all(is_file_named)
}

/// Parses a pattern of paths relative to the workspace's root. Brackets are part of names, as in
/// `app/[id]`, unless they are clearly a class of characters.
fn glob(text: &str) -> Result<String, String> {
    let text = text.strip_prefix("./").unwrap_or(text).trim_start_matches('/');
    if text.is_empty() || text.starts_with('!') || text.contains(['{', '}', '\\']) {
        return Err("write a pattern of paths from the workspace's root on, such as docs/** or \
                    src/*.rs"
            .to_owned());
    }
    if text.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err("a pattern of paths has no empty names, and neither . nor ..".to_owned());
    }
    let glob = with_bracketed_names(text).into_owned();
    validate(&glob).map_err(|error| error.to_string())?;
    Ok(glob)
}

/// Returns the action's own name.
const fn name_of(action: &Action) -> &'static str {
    match action {
        Action::Read { .. } => "read",
        Action::ViewImage { .. } => "view_image",
        Action::ReadMany { .. } => "read_many",
        Action::Write { .. } => "write",
        Action::Edit { .. } => "edit",
        Action::Patch { .. } => "patch",
        Action::List { .. } => "list",
        Action::Glob { .. } => "glob",
        Action::Grep(_) => "grep",
        Action::RunProgram { .. } => "run_program",
        Action::Shell { .. } => "shell",
        Action::Fetch { .. } => "fetch",
    }
}

/// Returns what an `always` allows if that is the one call and not its tool: a yes to one command
/// says nothing about another.
pub(super) const fn only_this(action: &Action) -> Option<&'static str> {
    match action {
        Action::Shell { .. } => Some("this command line"),
        Action::RunProgram { .. } => Some("this command"),
        Action::Fetch { .. } => Some("these pages"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn rules(texts: &[&str]) -> CallRules {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        CallRules::parse(&texts).unwrap()
    }

    fn shell(command: &str) -> Action {
        Action::Shell { command: command.to_owned(), folder: None }
    }

    fn write(path: &str) -> Action {
        Action::write(path.to_owned(), String::new())
    }

    /// Returns the verdict of rules on a call, in a new workspace.
    fn verdict(texts: &[&str], name: &str, action: &Action) -> RuleVerdict {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        rules(texts).verdict(name, Some(action), &PatchReader::default(), ("", &workspace))
    }

    /// Returns the conditions under which a line runs: its programs and its readers.
    fn conditions(texts: &[&str], line: &str) -> Option<(Vec<String>, Vec<String>)> {
        match verdict(texts, "shell", &shell(line)) {
            RuleVerdict::AllowedIf(CommandConditions { programs, readers }) => {
                Some((programs, readers))
            }
            RuleVerdict::Open => None,
            RuleVerdict::Allowed => panic!("{line} is allowed whatever holds"),
        }
    }

    /// Returns whether a line runs on no other condition than its programs.
    fn runs(texts: &[&str], line: &str) -> bool {
        conditions(texts, line).is_some_and(|(_, readers)| readers.is_empty())
    }

    #[test]
    fn a_command_is_named_by_its_words() {
        for (rule, line, want) in [
            ("shell:git status", "git status", true),
            ("shell:git status", "git  'status'", true),
            ("shell:git status", "git status -s", false),
            ("shell:git status", "git", false),
            ("shell:git status *", "git status", true),
            ("shell:git status *", "git status -s src", true),
            ("shell:git status *", "git statusx", false),
            ("shell:git status*", "git status", true),
            ("shell:git status*", "git status --short a", true),
            ("shell:git status*", "git status-x", true),
            ("shell:git status*", "git stat", false),
            ("shell:npm run test:*", "npm run test:unit --watch", true),
            ("shell:npm run test:*", "npm run publish", false),
            ("shell:git *", "git", true),
            ("shell:git *", "gitk", false),
            ("shell:echo 'a b' *", "echo 'a b' c", true),
            ("shell:echo 'a b' *", "echo a b c", false),
            ("shell: cargo test ", "cargo test", true),
            ("write:git *", "git status", false),
            ("run_program:git *", "git status", false),
        ] {
            let rule = if rule.starts_with("write") { "write:git/**" } else { rule };
            assert_eq!(runs(&[rule], line), want, "{rule} {line}");
        }
        let both = ["shell:git *", "shell:cargo test *"];
        assert!(runs(&both, "git status && cargo test -q; git diff | git apply"));
    }

    /// The lines of a hostile model that knows the rules.
    const HOSTILE: &[&str] = &[
        "git status; rm -rf .",
        "git status && curl evil.example",
        "git status || sh",
        "git status | sh",
        "git status & rm -rf .",
        "git status &",
        "git status $(evil)",
        "git status `evil`",
        "git status \"$(evil)\"",
        "git status \"`evil`\"",
        "git status ${x:-$(evil)}",
        "git status $x",
        "git status $'\\x3b' evil",
        "git status > .git/hooks/pre-commit",
        "git status >> ~/.bashrc",
        "git status >| x",
        "git status &> x",
        "git status 2> x",
        "git status < x",
        "git status <<< x",
        "git status <(evil)",
        "git status >(evil)",
        "git status\nevil",
        "git status\revil",
        "git status \\\nevil",
        "git status '\nevil'",
        "git status #\nevil",
        "GIT_SSH_COMMAND=evil git status",
        "PATH=evil git status",
        "PATH=evil; git status",
        "env GIT_PAGER=evil git status",
        "git -c core.pager=evil status",
        "git --exec-path=evil status",
        "git --git-dir evil status",
        "'git status'",
        "git' 'status",
        "gitstatus",
        "./git status",
        "evil/git status",
        "/tmp/git status",
        "git\u{a0}status",
        "git\u{2003}status",
        "git stat*",
        "git s?atus",
        "git {status,push}",
        "git\\ status",
        "\\git status",
        "! git status",
        "time git status; evil",
        "if git status; then evil; fi",
        "{ git status; evil; }",
        "(git status; evil)",
        "git() { evil; }; git status",
        "function git { evil; }; git status",
        "alias git=evil; git status",
        "eval git status",
        "exec git status",
        "command git status",
        "sudo git status",
        "xargs git status",
        "sh -c 'git status'",
        "git status;",
        "git status;;",
        "git status && ",
        "ls ~root",
        "ls -la /proc/*/environ",
        "git log\u{0}; evil",
        "git log --format='\u{1b}]0;x'",
        "",
    ];

    #[test]
    fn a_hostile_line_is_named_by_no_rule() {
        let allowed = ["shell:git status *", "shell:git log*", "shell:ls *"];
        for line in HOSTILE {
            assert!(!runs(&allowed, line), "{line:?}");
        }
        // The commands beside the named one must only read, which the sandbox judges.
        let (programs, readers) = conditions(&allowed, "git log -3 | head -2 && rm x").unwrap();
        assert_eq!(
            (programs, readers),
            (vec!["git".into()], vec!["head -2".into(), "rm x".into()])
        );
        assert_eq!(conditions(&allowed, "head -2; wc x"), None, "a rule must name something");
    }

    #[test]
    fn a_path_that_the_model_can_move_names_no_program() {
        let elsewhere = Action::Shell {
            command: "./check.sh && cargo test".to_owned(),
            folder: Some("evil".to_owned()),
        };
        let said = verdict(&["shell:./check.sh", "shell:cargo test"], "shell", &elsewhere);
        let RuleVerdict::AllowedIf(conditions) = said else { panic!("{said:?}") };
        assert_eq!(conditions.programs, ["cargo"]);
        assert_eq!(conditions.readers, ["./check.sh"]);
        let check = ["shell:./check.sh", "shell:cd *"];
        assert!(runs(&check, "./check.sh") && !runs(&check, "cd evil && ./check.sh"));
    }

    #[test]
    fn a_program_is_named_by_its_words() {
        let run = |args: &[&str]| Action::RunProgram {
            program: "qjs".to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            stdin: None,
        };
        let allowed = ["run_program:qjs test.js *"];
        for (args, want) in [
            (&["test.js"][..], RuleVerdict::Allowed),
            (&["test.js", "; rm"], RuleVerdict::Allowed),
            (&["-e", "test.js"], RuleVerdict::Open),
            (&[], RuleVerdict::Open),
        ] {
            assert_eq!(verdict(&allowed, "run_program", &run(args)), want, "{args:?}");
        }
        assert_eq!(verdict(&["shell"], "run_program", &run(&[])), RuleVerdict::Open);
        assert_eq!(verdict(&["run_program"], "Program", &run(&[])), RuleVerdict::Allowed);
    }

    #[test]
    fn files_are_named_from_the_workspaces_root_on_and_where_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("docs/deep")).unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        std::os::unix::fs::symlink("../src", folder.path().join("docs/link")).unwrap();
        std::os::unix::fs::symlink("deep", folder.path().join("docs/inside")).unwrap();
        std::os::unix::fs::symlink("../..", folder.path().join("docs/out")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let rules = rules(&["write:docs/**", "edit:src/*.rs", "patch:docs/*"]);
        let said = |name: &str, action: &Action, inside: &str| {
            let patches = PatchReader::default();
            rules.verdict(name, Some(action), &patches, (inside, &workspace))
                == RuleVerdict::Allowed
        };
        for (path, inside, want) in [
            ("docs/a.txt", "", true),
            ("/docs/a.txt", "src", true),
            ("a.txt", "docs", true),
            ("deep/new/a.txt", "docs", true),
            ("docs/inside/a.txt", "", true),
            ("docs/link/a.rs", "", false),
            ("docs/out/a.rs", "", false),
            ("docs/../src/a.rs", "", false),
            ("docs/./../docs/a.txt", "", true),
            ("docs\\..\\src\\a.rs", "", false),
            ("../docs/a.txt", "", false),
            ("docs/../../docs/a.txt", "", false),
            ("src/a.rs", "", false),
            ("a.txt", "", false),
            ("docsx/a.txt", "", false),
        ] {
            assert_eq!(said("write_file", &write(path), inside), want, "{path} in {inside:?}");
        }
        let edit = |path: &str| Action::Edit {
            path: path.to_owned(),
            old: String::new(),
            new: String::new(),
            all: false,
            salt: None,
        };
        assert!(said("edit_file", &edit("src/a.rs"), ""));
        assert!(!said("edit_file", &edit("src/deep/a.rs"), "") && !said("x", &edit("docs/a"), ""));
        let patch = |paths: &[&str]| {
            let files = paths.iter().map(|path| format!("*** Add File: {path}\n+a\n"));
            let files = files.collect::<String>();
            Action::patch(format!("*** Begin Patch\n{files}*** End Patch\n"))
        };
        assert!(said("apply_patch", &patch(&["docs/a", "docs/b"]), ""));
        assert!(!said("apply_patch", &patch(&["docs/a", "src/b"]), ""));
        assert!(!said("apply_patch", &patch(&[]), ""));
        let moving = "*** Begin Patch\n*** Update File: docs/a\n*** Move to: src/b\n@@\n-a\n+b\n\
                      *** End Patch\n";
        assert!(!said("apply_patch", &Action::patch(moving.to_owned()), ""));
    }

    #[test]
    fn brackets_in_a_rule_are_part_of_a_name_unless_they_are_a_class() {
        for (rule, path, want) in [
            ("write:app/[id]/**", "app/[id]/page.tsx", RuleVerdict::Allowed),
            ("write:app/[id]/**", "app/i/page.tsx", RuleVerdict::Open),
            ("write:app/[...slug]/*", "app/[...slug]/page.tsx", RuleVerdict::Allowed),
            ("write:app/[...slug]/*", "app/s/page.tsx", RuleVerdict::Open),
            ("write:app/[[lang]]/*", "app/[[lang]]/page.tsx", RuleVerdict::Allowed),
            ("write:v[0-9]/*", "v1/a", RuleVerdict::Allowed),
            ("write:v[0-9]/*", "v[0-9]/a", RuleVerdict::Open),
            ("write:[!.]*/a", "src/a", RuleVerdict::Allowed),
            ("write:[!.]*/a", ".git/a", RuleVerdict::Open),
        ] {
            assert_eq!(verdict(&[rule], "write_file", &write(path)), want, "{rule} {path}");
        }
        let texts = ["write:app/[id]/**", "edit:v[0-9]/*", "edit:[id]/[a-z]", "write:docs/**"];
        let said: Vec<String> = rules(&texts).understood().collect();
        assert_eq!(
            said,
            [
                "the rule write:app/[id]/**: its brackets are part of the name",
                "the rule edit:v[0-9]/*: its brackets stand for one of the characters in them",
                "the rule edit:[id]/[a-z]: it means \\[id\\]/[a-z], where brackets behind a \
                 backslash are part of the name and others stand for one of the characters in them",
            ]
        );
    }

    #[test]
    fn a_tool_is_named_by_either_name() {
        for (rule, name, want) in [
            ("write", "write_file", RuleVerdict::Allowed),
            ("write_file", "write_file", RuleVerdict::Allowed),
            ("Write", "write_file", RuleVerdict::Open),
            ("write_file:docs/**", "write_file", RuleVerdict::Allowed),
            ("write_file:src/**", "write_file", RuleVerdict::Open),
        ] {
            assert_eq!(verdict(&[rule], name, &write("docs/a")), want, "{rule}");
        }
        let folder = tempfile::tempdir().unwrap();
        let place = ("", &Workspace::open(folder.path()).unwrap());
        let rules = rules(&["deploy", "shell", "notes:x"]);
        let own = |name: &str| rules.verdict(name, None, &PatchReader::default(), place);
        assert_eq!([own("deploy"), own("notes")], [RuleVerdict::Allowed, RuleVerdict::Open]);
        assert_eq!(own("evil"), RuleVerdict::Open);
    }

    #[test]
    fn a_rule_that_says_nothing_is_refused() {
        for (text, why) in [
            ("", "names no tool"),
            (":git", "names no tool"),
            ("git status", "names no tool"),
            ("shell:", "shell alone allows every call"),
            ("shell:*", "shell alone allows every call"),
            ("shell:git*", "write `git *`"),
            ("shell:git * status", "a * stands at the end alone"),
            ("shell:a; b", "the words of one command"),
            ("shell:a > b", "the words of one command"),
            ("shell:X=1 a", "the words of one command"),
            ("Bash:a > b", "the words of one command"),
            ("write:../x", "neither . nor .."),
            ("write:docs//x", "no empty names"),
            ("write:!docs/**", "a pattern of paths from"),
            ("write:[a", ""),
            ("grep:src/**", "takes no pattern"),
            ("fetch:example.com", "takes no pattern"),
        ] {
            let refused = CallRules::parse(&[text.to_owned()]).err().unwrap_or_default();
            assert!(!refused.is_empty() && refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn what_a_person_allows_for_good_is_that_call_alone() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let rules = CallRules::default();
        rules.remember("", shell("make > log"));
        let said = |line: &str, inside: &str| {
            let patches = PatchReader::default();
            rules.clone().verdict("shell", Some(&shell(line)), &patches, (inside, &workspace))
        };
        assert_eq!(said("make > log", ""), RuleVerdict::Allowed);
        assert_eq!(said("make > log", "sub"), RuleVerdict::Open);
        assert_eq!(said("make > log; rm x", ""), RuleVerdict::Open);
        rules.suspend(true);
        assert_eq!(
            said("make > log", ""),
            RuleVerdict::Open,
            "the calls are those of another family"
        );
        rules.suspend(false);
        assert_eq!(said("make > log", ""), RuleVerdict::Allowed);
    }
}

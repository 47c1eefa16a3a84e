//! Files that do more than lie there: another program of the user's runs them, or obeys them, as
//! soon as it comes by. Whoever reviews changes is told of them by name.

use std::path::Path;

const HOOK: &str = "git may run it";
const EDITOR: &str = "an editor may run it when it opens the folder";
const SHELL: &str = "a shell may run it when it starts or enters the folder";
const AGENT: &str = "coding agents obey it";
const BUILD: &str = "it says what builds and package managers run";
const SERVER: &str = "a build server runs it with its own keys";

/// Folders, and all that is in them.
const FOLDERS: &[(&str, &str)] = &[
    (".agents", AGENT),
    (".cargo", BUILD),
    (".circleci", SERVER),
    (".claude", AGENT),
    (".codex", AGENT),
    (".cursor", AGENT),
    (".devcontainer", EDITOR),
    (".gemini", AGENT),
    (".git", HOOK),
    (".githooks", HOOK),
    (".github/workflows", SERVER),
    (".github/actions", SERVER),
    (".husky", HOOK),
    (".idea", EDITOR),
    (".vim", EDITOR),
    (".vscode", EDITOR),
    (".zed", EDITOR),
    (".config/fish", SHELL),
];

/// Files, wherever they are.
const FILES: &[(&str, &str)] = &[
    (".bash_login", SHELL),
    (".bash_logout", SHELL),
    (".bash_profile", SHELL),
    (".bashrc", SHELL),
    (".cursorrules", AGENT),
    (".dir-locals.el", EDITOR),
    (".envrc", SHELL),
    (".exrc", EDITOR),
    (".gdbinit", EDITOR),
    (".gitconfig", HOOK),
    (".github/copilot-instructions.md", AGENT),
    (".gitlab-ci.yml", SERVER),
    (".gitmodules", HOOK),
    (".lefthook.yml", HOOK),
    (".lldbinit", EDITOR),
    (".login", SHELL),
    (".mcp.json", AGENT),
    (".mise.toml", SHELL),
    (".npmrc", BUILD),
    (".nvim.lua", EDITOR),
    (".pre-commit-config.yaml", HOOK),
    (".profile", SHELL),
    (".vimrc", EDITOR),
    (".windsurfrules", AGENT),
    (".yarnrc.yml", BUILD),
    (".zlogin", SHELL),
    (".zprofile", SHELL),
    (".zshenv", SHELL),
    (".zshrc", SHELL),
    ("agents.md", AGENT),
    ("claude.md", AGENT),
    ("gemini.md", AGENT),
    ("lefthook.yml", HOOK),
    ("mise.toml", SHELL),
];

/// Ends of files' names.
const ENDS: &[(&str, &str)] = &[(".code-workspace", EDITOR)];

/// Why a change of the file should be looked at closely, whatever it holds. Names are compared in
/// any case, as some file systems do.
pub(super) fn why(path: &Path) -> Option<&'static str> {
    let path = format!("/{}", path.to_string_lossy().to_lowercase());
    let find = |all: &[(&str, &'static str)], is_it: &dyn Fn(&str) -> bool| {
        all.iter().find(|(name, _)| is_it(name)).map(|(_, why)| *why)
    };
    find(FOLDERS, &|name| path.contains(&format!("/{name}/")))
        .or_else(|| find(FILES, &|name| path.ends_with(&format!("/{name}"))))
        .or_else(|| find(ENDS, &|end| path.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_run_or_obey_is_named() {
        let cases = [
            (".husky/pre-commit", Some(HOOK)),
            ("packages/web/.VSCode/tasks.json", Some(EDITOR)),
            (".envrc", Some(SHELL)),
            ("sub/AGENTS.md", Some(AGENT)),
            (".github/workflows/ci.yml", Some(SERVER)),
            ("all.code-workspace", Some(EDITOR)),
            (".github/README.md", None),
            ("husky/pre-commit", None),
            ("my.envrc.txt", None),
            ("src/main.rs", None),
        ];
        for (path, want) in cases {
            assert_eq!(why(Path::new(path)), want, "{path}");
        }
    }
}

//! Files that do more than lie there: another program of the user's runs them, or obeys them, as
//! soon as it comes by. Whoever reviews changes is told of them by name.

use std::path::Path;

const AGENT: &str = "coding agents obey it";
const BUILD: &str = "it says what builds and package managers run";
const EDITOR: &str = "an editor may run it when it opens the folder";
const GIT: &str = "git obeys it";
const HOOK: &str = "git may run it";
const LANGUAGE: &str = "a debugger or an interpreter may run it when it starts";
const SERVER: &str = "a build server runs it with its own keys";
const VERSIONS: &str = "a version system may run it";
const SHELL: &str = "a shell may run it when it starts or enters the folder";

/// What should be looked at for the same reason.
struct Row {
    why: &'static str,
    /// What stands at these names, wherever they are, and all that is in it.
    folders: &'static [&'static str],
    /// Files of these names, wherever they are.
    files: &'static [&'static str],
}

/// Names are in lower case. The first row counts that has the path's.
const ROWS: &[Row] = &[
    Row {
        why: HOOK,
        folders: &[".git", ".githooks", ".husky", ".lefthook"],
        files: &[
            ".lefthook.yaml",
            ".lefthook.yml",
            ".overcommit.yml",
            ".pre-commit-config.yaml",
            "lefthook.yaml",
            "lefthook.yml",
        ],
    },
    Row {
        why: VERSIONS,
        folders: &[".bzr", ".hg", ".jj", ".pijul", ".sl", ".svn", "_darcs"],
        files: &[".hgrc"],
    },
    Row { why: GIT, folders: &[], files: &[".gitattributes", ".gitconfig", ".gitmodules"] },
    Row {
        why: EDITOR,
        folders: &[".devcontainer", ".helix", ".idea", ".vim", ".vscode", ".zed"],
        files: &[".dir-locals.el", ".exrc", ".lvimrc", ".nvim.lua", ".nvimrc", ".vimrc"],
    },
    Row {
        why: SHELL,
        folders: &[".config/fish", ".config/mise", ".mise"],
        files: &[
            ".bash_login",
            ".bash_logout",
            ".bash_profile",
            ".bashrc",
            ".config/mise.toml",
            ".envrc",
            ".login",
            ".mise.local.toml",
            ".mise.toml",
            ".profile",
            ".zlogin",
            ".zprofile",
            ".zshenv",
            ".zshrc",
            "mise.local.toml",
            "mise.toml",
        ],
    },
    Row {
        why: LANGUAGE,
        folders: &[],
        files: &[
            ".gdbinit",
            ".ghci",
            ".irbrc",
            ".lldbinit",
            ".ocamlinit",
            ".pdbrc",
            ".pryrc",
            ".rprofile",
        ],
    },
    Row {
        why: BUILD,
        folders: &[".cargo", ".mvn", ".yarn"],
        files: &[
            ".bazelrc",
            ".npmrc",
            ".pnp.cjs",
            ".pnpmfile.cjs",
            ".yarnrc",
            ".yarnrc.yml",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    },
    Row {
        why: AGENT,
        folders: &[
            ".agents",
            ".claude",
            ".clinerules",
            ".codex",
            ".cursor",
            ".gemini",
            ".github/instructions",
            ".github/prompts",
            ".kiro",
            ".opencode",
            ".windsurf",
        ],
        files: &[
            ".cursorrules",
            ".github/copilot-instructions.md",
            ".mcp.json",
            ".windsurfrules",
            "agents.md",
            "claude.local.md",
            "claude.md",
            "gemini.md",
            "opencode.json",
        ],
    },
    Row {
        why: SERVER,
        folders: &[
            ".buildkite",
            ".circleci",
            ".forgejo/workflows",
            ".gitea/workflows",
            ".github/actions",
            ".github/workflows",
            ".woodpecker",
        ],
        files: &[
            ".drone.yml",
            ".gitlab-ci.yml",
            ".travis.yml",
            ".woodpecker.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "jenkinsfile",
        ],
    },
];

/// Ends of files' names.
const ENDS: &[(&str, &str)] = &[(".code-workspace", EDITOR)];

/// Why a change of the file should be looked at closely, whatever it holds. Names are compared in
/// any case, as some file systems do.
pub(super) fn why(path: &Path) -> Option<&'static str> {
    let path = format!("/{}", path.to_string_lossy().to_lowercase());
    let is_at = |name: &str| path.strip_suffix(name).is_some_and(|above| above.ends_with('/'));
    // A link of a folder's name stands for the folder.
    let is_in = |name: &str| {
        let mut places = path.match_indices(name).map(|(at, _)| path.split_at(at));
        is_at(name) || places.any(|(above, rest)| above.ends_with('/') && holds(rest, name))
    };
    let is_it = |row: &&Row| {
        row.folders.iter().any(|name| is_in(name)) || row.files.iter().any(|name| is_at(name))
    };
    let end = || ENDS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, why)| *why);
    ROWS.iter().find(is_it).map(|row| row.why).or_else(end)
}

/// Whether what begins with the name is a path that goes on below it.
fn holds(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
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
            // What stands in the place of such a folder, as a link may.
            (".vscode", Some(EDITOR)),
            ("sub/.github/workflows", Some(SERVER)),
            (".clinerules", Some(AGENT)),
            (".yarn/releases/yarn.cjs", Some(BUILD)),
            (".Rprofile", Some(LANGUAGE)),
            ("Jenkinsfile", Some(SERVER)),
            (".gitattributes", Some(GIT)),
            (".vscode2/.vscode/tasks.json", Some(EDITOR)),
            (".vscode2/tasks.json", None),
            ("my.vscode/tasks.json", None),
            (".github/README.md", None),
            (".github", None),
            ("husky/pre-commit", None),
            ("my.envrc.txt", None),
            ("my.envrc", None),
            (".envrc/file", None),
            ("src/main.rs", None),
        ];
        for (path, want) in cases {
            assert_eq!(why(Path::new(path)), want, "{path}");
        }
    }

    #[test]
    fn each_name_can_be_found() {
        for row in ROWS {
            for name in row.folders.iter().chain(row.files) {
                assert_eq!(why(Path::new(&format!("sub/{name}"))), Some(row.why), "{name}");
            }
            for name in row.folders {
                assert_eq!(why(Path::new(&format!("{name}/file"))), Some(row.why), "{name}");
            }
        }
    }
}

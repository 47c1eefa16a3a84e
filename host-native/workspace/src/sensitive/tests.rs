//! Paths that a review must name, and ordinary ones that it must not.

use super::*;

/// Returns whether a review names the path.
fn is_named(path: &str) -> bool {
    why(Path::new(path)).is_some()
}

#[test]
fn what_others_run_or_obey_is_named() {
    let paths = "
        conftest.py setup.py setup.cfg pyproject.toml lib/site-packages/x.pth sitecustomize.py
        usercustomize.py tox.ini noxfile.py pytest.ini pdm_build.py docs/conf.py .pdbrc build.rs
        .cargo/config.toml .cargo/config rust-toolchain rust-toolchain.toml eslint.config.js
        eslint.config.mjs .eslintrc .eslintrc.cjs prettier.config.cjs .prettierrc.js vite.config.ts
        vitest.config.mts webpack.config.js webpack.prod.js rollup.config.mjs jest.config.ts
        babel.config.js .babelrc postcss.config.cjs tailwind.config.ts next.config.mjs
        nuxt.config.ts svelte.config.js astro.config.mjs playwright.config.ts cypress.config.ts
        karma.conf.js gulpfile.js Gruntfile.js .storybook/main.js .pnpmfile.cjs .pnp.cjs .yarnrc
        .yarnrc.yml .yarn/releases/yarn.cjs .npmrc bunfig.toml deno.json deno.jsonc binding.gyp
        .run/App.run.xml .idea/runConfigurations/a.xml .idea/workspace.xml .vscode/tasks.json
        .vscode/launch.json .vscode/settings.json .vscode/extensions.json packages/web/.VSCode/x
        .devcontainer/devcontainer.json .devcontainer.json all.code-workspace x.sublime-project
        .zed/tasks.json .nova/Tasks/a.json .fleet/run.json .vimrc .exrc .nvim.lua .dir-locals.el
        .lvimrc gradlew gradlew.bat gradle/wrapper/gradle-wrapper.properties build.gradle
        app/build.gradle.kts settings.gradle settings.gradle.kts init.gradle gradle.properties
        buildSrc/src/main/a.kt mvnw mvnw.cmd .mvn/extensions.xml pom.xml build.xml Makefile
        GNUmakefile sub/makefile rules.mk CMakeLists.txt cmake/x.cmake CMakePresets.json justfile
        .justfile Taskfile.yml Rakefile lib/tasks/a.rake Gemfile x.gemspec .rspec SConstruct
        meson.build configure configure.ac BUILD BUILD.bazel WORKSPACE MODULE.bazel .bazelrc x.bzl
        .envrc .direnv/bin/x .tool-versions mise.toml .mise.toml .config/mise.toml mise.local.toml
        .pre-commit-config.yaml lefthook.yml .lefthook.yaml .husky/pre-commit .githooks/pre-push
        .git .gitattributes sub/.gitmodules .lfsconfig .gitconfig .hg/hgrc .hgrc .jj/config.toml
        .svn/x .github/workflows/ci.yml .github/actions/x/action.yml action.yml
        .github/dependabot.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile azure-pipelines.yml
        .buildkite/pipeline.yml .drone.yml .travis.yml bitbucket-pipelines.yml appveyor.yml
        .cirrus.yml .woodpecker/a.yml .forgejo/workflows/a.yml .gitea/workflows/a.yml
        .semaphore/a.yml .tekton/a.yaml Dockerfile Dockerfile.dev app.dockerfile Containerfile
        docker-compose.yml docker-compose.override.yaml compose.yaml compose.dev.yml .env
        .env.local Vagrantfile Procfile flake.nix shell.nix default.nix devenv.nix mix.exs
        rebar.config dune sub/dune dune-project stack.yaml Setup.hs cabal.project build.sbt
        project/plugins.sbt project/Build.scala App.csproj src/Lib/Lib.fsproj Directory.Build.props
        Directory.Build.targets nuget.config global.json Package.swift Podfile artisan
        .php-cs-fixer.php phpunit.xml go.work .golangci.yml build.zig AGENTS.md sub/AGENTS.md
        CLAUDE.md CLAUDE.local.md .claude/settings.json .cursor/rules/a.mdc .cursorrules
        .codex/config.toml .gemini/settings.json GEMINI.md .mcp.json .aider.conf.yml .windsurfrules
        .clinerules .clinerules/a.md .continue/config.yaml opencode.json .opencode/a
        .github/copilot-instructions.md .github/instructions/a.md .github/prompts/a.md
        .innerloop/config.toml .agents/skills/a/SKILL.md .kiro/a .junie/guidelines.md .bashrc
        .profile .zshrc .bash_profile .zshenv .config/fish/config.fish .gdbinit .lldbinit .inputrc
        .Rprofile .irbrc .pryrc .screenrc .tmux.conf .ssh/config .ssh autorun.inf a.desktop .psqlrc
        .ghci .ocamlinit desktop.ini git.exe sub/.github/workflows .vscode2/.vscode/tasks.json
    ";
    for path in paths.split_whitespace() {
        assert!(is_named(path), "{path}");
    }
}

#[test]
fn ordinary_files_are_not() {
    let paths = "
        src/main.rs README.md src/config.ts src/config.js lib/index.js tests/test_a.py
        app/models.py .github/README.md .github husky/pre-commit my.envrc.txt my.envrc .envrc/file
        .vscode2/tasks.json my.vscode/tasks.json src/build/x.rs src/workspace/mod.rs src/build.ts
        guide/intro.md LICENSE Cargo.lock package-lock.json go.sum main.go index.html style.css
        src/vite.ts src/jest.ts gradle/libs.versions.toml .gitignore .editorconfig data.json
        src/configure.rs src/dune.rs src/project/a.rs workflows/ci.yml a.test.ts conf.py
        src/makefile.rs makefile.go/x compose.rs docker.md config.toml git src/git.rs nix.md
    ";
    for path in paths.split_whitespace() {
        assert_eq!(why(Path::new(path)), None, "{path}");
    }
}

#[test]
fn names_are_compared_as_the_most_forgiving_file_system_does() {
    let paths = [
        "MAKEFILE",
        ".GitHub/Workflows/CI.yml",
        ".g\u{200c}itmodules",
        ".vſcode/tasks.json",
        "ma\u{212a}efile",
        ".envrc.",
        ".husky /pre-commit",
    ];
    for path in paths {
        assert!(is_named(path), "{path:?}");
    }
}

#[test]
fn each_name_can_be_found() {
    let mut all = std::collections::BTreeSet::new();
    for (name, reason) in rows() {
        assert!(all.insert(name), "{name} stands twice");
        assert_eq!(name, folded(name), "names are in lower case");
        assert!(!reason.is_empty() && reason.contains(' '), "{name}: {reason}");
        let example = name.trim_end_matches('/').replace('*', "x");
        assert!(is_named(&format!("sub/{example}")), "{name}");
        assert_eq!(is_named(&format!("{example}/other")), name.ends_with('/'), "{name}");
    }
    let mut reasons: Vec<String> =
        table::TABLE.lines().filter(|line| !line.starts_with(' ')).map(str::to_lowercase).collect();
    let told = reasons.clone();
    reasons.sort();
    assert_eq!(told, reasons, "sorted by program");
}

#[test]
fn manifests_are_named_by_what_is_run_of_them() {
    let of = |name: &str, before: &str, after: &str| {
        why_part(Path::new(name), Some(before), Some(after)).is_some()
    };
    let package = r#"{"name": "a", "scripts": {"test": "x"}, "dependencies": {"b": "1"}}"#;
    let cargo = "[package]\nname = 'a'\n[dependencies]\nb = '1'\n";
    let go = "module a\ngo 1.22\nrequire (\n\tb v1\n)\n";
    let cases = [
        ("package.json", package, package.replace("\"1\"", "\"2\""), false),
        ("sub/Package.json", package, package.replace("\"x\"", "\"y\""), true),
        (
            "package.json",
            package,
            package.replace("{\"name", "{\"scr\\u0069pts\": 1, \"name"),
            false,
        ),
        ("package.json", package, package.replace("\"1\"}", "\"1\"}, \"scr\\u0069pts\": 1"), true),
        ("package.json", package, package.replace("\"name\"", "\"bin\""), true),
        ("package.json", "", r#"{"name": "a"}"#.to_owned(), false),
        ("package.json", "", package.to_owned(), true),
        ("package.json", package, "no JSON".to_owned(), true),
        ("composer.json", "{}", r#"{"require": {"a": "1"}}"#.to_owned(), false),
        ("composer.json", "{}", r#"{"scripts": {"a": "1"}}"#.to_owned(), true),
        ("Cargo.toml", cargo, cargo.replace("'1'", "'2'"), false),
        ("Cargo.toml", cargo, cargo.replace("[dep", "build = 'x.rs'\n[dep"), true),
        ("Cargo.toml", cargo, cargo.replace("[dep", "[patch.crates-io]\nb.path = 'b'\n[dep"), true),
        ("go.mod", go, go.replace("v1", "v2\n\tc v3"), false),
        ("go.mod", go, format!("{go}require d v1\n"), false),
        ("go.mod", go, format!("{go}toolchain go1.99\n"), true),
        ("go.mod", go, format!("{go}require d v1 // (\ntool d\n"), true),
        ("go.mod", go, format!("{go}replace (\n\tb => ../b\n)\n"), true),
        ("src/main.rs", "a", "b".to_owned(), false),
    ];
    for (name, before, after, want) in cases {
        assert_eq!(of(name, before, &after), want, "{name}: {after}");
    }
    assert!(why_part(Path::new("package.json"), None, Some(package)).is_some(), "a link, say");
}

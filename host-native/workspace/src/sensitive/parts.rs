//! Manifests of which only some entries are run or obeyed. Most changes are of others, such as
//! versions of dependencies; to name each would teach the user to look away. What cannot be read
//! counts as changed.

use serde_json::Value;

/// The format of a manifest, and the entries that matter, by the paths to them.
enum ManifestFormat {
    Json(&'static [&'static str]),
    Toml(&'static [&'static str]),
    /// The lines of `go.mod` other than its requirements.
    GoMod,
}

/// The names of manifests, in lower case, with the reason that a review gives.
const MANIFESTS: &[(&str, &str, ManifestFormat)] = &[
    (
        "cargo.toml",
        "what Cargo or rustup obeys in it is changed",
        ManifestFormat::Toml(&[
            "build-dependencies",
            "cargo-features",
            "lib.proc-macro",
            "package.build",
            "package.links",
            "package.metadata",
            "patch",
            "replace",
            "workspace.metadata",
        ]),
    ),
    (
        "composer.json",
        "what Composer runs or obeys in it is changed",
        ManifestFormat::Json(&[
            "autoload",
            "autoload-dev",
            "bin",
            "config",
            "extra",
            "repositories",
            "scripts",
        ]),
    ),
    ("go.mod", "what Go obeys in it is changed", ManifestFormat::GoMod),
    (
        "package.json",
        "what npm or another tool runs or obeys in it is changed",
        ManifestFormat::Json(&[
            "ava",
            "babel",
            "bin",
            "c8",
            "commitlint",
            "config",
            "devEngines",
            "eslintConfig",
            "gitHooks",
            "gypfile",
            "hooks",
            "husky",
            "jest",
            "lint-staged",
            "mocha",
            "nano-staged",
            "nodemonConfig",
            "nx",
            "nyc",
            "overrides",
            "packageManager",
            "pnpm",
            "postcss",
            "pre-commit",
            "pre-push",
            "prettier",
            "release",
            "resolutions",
            "scripts",
            "simple-git-hooks",
            "stylelint",
            "trustedDependencies",
            "volta",
            "wireit",
            "xo",
        ]),
    ),
];

/// Returns why a change from one text to another should be looked at closely, if it should. A
/// missing file is an empty text; one that is not a text or cannot be parsed counts as changed.
pub(super) fn why(name: &str, before: Option<&str>, after: Option<&str>) -> Option<&'static str> {
    let (_, why, form) = MANIFESTS.iter().find(|(known, ..)| *known == name)?;
    let compared = |before, after| match form {
        ManifestFormat::Json(ways) => Some(are_same(ways, &json(before)?, &json(after)?)),
        ManifestFormat::Toml(ways) => Some(are_same(ways, &toml(before)?, &toml(after)?)),
        ManifestFormat::GoMod => Some(obeyed(before).eq(obeyed(after))),
    };
    // `None` is no proof: a manifest that we cannot parse, its program may still obey.
    let is_same = before.zip(after).and_then(|(before, after)| compared(before, after));
    (is_same != Some(true)).then_some(why)
}

/// Returns whether both have the same entries at all these paths.
fn are_same(ways: &[&str], before: &Value, after: &Value) -> bool {
    let at = |value: &Value, way: &str| {
        way.split('.').try_fold(value, |inner, name| inner.get(name)).cloned()
    };
    ways.iter().all(|way| at(before, way) == at(after, way))
}

/// Parses JSON; an empty text, which stands for a missing file, has no entries.
fn json(text: &str) -> Option<Value> {
    // Of an entry that stands twice the last one counts, as for the programs that obey it.
    if text.is_empty() { Some(Value::Null) } else { serde_json::from_str(text).ok() }
}

fn toml(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

/// Returns the lines of a `go.mod` that say more than its name and the versions that it requires.
fn obeyed(text: &str) -> impl Iterator<Item = &str> {
    let mut is_in_list = false;
    text.lines().map(str::trim).filter(move |line| {
        let was_in_list = is_in_list;
        is_in_list = *line == "require (" || (is_in_list && !line.starts_with(')'));
        let is_one = line.starts_with("require ") && !line.contains('(');
        !(was_in_list || is_in_list || is_one || line.is_empty() || line.starts_with("module "))
    })
}

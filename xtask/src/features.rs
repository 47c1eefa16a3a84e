//! The cargo features of core, driver and binding: each package must build, without a warning, with
//! none of its features, with each alone and with all.

use crate::failure::TaskError;
use crate::files;
use crate::process;
use crate::workspace::Workspace;

/// The packages whose features are linted, by folder.
const PACKAGES: [(&str, &str); 5] = [
    ("core/types", "innerloop-types"),
    ("core/wire", "innerloop-wire"),
    ("core", "innerloop-core"),
    ("driver", "innerloop-driver"),
    ("wasm", "innerloop-wasm"),
];

/// Step: lints each package with none and with each one of its features. With all of them they are
/// linted beside the other packages.
///
/// # Errors
/// When there is a warning.
pub(crate) fn lint(workspace: &mut Workspace) -> Result<(), TaskError> {
    for (folder, package) in PACKAGES {
        let manifest = files::read(&workspace.path(&format!("{folder}/Cargo.toml")))?;
        let manifest = String::from_utf8_lossy(&manifest);
        for feature in std::iter::once("").chain(names(&manifest)) {
            let shown = if feature.is_empty() { "no feature" } else { feature };
            println!("{folder} with {shown}");
            let mut clippy = workspace.cargo("clippy");
            clippy.args(["-p", package, "--no-default-features", "--features", feature]);
            process::run(clippy.args(["--", "-D", "warnings"]))?;
        }
    }
    Ok(())
}

/// The features that a manifest declares, without the set of those that are on by default.
fn names(manifest: &str) -> impl Iterator<Item = &str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let section = lines.take_while(|line| !line.starts_with('['));
    let names = section.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    names.filter(|name| *name != "default" && !name.starts_with(['#', ' ', '"']))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn features_are_read_from_the_manifest() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\n    \"one\",\n]\n\
                        # Not = this.\none = []\ntwo = [\"one\"]\n\n[dependencies]\nb = \"1\"\n";
        assert_eq!(names(manifest).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(names("[package]").count(), 0);
    }
}

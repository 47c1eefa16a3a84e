//! The repository's texts, and the crates and module trees that they make up. Nothing is judged
//! here.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::paths::Reading;

/// The endings of the files that people write.
const ENDINGS: [&str; 10] =
    [".rs", ".toml", ".md", ".mjs", ".js", ".ts", ".tsx", ".html", ".css", "package.json"];
/// Folders that hold what others wrote, or what was built.
const FOREIGN: [&str; 5] = ["target", "node_modules", "dist", "fixtures", ".git"];

/// The texts of a repository by their path in it.
pub(super) struct House {
    pub(super) files: BTreeMap<String, String>,
}

/// One compilation of a crate: a library, a program, a test binary.
pub(super) struct Target {
    /// The file that it begins with.
    pub(super) root: String,
    /// Its modules by path, as `machine::run`; the root's path is empty.
    pub(super) modules: BTreeMap<String, Module>,
}

/// A module with a file of its own.
pub(super) struct Module {
    pub(super) file: String,
    pub(super) reading: Reading,
}

impl House {
    /// The house that this test belongs to.
    pub(super) fn own() -> Self {
        let root = root();
        let mut files = BTreeMap::new();
        for path in walk(&root, &FOREIGN) {
            let inside = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if ENDINGS.iter().any(|ending| inside.ends_with(ending)) {
                files.insert(inside, fs::read_to_string(&path).unwrap());
            }
        }
        Self { files }
    }

    /// A sample for tests.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        Self { files: files.iter().map(owned).collect() }
    }

    /// The files with one ending.
    pub(super) fn ending<'a>(
        &'a self,
        ending: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        all.filter(move |(path, _)| path.ends_with(ending))
    }

    /// The manifests of all packages, by folder.
    pub(super) fn manifests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ending("/Cargo.toml").map(|(path, text)| (path.trim_end_matches("/Cargo.toml"), text))
    }

    /// Every target of every package, with its modules.
    pub(super) fn targets(&self) -> Vec<Target> {
        let packages = self.manifests().map(|(folder, _)| folder);
        let is_root = |folder: &str, path: &str| {
            let Some(inside) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
            else {
                return false;
            };
            match inside.split('/').collect::<Vec<_>>()[..] {
                ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
                ["src", "bin", name] => name.ends_with(".rs"),
                ["tests" | "benches" | "targets" | "examples", name] => name.ends_with(".rs"),
                ["tests" | "benches", _, "main.rs"] | ["src", "bin", _, "main.rs"] => true,
                _ => false,
            }
        };
        packages
            .flat_map(|folder| {
                let roots = self.ending(".rs").filter(move |(path, _)| is_root(folder, path));
                roots.map(|(root, _)| self.target(root))
            })
            .collect()
    }

    fn target(&self, root: &str) -> Target {
        let mut target = Target { root: root.to_owned(), modules: BTreeMap::new() };
        let mut open = vec![(String::new(), root.to_owned())];
        while let Some((path, file)) = open.pop() {
            let reading = Reading::of(&self.files[&file]);
            for name in &reading.declared {
                if let Some(child) = self.file_of(&file, file == root, name) {
                    open.push((join(&path, name), child));
                }
            }
            target.modules.insert(path, Module { file, reading });
        }
        target
    }

    /// The file of a module that is declared in another.
    fn file_of(&self, parent: &str, is_root: bool, name: &str) -> Option<String> {
        let name = name.replace("::", "/");
        let (folder, file) = parent.rsplit_once('/').unwrap_or(("", parent));
        let folder = if is_root || file == "mod.rs" {
            folder.to_owned()
        } else {
            format!("{folder}/{}", file.trim_end_matches(".rs"))
        };
        [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]
            .into_iter()
            .find(|path| self.files.contains_key(path))
    }
}

/// Whether a package is a workspace of its own, with dependencies and lints of its own.
pub(super) fn is_workspace(manifest: &str) -> bool {
    manifest.lines().any(|line| line == "[workspace]")
}

/// A module path with one step more.
pub(super) fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}::{step}") }
}

/// The repository's folder.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// All files below a folder but those in folders of these names, in order.
pub(super) fn walk(folder: &Path, but: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if !path.is_dir() {
                found.push(path);
            } else if !but.contains(&entry.file_name().to_str().unwrap()) {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_module_tree_follows_the_declarations() {
    let house = House::of(&[
        ("a/Cargo.toml", ""),
        ("a/src/lib.rs", "mod b; mod c; mod inner { mod f; }"),
        ("a/src/b.rs", "pub mod d;"),
        ("a/src/b/d.rs", ""),
        ("a/src/c/mod.rs", "#[cfg(test)] mod e;"),
        ("a/src/c/e.rs", ""),
        ("a/src/inner/f.rs", ""),
        ("a/src/stray.rs", ""),
        ("a/tests/all/main.rs", "mod g;"),
        ("a/tests/all/g.rs", ""),
    ]);
    let targets = house.targets();
    let paths = |target: &Target| target.modules.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(&targets[0]), ["", "b", "b::d", "c", "c::e", "inner::f"]);
    assert_eq!(paths(&targets[1]), ["", "g"]);
}

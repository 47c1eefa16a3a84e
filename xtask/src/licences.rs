//! The notices of what others have made and the packages of the program carry: crates, by the
//! licence files in their sources, and what the modules within the program are made of besides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::TaskError;
use crate::process;
use crate::toolchain::WASI;
use crate::workspace::Workspace;

/// The name of the notices in a package.
pub(crate) const FILE: &str = "THIRD-PARTY.txt";

/// The maximum depth below a crate's root at which its licence files may lie.
const DEPTH: usize = 4;
/// The most bytes of a licence file, and of all notices together.
const LONGEST: u64 = 256 << 10;
const MOST: usize = 4 << 20;

/// The linked code that has no crate's name: its own name, who made it, and its licence.
const BESIDE_CRATES: [(&str, &str, LicenceText); 9] = [
    ("Rust's standard library", "The Rust Project contributors", LicenceText::Mit),
    (
        "QuickJS-ng",
        "2017-2025 Fabrice Bellard, 2017-2024 Charlie Gordon, 2023-2025 Ben Noordhuis, 2023-2025 \
         Saúl Ibarra Corretgé",
        LicenceText::Mit,
    ),
    ("tables of Unicode, in QuickJS-ng", "", LicenceText::Unicode),
    ("wasi-libc", "The wasi-libc authors", LicenceText::Mit),
    ("musl, of which wasi-libc is made", "2005-2020 Rich Felker, et al.", LicenceText::Mit),
    (
        "genai-prices, in the catalogue of models",
        "Pydantic Services Inc. 2025 to present",
        LicenceText::Mit,
    ),
    (
        "pi-catalog, in the catalogue of models",
        "2025-2026 Can Bölük, 2026 Stencil Labs, Inc.",
        LicenceText::Mit,
    ),
    ("models.dev, in the catalogue of models", "2025 models.dev", LicenceText::Mit),
    ("cloudlibc, of which wasi-libc is made", "2015-2017 Nuxi, https://nuxi.nl/", LicenceText::Bsd),
];

/// A licence that is known by heart, or by the crates that have it, too.
#[derive(Clone, Copy)]
enum LicenceText {
    Mit,
    Bsd,
    Unicode,
}

impl LicenceText {
    /// The licence as these have given it.
    fn of(self, holders: &str, notices: &LicenceNotices) -> Option<String> {
        let words = match self {
            Self::Mit => MIT,
            Self::Bsd => BSD,
            Self::Unicode => return notices.known.get(self.name()).cloned(),
        };
        Some(format!("Copyright (c) {holders}\n\n{words}"))
    }

    /// As SPDX has it.
    const fn name(self) -> &'static str {
        match self {
            Self::Mit => "MIT",
            Self::Bsd => "BSD-2-Clause",
            Self::Unicode => "Unicode-3.0",
        }
    }
}

const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the \"Software\"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.";

const BSD: &str = "\
Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:
1. Redistributions of source code must retain the above copyright notice, this
   list of conditions and the following disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice,
   this list of conditions and the following disclaimer in the documentation
   and/or other materials provided with the distribution.

THIS SOFTWARE IS PROVIDED BY THE AUTHOR AND CONTRIBUTORS ``AS IS'' AND ANY
EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE AUTHOR OR CONTRIBUTORS BE LIABLE FOR ANY
DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON
ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.";

/// A crate of somebody else's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ThirdPartyCrate {
    name: String,
    version: String,
    /// The licence as an expression of SPDX, or as older crates write one.
    licence: String,
}

impl ThirdPartyCrate {
    /// From a line of `cargo tree`; nothing for a crate of ours and for what is only run while the
    /// program is built.
    fn read(line: &str) -> Option<Self> {
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split_whitespace();
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // What has a path is ours; what has another word is a macro.
        let is_foreign = words.next().is_none();
        let [name, version, licence] = [name, version, licence].map(str::to_owned);
        is_foreign.then_some(Self { name, version, licence })
    }

    /// Returns where its sources are, by what `cargo metadata` says.
    fn folder(&self, metadata: &str) -> Option<PathBuf> {
        let start = format!("\"name\":\"{}\",\"version\":\"{}\",\"id\"", self.name, self.version);
        let (_, own) = metadata.split_once(&start)?;
        let (_, path) = own.split_once("\"manifest_path\":\"")?;
        let (path, _) = path.split_once('"')?;
        Path::new(&path.replace("\\\\", "\\")).parent().map(Path::to_owned)
    }

    /// Which of its licence files count: those of MIT alone, where that is one of the licences
    /// that it can be had under, and else all.
    fn chosen(&self, files: Vec<PathBuf>, root: &Path) -> Vec<PathBuf> {
        let offers_mit = self.licence.split([' ', '/', '(', ')']).any(|word| word == "MIT")
            && !self.licence.contains(" AND ");
        // A file further below is that of something else within the crate.
        let is_mit = |file: &PathBuf| {
            file.parent() == Some(root) && upper(file).is_some_and(|name| name.contains("MIT"))
        };
        let is_spare = |file: &PathBuf| file.parent() == Some(root) && !is_mit(file);
        let has_mit = offers_mit && files.iter().any(is_mit);
        files.into_iter().filter(|file| !(has_mit && is_spare(file))).collect()
    }
}

/// Writes down the notices of all that the program has from others.
///
/// # Errors
/// When the crates cannot be listed, or one has no licence that could be found.
pub(crate) fn collect(workspace: &Workspace) -> Result<String, TaskError> {
    let crates = crates(workspace)?;
    let mut metadata = workspace.cargo("metadata");
    let metadata =
        process::capture(metadata.args(["--format-version", "1", "--locked", "--quiet"]))?;
    let mut notices = LicenceNotices::default();
    let mut bare = Vec::new();
    for one in &crates {
        let lost = || TaskError(format!("cannot find the sources of {} {}", one.name, one.version));
        let folder = one.folder(&metadata).ok_or_else(lost)?;
        let mut files = Vec::new();
        gather(&folder, DEPTH, &mut files)?;
        files.sort();
        let mut texts = Vec::new();
        let files = one.chosen(files, &folder);
        for file in &files {
            texts.push(text(file)?);
        }
        // What lies further below is of something else within the crate.
        if !files.iter().any(|file| file.parent() == Some(&folder)) {
            bare.push((one, folder));
        }
        texts.into_iter().for_each(|text| notices.add(one, text));
    }
    for (one, folder) in bare {
        let text = notices.missing(one, &folder).ok_or_else(|| {
            let ThirdPartyCrate { name, version, licence } = one;
            TaskError(format!("{name} {version} ({licence}) has no licence file, nor has another"))
        })?;
        notices.add(one, text);
    }
    for (name, holders, licence) in BESIDE_CRATES {
        let text = licence.of(holders, &notices);
        let text = text.ok_or_else(|| TaskError(format!("there is no licence text for {name}")))?;
        notices.texts.entry(text).or_default().insert(name.to_owned());
    }
    let told = notices.told(&crates);
    match told.len() {
        ..=MOST => Ok(told),
        size => Err(TaskError(format!("the notices have {size} bytes, more than {MOST}"))),
    }
}

/// The crates within the program, and within the modules that it carries.
fn crates(workspace: &Workspace) -> Result<BTreeSet<ThirdPartyCrate>, TaskError> {
    let mut crates = BTreeSet::new();
    let parts: [&[&str]; 2] =
        [&["-p", "innerloop-cli"], &["-p", "innerloop-shell", "-p", "innerloop-tools"]];
    for (packages, target) in parts.into_iter().zip([None, Some(WASI)]) {
        let mut tree = workspace.cargo("tree");
        tree.args(["--locked", "--quiet", "--edges", "normal,no-proc-macro", "--prefix", "none"]);
        tree.args(["--format", "{p}|{l}"]).args(packages);
        tree.args(target.map(|target| ["--target", target]).iter().flatten());
        crates.extend(process::capture(&mut tree)?.lines().filter_map(ThirdPartyCrate::read));
    }
    Ok(crates)
}

/// Each text, with the names of those it stands for.
#[derive(Default)]
struct LicenceNotices {
    texts: BTreeMap<String, BTreeSet<String>>,
    /// A text for each licence that a crate has.
    known: BTreeMap<String, String>,
}

impl LicenceNotices {
    fn add(&mut self, one: &ThirdPartyCrate, text: String) {
        self.known.entry(one.licence.clone()).or_insert_with(|| text.clone());
        self.texts.entry(text).or_default().insert(format!("{} {}", one.name, one.version));
    }

    /// The licence of a crate without a file of its own.
    fn missing(&self, one: &ThirdPartyCrate, folder: &Path) -> Option<String> {
        if one.licence.contains("MIT") {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            let authors = authors(&manifest);
            let holders = authors.unwrap_or_else(|| format!("The authors of {}", one.name));
            return LicenceText::Mit.of(&holders, self);
        }
        // A licence without the name of a holder is the same for all.
        self.known.get(&one.licence).cloned()
    }

    fn told(&self, crates: &BTreeSet<ThirdPartyCrate>) -> String {
        let mut told = "Innerloop is made with what others have made. Here is what that is, and \
                        then under which terms it may be used.\n\n"
            .to_owned();
        for ThirdPartyCrate { name, version, licence } in crates {
            // Nothing fails to be written to a text.
            let _ = writeln!(told, "{name} {version}: {licence}");
        }
        for (name, _, licence) in BESIDE_CRATES {
            let _ = writeln!(told, "{name}: {}", licence.name());
        }
        let mut texts: Vec<(&String, &BTreeSet<String>)> = self.texts.iter().collect();
        texts.sort_by_key(|(_, names)| *names);
        for (text, names) in texts {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let line = "=".repeat(80);
            let _ = write!(told, "\n{line}\n{names}\n\n{text}\n");
        }
        told
    }
}

/// The files below a folder that say under which terms something may be used.
fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), TaskError> {
    let unreadable = |error| TaskError(format!("cannot list {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if kind.is_dir() && depth > 0 && !is_beside(&path) {
            gather(&path, depth - 1, files)?;
        } else if kind.is_file() && is_notice(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns whether a folder is no part of what is built.
fn is_beside(folder: &Path) -> bool {
    let names = ["BENCHES", "DOCS", "EXAMPLES", "FUZZ", "TARGET", "TESTS"];
    upper(folder).is_some_and(|name| names.contains(&&*name))
}

fn is_notice(file: &Path) -> bool {
    let starts = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let is_code = file.extension().is_some_and(|end| end == "rs");
    !is_code && upper(file).is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
}

fn upper(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().to_ascii_uppercase())
}

/// A licence file, without what only its editor has put in.
fn text(file: &Path) -> Result<String, TaskError> {
    let unreadable = |why: String| TaskError(format!("cannot read {}: {why}", file.display()));
    let found = fs::metadata(file).map_err(|error| unreadable(error.to_string()))?;
    if found.len() > LONGEST {
        return Err(unreadable(format!("it has more than {LONGEST} bytes")));
    }
    let bytes = fs::read(file).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> =
        text.trim_matches(['\u{feff}', '\n']).lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_end().to_owned())
}

/// The authors that a manifest names, as cargo publishes it: one to a line.
fn authors(manifest: &str) -> Option<String> {
    let (_, list) = manifest.split_once("\nauthors = [")?;
    let (list, _) = list.split_once(']')?;
    let names = list.split(',').map(|name| name.trim().trim_matches('"'));
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Checks that notices name what they must.
///
/// # Errors
/// When they do not.
pub(crate) fn look(notices: &str) -> Result<(), TaskError> {
    let needed = ["wasmtime 48", "ring 0.", "rustls 0.", "bashkit 0.", "QuickJS-ng", "wasi-libc"];
    let texts = [
        "Fabrice Bellard",
        "Mykhailo Chalyi",
        "UNICODE LICENSE V3",
        "Redistributions in binary form",
        "Apache License",
    ];
    match needed.iter().chain(&texts).find(|word| !notices.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(TaskError(format!("{FILE} says nothing of {word}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, licence: &str) -> ThirdPartyCrate {
        let [name, version, licence] = [name, "1.2.3", licence].map(str::to_owned);
        ThirdPartyCrate { name, version, licence }
    }

    #[test]
    fn crates_of_others_are_told_from_ours_and_from_macros() {
        let some = Some(named("some", "MIT OR Apache-2.0"));
        assert_eq!(ThirdPartyCrate::read("some v1.2.3|MIT OR Apache-2.0"), some);
        assert_eq!(ThirdPartyCrate::read("some v1.2.3|MIT OR Apache-2.0 (*)"), some);
        assert_eq!(ThirdPartyCrate::read("derive v1.2.3 (proc-macro)|MIT"), None);
        assert_eq!(ThirdPartyCrate::read("ours v1.2.3 (/home/ours)|MIT"), None);
        assert_eq!(ThirdPartyCrate::read(""), None);
    }

    #[test]
    fn the_sources_are_those_of_that_version() {
        let metadata = r#"[{"name":"some","version":"1.2.2","id":"a","manifest_path":"/old/C"},
            {"name":"some","version":"1.2.3","id":"b","manifest_path":"/new/Cargo.toml"}]"#;
        assert_eq!(named("some", "MIT").folder(metadata), Some(PathBuf::from("/new")));
        assert_eq!(named("other", "MIT").folder(metadata), None);
    }

    #[test]
    fn one_licence_of_several_is_enough_but_not_for_what_lies_within() {
        let root = Path::new("/c");
        let files = || ["LICENSE-APACHE", "LICENSE-MIT", "src/fiat/LICENSE"].map(|f| root.join(f));
        let chosen = |licence| named("c", licence).chosen(files().to_vec(), root);
        assert_eq!(chosen("MIT/Apache-2.0"), files()[1..]);
        assert_eq!(chosen("(Apache-2.0 OR MIT) AND BSD-3-Clause"), files());
        assert_eq!(chosen("Apache-2.0"), files());
    }

    #[test]
    fn a_crate_without_a_file_has_the_licence_that_it_names() {
        let mut notices = LicenceNotices::default();
        let none = Path::new("/there/is/none");
        let llvm = "Apache-2.0 WITH LLVM-exception";
        assert_eq!(notices.missing(&named("bare", llvm), none), None);
        notices.add(&named("whole", llvm), "the text".to_owned());
        assert_eq!(notices.missing(&named("bare", llvm), none).as_deref(), Some("the text"));
        let mit = notices.missing(&named("bare", "MIT"), none);
        assert!(mit.is_some_and(|text| text.starts_with("Copyright (c) The authors of bare\n")));
        let listed = "[package]\nauthors = [\n    \"Ann <a@b>\",\n    \"Bob\",\n]\n";
        assert_eq!(authors(listed).as_deref(), Some("Ann <a@b>, Bob"));
        assert_eq!(authors("[package]\nauthors = []\n"), None);
    }

    #[test]
    fn equal_texts_stand_once_with_all_their_names() {
        let mut notices = LicenceNotices::default();
        let both = [named("a", "MIT"), named("b", "MIT")];
        both.iter().for_each(|one| notices.add(one, "equal".to_owned()));
        let told = notices.told(&both.into());
        assert!(told.contains("\na 1.2.3, b 1.2.3\n\nequal\n"), "{told}");
        assert_eq!(told.matches("equal").count(), 1);
    }
}

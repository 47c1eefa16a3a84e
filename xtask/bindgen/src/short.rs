//! Short names for what a module imports and exports. Only the glue reads them, and the digests
//! that wasm-bindgen puts into them do not compress.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use anyhow::{Error, ensure};
use walrus::{Export, Module};

/// The module name of all imports.
const FROM: &str = "i";
/// The text before each use of an export in the glue.
const USE: &str = "wasm.";
const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// The short names, by the long ones.
#[derive(Default)]
pub(crate) struct ShortNames {
    /// The module names that the imports had: the file of the glue.
    modules: BTreeSet<String>,
    imports: BTreeMap<String, String>,
    exports: BTreeMap<String, String>,
}

/// Gives a module's imports and exports short names. What the glue does not use is no export any
/// more.
pub(crate) fn rename(module: &mut Module, glue: &str) -> ShortNames {
    let mut names = ShortNames::default();
    for (number, import) in module.imports.iter_mut().enumerate() {
        names.modules.insert(mem::replace(&mut import.module, FROM.to_owned()));
        let long = mem::replace(&mut import.name, short(number));
        names.imports.insert(long, import.name.clone());
    }
    let used: BTreeSet<&str> = glue.split(USE).skip(1).map(|rest| split_name(rest).0).collect();
    let exports = module.exports.iter();
    let unused = exports.filter(|export| !used.contains(export.name.as_str()));
    for export in unused.map(Export::id).collect::<Vec<_>>() {
        module.exports.delete(export);
    }
    for (number, export) in module.exports.iter_mut().enumerate() {
        let long = mem::replace(&mut export.name, short(number));
        names.exports.insert(long, export.name.clone());
    }
    names
}

/// The short name with that number: a, b, up to z, then ab, bb and so on.
fn short(mut number: usize) -> String {
    let mut name = String::new();
    loop {
        name.extend(LETTERS.get(number % LETTERS.len()).copied().map(char::from));
        number /= LETTERS.len();
        if number == 0 {
            return name;
        }
    }
}

impl ShortNames {
    /// The glue's JavaScript with the short names.
    ///
    /// # Errors
    /// When an import is not found where it is expected: wasm-bindgen writes other glue.
    pub(crate) fn in_script(&self, glue: &str) -> Result<String, Error> {
        let mut glue = self.behind(USE, glue);
        for long in &self.modules {
            glue = replaced(&glue, &format!("\"{long}\": "), &format!("{FROM}: "))?;
        }
        for (long, short) in &self.imports {
            glue = replaced(&glue, &format!(" {long}: function"), &format!(" {short}: function"))?;
        }
        Ok(glue)
    }

    /// The types of the glue with the short names.
    pub(crate) fn in_types(&self, types: &str) -> String {
        self.behind("readonly ", types)
    }

    /// The text with the short names of the exports that stand behind `mark`.
    fn behind(&self, mark: &str, text: &str) -> String {
        let mut pieces = text.split(mark);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for (long, rest) in pieces.map(split_name) {
            out.extend([mark, self.exports.get(long).map_or(long, String::as_str), rest]);
        }
        out
    }
}

/// A text parted behind the name that it begins with.
fn split_name(text: &str) -> (&str, &str) {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split_at(text.find(|letter| !is_name(letter)).unwrap_or(text.len()))
}

/// The text with `new` for `old`, which must stand there once.
fn replaced(text: &str, old: &str, new: &str) -> Result<String, Error> {
    let count = text.matches(old).count();
    ensure!(count == 1, "{old:?} stands {count} times in the glue, not once");
    Ok(text.replacen(old, new, 1))
}

//! Sensitive files: those that other programs of the user run or obey without being asked, such as
//! `Makefile` or `.vscode/`. A review names each change of one, with the reason. The names are in
//! one table, sorted by program; of manifests only the entries count that are run or obeyed.

mod parts;
mod table;

use std::{collections::HashMap, path::Path, sync::LazyLock};

/// The reason that a review gives for files and folders of a name.
type SensitivityNote = &'static str;

/// The table in a form for looking names up.
#[derive(Debug, Default)]
struct SensitiveNames {
    /// The names of folders, which stand for everything in them, wherever they are.
    folders: HashMap<&'static str, SensitivityNote>,
    /// The names of files, wherever they are.
    files: HashMap<&'static str, SensitivityNote>,
    /// The names of several parts, or with a `*`, and whether they are of folders.
    patterns: Vec<(Vec<&'static str>, bool, SensitivityNote)>,
}

static NAMES: LazyLock<SensitiveNames> = LazyLock::new(|| {
    let mut names = SensitiveNames::default();
    for (name, why) in rows() {
        let (plain, is_folder) = name.strip_suffix('/').map_or((name, false), |name| (name, true));
        // Most of the 1,200 names are plain, and found without comparing them one by one.
        if plain.contains(['/', '*']) {
            names.patterns.push((plain.split('/').collect(), is_folder, why));
        } else {
            let all = if is_folder { &mut names.folders } else { &mut names.files };
            all.entry(plain).or_insert(why);
        }
    }
    names
});

/// Returns each name of the table with its reason.
fn rows() -> impl Iterator<Item = (&'static str, SensitivityNote)> {
    let mut why = "";
    table::TABLE.lines().flat_map(move |line| {
        let mut names = line;
        if let Some((told, rest)) = line.split_once(": ") {
            (why, names) = (told, rest);
        }
        let why = why;
        names.split_whitespace().map(move |name| (name, why))
    })
}

/// Returns why a change of the file should be looked at closely, whatever it holds. Names are
/// compared as the most lenient file systems do: in any case, and without characters they ignore.
pub(super) fn why(path: &Path) -> Option<SensitivityNote> {
    let path = path.to_string_lossy();
    let names: Vec<String> = path.split('/').map(folded).collect();
    let (file, _) = names.split_last()?;
    // The last name counts, too: a link in place of such a folder leads programs to what is in it.
    let folder = || names.iter().find_map(|name| NAMES.folders.get(name.as_str()));
    let plain = folder().or_else(|| NAMES.files.get(file.as_str())).copied();
    plain.or_else(|| {
        let mut patterns = NAMES.patterns.iter();
        patterns.find(|(parts, is_folder, _)| fits(parts, *is_folder, &names)).map(|it| it.2)
    })
}

/// Returns why this change of a manifest should be looked at closely: entries differ that are run
/// or obeyed, such as scripts, and not only versions of dependencies. A missing file is an empty
/// text; `None` stands for what is not a short text.
pub(super) fn why_part(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<SensitivityNote> {
    let name = folded(&path.file_name()?.to_string_lossy());
    parts::why(&name, before, after)
}

/// Returns whether the names of a path end with these parts; for a folder, whether they hold them
/// anywhere.
fn fits(parts: &[&str], is_folder: bool, names: &[String]) -> bool {
    let are = |some: &[String]| parts.iter().zip(some).all(|(part, name)| is_like(part, name));
    let mut places = names.windows(parts.len());
    if is_folder { places.any(are) } else { places.next_back().is_some_and(are) }
}

/// Returns whether a name is like a pattern, in which `*` stands for anything.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return name.ends_with(piece);
        }
        let Some(at) = name.find(piece) else { return false };
        name = name.get(at + piece.len()..).unwrap_or_default();
    }
    true
}

/// Returns a name without the differences that some file system ignores: case, characters that
/// nobody sees, dots and spaces at the end.
fn folded(name: &str) -> String {
    let is_seen = |sign: &char| {
        !matches!(sign, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let seen: String = name.chars().filter(is_seen).collect();
    // Twice, since some lower-case letters share a capital with others: `ſ` and `s`, for example.
    let folded = seen.to_uppercase().to_lowercase();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests;

//! Files that do more than lie there: another program of the user's runs them, or obeys them, as
//! soon as it comes by. Whoever reviews changes is told of them by name.

mod parts;
mod table;

use std::{collections::HashMap, path::Path, sync::LazyLock};

/// The text that is told about files and folders with such a name.
type SensitivityNote = &'static str;

/// The table, for looking up.
#[derive(Debug, Default)]
struct SensitiveNames {
    /// The entries of these names, wherever they are, and all that is in them.
    folders: HashMap<&'static str, SensitivityNote>,
    /// Files of these names, wherever they are.
    files: HashMap<&'static str, SensitivityNote>,
    /// Names of several parts, or with a `*`, and whether they are of folders.
    patterns: Vec<(Vec<&'static str>, bool, SensitivityNote)>,
}

static NAMES: LazyLock<SensitiveNames> = LazyLock::new(|| {
    let mut names = SensitiveNames::default();
    for (name, why) in rows() {
        let (plain, is_folder) = name.strip_suffix('/').map_or((name, false), |name| (name, true));
        if plain.contains(['/', '*']) {
            names.patterns.push((plain.split('/').collect(), is_folder, why));
        } else {
            let all = if is_folder { &mut names.folders } else { &mut names.files };
            all.entry(plain).or_insert(why);
        }
    }
    names
});

/// Each name of the table with what is told of it.
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
/// compared as the most forgiving file systems do: in any case, and without what they leave out.
pub(super) fn why(path: &Path) -> Option<SensitivityNote> {
    let path = path.to_string_lossy();
    let names: Vec<String> = path.split('/').map(folded).collect();
    let (file, _) = names.split_last()?;
    // A link of a folder's name stands for the folder.
    let folder = || names.iter().find_map(|name| NAMES.folders.get(name.as_str()));
    let plain = folder().or_else(|| NAMES.files.get(file.as_str())).copied();
    plain.or_else(|| {
        let mut patterns = NAMES.patterns.iter();
        patterns.find(|(parts, is_folder, _)| fits(parts, *is_folder, &names)).map(|it| it.2)
    })
}

/// Returns why this change of a manifest should be looked at closely, of which only some entries
/// are run or obeyed: scripts, not versions of dependencies. A file that is not there is an empty
/// text.
pub(super) fn why_part(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<SensitivityNote> {
    let name = folded(&path.file_name()?.to_string_lossy());
    parts::why(&name, before, after)
}

/// Returns whether names end with those parts; of a folder, whether they do so anywhere.
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

/// A name without what some file system takes for no difference: cases, characters that nobody
/// sees, dots and blanks at the end.
fn folded(name: &str) -> String {
    let is_seen = |sign: &char| {
        !matches!(sign, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let seen: String = name.chars().filter(is_seen).collect();
    // Some letters have a small one of their own that is not that of their capital one.
    let folded = seen.to_uppercase().to_lowercase();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests;

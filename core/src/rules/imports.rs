//! Imports of instruction files (`docs/decisions.md#project-documents`): other files that a
//! document takes in by a line such as `See @notes/style.md`. The caller reads the files; their
//! text is put behind that of the document.

use alloc::{format, string::String, vec::Vec};
use innerloop_types::path::resolved;

/// The limits on the depth of imports, on the number of files read for one document, and on the
/// length of its whole text in bytes.
// A document of a foreign repository decides what is read, so that its depth, files and bytes are
// bounded. A file that names files that name files grows fast.
const DEPTH: usize = 5;
const MOST_FILES: usize = 32;
const MOST_BYTES: usize = 64 * 1024;

/// The names of documents whose imports are followed.
// Only these formats have imports. In `AGENTS.md` an `@` is an ordinary character.
const NAMES: [&str; 2] = ["CLAUDE.md", "GEMINI.md"];

/// Returns the text of the document at `path`, followed by the files that it imports. `read`
/// returns the text of a file. Files are named from the topmost folder on, with `/` between names.
#[must_use]
pub fn with_imports(
    path: &str,
    text: String,
    read: &mut dyn FnMut(&str) -> Option<String>,
) -> String {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    if !NAMES.contains(&name) {
        return text;
    }
    let mut seen = Vec::from([String::from(path)]);
    let mut out = text.clone();
    follow(path, &text, 1, &mut seen, read, &mut out);
    out
}

fn follow(
    path: &str,
    text: &str,
    depth: usize,
    seen: &mut Vec<String>,
    read: &mut dyn FnMut(&str) -> Option<String>,
    out: &mut String,
) {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for name in named(text) {
        if seen.len() > MOST_FILES || out.len() > MOST_BYTES {
            return;
        }
        let Some(place) = place(folder, name).filter(|place| !seen.contains(place)) else {
            continue;
        };
        // Before it is read: a file that is not there counts as well, since asking for it costs a
        // look at the disk. And imports that go in a circle end here.
        seen.push(place.clone());
        let Some(imported) = read(&place) else { continue };
        out.push_str(&format!("\n\n--- {place}, imported by {path} ---\n{}", imported.trim_end()));
        if depth < DEPTH {
            follow(&place, &imported, depth + 1, seen, read, out);
        }
    }
}

/// Returns the file that is meant; `None` for paths outside of the topmost folder.
fn place(folder: &str, name: &str) -> Option<String> {
    // Paths of the machine and of the user's home are refused: a repository must not pull private
    // files into a prompt.
    let is_foreign = name.starts_with(['/', '~', '\\']) || name.get(1..2) == Some(":");
    if is_foreign { None } else { resolved(folder, name).filter(|place| !place.is_empty()) }
}

/// Returns the names that follow an `@` at the beginning of a word, outside of code.
fn named(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        in_fence ^= is_fence;
        if is_fence || in_fence {
            continue;
        }
        // Every second piece is between backquotes. An `@` in code is a decorator or an annotation,
        // not an import.
        for prose in line.split('`').step_by(2) {
            names.extend(prose.split_whitespace().filter_map(import));
        }
    }
    names
}

/// Returns the name in a word that begins with an `@`.
fn import(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(['(', '[', '"', '\'']);
    let closing = ['.', ',', ';', ':', '!', '?', ')', ']', '"', '\''];
    let name = word.strip_prefix('@')?.trim_end_matches(closing);
    (!name.is_empty() && !name.contains('@')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(path: &str, text: &str, files: &[(&str, &str)]) -> (String, Vec<String>) {
        let mut asked = Vec::new();
        let text = with_imports(path, text.into(), &mut |name| {
            asked.push(String::from(name));
            let found = files.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| String::from(*text))
        });
        (text, asked)
    }

    #[test]
    fn what_a_document_names_stands_behind_it() {
        let files = [("notes/style.md", "Tabs.\n"), ("README", "Read me."), ("web/a.md", "A.")];
        let (text, _) = imported("CLAUDE.md", "See @notes/style.md and (@README).", &files);
        assert_eq!(
            text,
            "See @notes/style.md and (@README).\n\n--- notes/style.md, imported by CLAUDE.md ---\n\
             Tabs.\n\n--- README, imported by CLAUDE.md ---\nRead me."
        );
        let (text, _) = imported("web/CLAUDE.md", "@./a.md @../README", &files);
        assert!(text.contains("A.") && text.contains("Read me."), "{text}");
    }

    #[test]
    fn code_addresses_and_foreign_paths_are_no_imports() {
        let text = "`@a.md` me@example.com @/etc/passwd @~/x @../up.md @C:\\x @ @@x\n\
                    ```\n@b.md\n```\n";
        assert_eq!(imported("CLAUDE.md", text, &[]).1, [""; 0]);
        assert_eq!(imported("AGENTS.md", "@a.md", &[("a.md", "A")]).0, "@a.md");
    }

    #[test]
    fn imports_are_followed_five_levels_and_never_in_a_circle() {
        let files = [
            ("1.md", "@2.md"),
            ("2.md", "@3.md @1.md @CLAUDE.md"),
            ("3.md", "@4.md"),
            ("4.md", "@5.md"),
            ("5.md", "@6.md"),
            ("6.md", "too deep"),
        ];
        let (text, asked) = imported("CLAUDE.md", "@1.md @1.md", &files);
        assert_eq!(asked, ["1.md", "2.md", "3.md", "4.md", "5.md"]);
        assert!(!text.contains("too deep"));
    }

    #[test]
    fn imports_are_bounded() {
        let mut asked = 0;
        let names: String = (0..10_000).map(|n| format!("@{n}.md ")).collect();
        let text = with_imports("CLAUDE.md", names.clone(), &mut |_| {
            asked += 1;
            Some("x".repeat(10_000))
        });
        assert!(asked <= MOST_FILES && text.len() < names.len() + 7 * 11_000, "{asked}");
    }
}

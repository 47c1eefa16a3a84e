//! What goes to the model beside the prompt: pictures, PDFs, texts, named by an option or mentioned
//! in the prompt. What a file is, its first bytes say, not its name.

use super::exit::Failure;
use crate::workspace::Workspace;
use base64ct::{Base64, Encoding as _};
use innerloop_core::message::Part;
use std::{
    fs::{self, File},
    io::Read as _,
    iter::successors,
    path::Path,
};

/// Most bytes of one file. Providers take less in a whole request than many such files.
const MOST_BYTES: u64 = 20 << 20;

/// Most bytes of a text that is attached because it is mentioned. The model reads a longer one with
/// its own tools, as far as it needs it.
const MOST_MENTIONED_TEXT: usize = 256 << 10;

/// Most files that are attached because they are mentioned, and most bytes of them all.
const MOST_MENTIONED: usize = 32;
const MOST_MENTIONED_BYTES: usize = 32 << 20;

/// Most places in a prompt that are looked at.
const MOST_MARKS: usize = 1_000;

/// Most characters that are taken off the end of what may be a name.
const MOST_CLOSING: usize = 8;

/// What may stand before a mention beside a space, and what may stand behind it.
const OPENING: [char; 6] = ['(', '[', '{', '<', '\'', '`'];
const CLOSING: [char; 13] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '\'', '`', '"'];

/// Reads what the user has named: addresses of pictures, and files.
///
/// # Errors
/// A file that can't be read, is too large, or holds what no model takes.
pub(super) fn read(named: &[String]) -> Result<Vec<Part>, Failure> {
    named.iter().map(|name| part(name)).collect()
}

fn part(name: &str) -> Result<Part, Failure> {
    if name.starts_with("https://") || name.starts_with("http://") {
        return Ok(Part::ImageUrl { url: name.to_owned() });
    }
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("--attach {name}: {why}"));
    let mut bytes = Vec::new();
    let found = fs::metadata(name).map_err(|error| unusable(&error))?;
    if !found.is_file() {
        return Err(unusable(&"it is no file"));
    }
    let file = File::open(name).map_err(|error| unusable(&error))?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unusable(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(unusable(&"it has more than 20 MiB"));
    }
    let last = last_name(name);
    if let Some(part) = binary(&bytes, &last) {
        return Ok(part);
    }
    match text(bytes) {
        Some(text) => Ok(named_text(&last, &text)),
        None => Err(unusable(&"it is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF nor text")),
    }
}

/// The files of the workspace that a prompt mentions, as `@src/main.rs` or `@"with space.png"`, in
/// the order in which they are mentioned, each once: pictures, PDFs, and texts that are not too
/// long. What names no such file is no mention, and the prompt stays as it is in any case. Links
/// that lead out of the workspace are not followed.
pub(super) fn mentions(prompt: &str, workspace: &Workspace) -> Vec<Part> {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    let mut left = MOST_MENTIONED_BYTES;
    for names in marked(prompt).take(MOST_MARKS) {
        if parts.len() == MOST_MENTIONED {
            break;
        }
        let most = left.min(usize::try_from(MOST_BYTES).unwrap_or(usize::MAX));
        let read = |name| Some((name, workspace.read(name, most as u64)?));
        let Some((name, bytes)) = names.into_iter().find_map(read) else { continue };
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let size = bytes.len();
        if let Some(part) = mentioned(name, bytes) {
            left = left.saturating_sub(size);
            parts.push(part);
        }
    }
    parts
}

fn mentioned(name: &str, bytes: Vec<u8>) -> Option<Part> {
    if let Some(part) = binary(&bytes, &last_name(name)) {
        return Some(part);
    }
    if bytes.len() > MOST_MENTIONED_TEXT {
        return None;
    }
    Some(named_text(name, &text(bytes)?))
}

/// For each `@` that may begin a mention, what may be the file's name, the longest first.
fn marked(prompt: &str) -> impl Iterator<Item = Vec<&str>> {
    prompt.match_indices('@').filter_map(|(at, _)| {
        let before = prompt.get(..at)?.chars().next_back();
        if !before.is_none_or(|before| before.is_whitespace() || OPENING.contains(&before)) {
            return None;
        }
        let rest = prompt.get(at + 1..)?;
        if let Some(quoted) = rest.strip_prefix('"') {
            return quoted.split_once(['"', '\n']).map(|(name, _)| vec![name]);
        }
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        let names = successors(Some(name), |name| name.strip_suffix(CLOSING));
        let names = names.filter(|name| !name.is_empty()).take(MOST_CLOSING);
        (!name.is_empty()).then(|| names.collect())
    })
}

fn last_name(name: &str) -> String {
    Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A picture or a PDF, called `name`.
fn binary(bytes: &[u8], name: &str) -> Option<Part> {
    if let Some(media_type) = picture(bytes) {
        let (media_type, data) = (media_type.to_owned(), Base64::encode_string(bytes));
        return Some(Part::Image { media_type, data });
    }
    if !bytes.starts_with(b"%PDF-") {
        return None;
    }
    let (media_type, data) = ("application/pdf".to_owned(), Base64::encode_string(bytes));
    Some(Part::File { media_type, name: name.to_owned(), data })
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn named_text(name: &str, text: &str) -> Part {
    Part::text(format!("{name}:\n\n{text}"))
}

/// The type of a picture that models take.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prompt: &str) -> Vec<Vec<&str>> {
        marked(prompt).collect()
    }

    #[test]
    fn what_may_be_a_mention() {
        assert_eq!(names("@a.rs"), [["a.rs"]]);
        let prompt = "See @a.rs, (@b.rs) and @\"with space.png\"!";
        let all = [vec!["a.rs,", "a.rs"], vec!["b.rs)", "b.rs"], vec!["with space.png"]];
        assert_eq!(names(prompt), all);
        for none in ["me@example.com", "a@b @", "@ x", "@\"open", "@\"open\nline\"", "x"] {
            let all = names(none);
            let is_name = |name: &&str| !name.is_empty() && *name != "open";
            assert!(!all.iter().flatten().any(is_name), "{none}: {all:?}");
        }
        assert_eq!(names(&format!("@a{}", ".".repeat(1_000)))[0].len(), MOST_CLOSING);
    }

    #[test]
    fn files_of_the_workspace_are_attached_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("w")).unwrap();
        fs::create_dir(path("w/src")).unwrap();
        fs::write(path("secret.txt"), "secret").unwrap();
        fs::write(path("w/src/a.rs"), "fn a() {}").unwrap();
        fs::write(path("w/with space.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        fs::write(path("w/paper.pdf"), "%PDF-1.7").unwrap();
        fs::write(path("w/binary"), [0xff, 0]).unwrap();
        fs::write(path("w/long.txt"), "x".repeat(MOST_MENTIONED_TEXT + 1)).unwrap();
        std::os::unix::fs::symlink("../secret.txt", path("w/out")).unwrap();
        std::os::unix::fs::symlink("src/a.rs", path("w/in")).unwrap();
        let workspace = Workspace::open(path("w")).unwrap();
        let prompt = format!(
            "@src/a.rs @src/a.rs. @\"with space.png\" @paper.pdf, @in @binary @long.txt @out @src \
             @none @../secret.txt @{}",
            path("secret.txt").display()
        );
        let parts = mentions(&prompt, &workspace);
        let a = |name: &str| Part::text(format!("{name}:\n\nfn a() {{}}"));
        let [first, image, file, last] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!((first, last), (&a("src/a.rs"), &a("in")));
        assert!(matches!(image, Part::Image { media_type, .. } if media_type == "image/png"));
        assert!(matches!(file, Part::File { name, .. } if name == "paper.pdf"));
        let again = "@src/a.rs ".repeat(10_000);
        assert_eq!(mentions(&again, &workspace).len(), 1);
    }
}

//! The attachments of a prompt: pictures, PDFs and texts that an option names or the prompt
//! mentions. A file's kind is told by its first bytes, not by its name. A mention is a guess, so
//! that it never fails the prompt, is bounded, and sends no text from outside of the workspace.

use super::{exit::CliError, number_format::counted};
use base64ct::{Base64, Encoding as _};
use innerloop_core::message::Part;
use innerloop_workspace::{Workspace, plain_file};
use std::{
    env, fs,
    io::{self, Read as _},
    iter::successors,
    path::{Path, PathBuf},
};

/// The most bytes of one file. Providers accept fewer in a whole request than many such files.
const MOST_BYTES: u64 = 20 << 20;

/// The most bytes of a text that is attached because it is mentioned. The model reads a longer one
/// with its own tools, as far as it needs it.
const MOST_MENTIONED_TEXT: usize = 256 << 10;

/// The most files that are attached because they are mentioned, and the most bytes of all of them.
const MOST_MENTIONED: usize = 32;
const MOST_MENTIONED_BYTES: usize = 32 << 20;

/// The most lines about files that are not attached.
const MOST_TOLD: usize = 8;

/// The message about a file that no model takes.
const NO_PART: &str = "it is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF nor text";

/// The most mentions in a prompt that are looked at.
const MOST_MARKS: usize = 1_000;

/// The most readings of a name, each with one more punctuation mark taken off its end.
const MOST_CLOSING: usize = 8;

/// The characters that may precede a mention, besides white space, and those that may follow it.
const OPENING: [char; 6] = ['(', '[', '{', '<', '\'', '`'];
const CLOSING: [char; 13] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '\'', '`', '"'];

/// Reads the attachments of `--attach`: addresses of pictures, and files.
///
/// # Errors
/// A file that can't be read, is too large, or is of a kind that no model takes.
pub(super) fn read(named: &[String]) -> Result<Vec<Part>, CliError> {
    let part = |name: &String| {
        part(name).map_err(|why| CliError::usage(format!("--attach {name}: {why}")))
    };
    named.iter().map(part).collect()
}

/// Reads a file, or takes the address of a picture, as a part of an input.
///
/// # Errors
/// The reason why it can't be attached, for people.
pub(super) fn part(name: &str) -> Result<Part, String> {
    if name.starts_with("https://") || name.starts_with("http://") {
        return Ok(Part::ImageUrl { url: name.to_owned() });
    }
    let bytes = whole(Path::new(name))?;
    let last = last_name(name);
    if let Some(part) = binary(&bytes, &last) {
        return Ok(part);
    }
    match text(bytes) {
        Some(text) => Ok(named_text(&last, &text)),
        None => Err(NO_PART.to_owned()),
    }
}

/// Reads a file, wherever it is, if it is not too large.
fn whole(path: &Path) -> Result<Vec<u8>, String> {
    let told = |error: io::Error| error.to_string();
    if !fs::metadata(path).map_err(told)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = plain_file::open(path).map_err(told)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("it has more than 20 MiB".to_owned());
    }
    Ok(bytes)
}

/// The files that a prompt mentions: the parts that go with it, and lines about them for people.
#[derive(Debug, Default)]
pub(super) struct MentionedFiles {
    pub(super) parts: Vec<Part>,
    /// The files that are attached, one line for each.
    pub(super) attached: Vec<String>,
    /// The files that are not attached, with the reasons.
    pub(super) missed: Vec<String>,
}

/// The places in which mentioned files may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionScope {
    /// In the workspace.
    Workspace,
    /// Pictures and PDFs anywhere, since a person at a terminal sees which files are attached.
    Anywhere,
}

/// Reads the files that a prompt mentions, as `@src/main.rs` or `@"with space.png"`, in the order
/// of their mentions, each once: pictures, PDFs, and texts that are not too long. The prompt itself
/// is not changed. Links that lead out of the workspace are not followed.
pub(super) fn mentions(prompt: &str, workspace: &Workspace, reach: MentionScope) -> MentionedFiles {
    let mut seen: Vec<&str> = Vec::new();
    let mut mentions = MentionedFiles::default();
    let mut left = MOST_MENTIONED_BYTES;
    for names in marked(prompt).take(MOST_MARKS) {
        let is_there = |name: &&str| is_named(name, workspace);
        let Some(name) = names.iter().copied().find(is_there).or(names.last().copied()) else {
            continue;
        };
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let found = if mentions.parts.len() == MOST_MENTIONED {
            Err(format!("no more than {MOST_MENTIONED} files go with a prompt"))
        } else {
            mentioned(name, workspace, reach, left)
        };
        match found {
            Ok((part, size)) => {
                left = left.saturating_sub(size);
                mentions.attached.push(format!("attached: {name} ({})", bytes(size)));
                mentions.parts.push(part);
            }
            Err(why) => mentions.missed.push(format!("@{name} is not attached: {why}")),
        }
    }
    let more = mentions.missed.len().saturating_sub(MOST_TOLD);
    if more > 1 {
        mentions.missed.truncate(MOST_TOLD);
        mentions.missed.push(format!("… and {more} others are not attached"));
    }
    mentions
}

/// Returns whether a file of that name exists, in the workspace or outside of it.
fn is_named(name: &str, workspace: &Workspace) -> bool {
    !workspace.is_free(name) && workspace.real_path(name).is_some()
        || on_disk(name, workspace).is_some()
}

/// Returns the file that a name means if it lies outside of the workspace.
fn outside(name: &str, workspace: &Workspace) -> Option<PathBuf> {
    on_disk(name, workspace).filter(|real| !real.starts_with(workspace.root()))
}

/// Returns an absolute name relative to the workspace's root, if it leads into the workspace. The
/// agent knows its files by those names.
fn within(name: &str, workspace: &Workspace) -> Option<String> {
    let real = on_disk(name, workspace).filter(|_| name.starts_with(['/', '~']))?;
    Some(real.strip_prefix(workspace.root()).ok()?.to_str()?.to_owned())
}

/// Returns the real path of a name on this machine, if it exists.
fn on_disk(name: &str, workspace: &Workspace) -> Option<PathBuf> {
    let path = match name.strip_prefix("~/") {
        Some(rest) => PathBuf::from(env::var_os("HOME")?).join(rest),
        None => workspace.root().join(name),
    };
    fs::canonicalize(path).ok()
}

/// Reads a mentioned file as a part; also returns its size in bytes.
///
/// # Errors
/// The reason why it is not attached, for people.
fn mentioned(
    name: &str,
    workspace: &Workspace,
    reach: MentionScope,
    left: usize,
) -> Result<(Part, usize), String> {
    let most = u64::try_from(left).unwrap_or(u64::MAX).min(MOST_BYTES);
    let inner = within(name, workspace);
    let name = inner.as_deref().unwrap_or(name);
    let Some(bytes) = workspace.read(name, most) else {
        return match outside(name, workspace) {
            Some(path) => from_outside(&path, reach),
            None => Err(unread(name, workspace, most)),
        };
    };
    let size = bytes.len();
    if let Some(part) = binary(&bytes, &last_name(name)) {
        return Ok((part, size));
    }
    if size > MOST_MENTIONED_TEXT {
        return Err(format!(
            "a text of more than {} is left to the agent's own tools",
            self::bytes(MOST_MENTIONED_TEXT)
        ));
    }
    match text(bytes) {
        Some(text) => Ok((named_text(name, &text), size)),
        None => Err(NO_PART.to_owned()),
    }
}

/// Reads a picture or a PDF that lies outside of the workspace. A text from there takes an explicit
/// command.
fn from_outside(path: &Path, reach: MentionScope) -> Result<(Part, usize), String> {
    const OUTSIDE: &str = "it is outside of the folder";
    if reach == MentionScope::Workspace {
        return Err(format!("{OUTSIDE}; -i FILE sends it"));
    }
    let bytes = whole(path).map_err(|why| format!("{OUTSIDE}, and {why}"))?;
    let size = bytes.len();
    match binary(&bytes, &last_name(&path.to_string_lossy())) {
        Some(part) => Ok((part, size)),
        None => Err(format!("{OUTSIDE}; /attach FILE sends it")),
    }
}

/// Returns the reason why a file of the workspace was not read.
fn unread(name: &str, workspace: &Workspace, most: u64) -> String {
    if workspace.is_free(name) {
        return "there is no such file in the folder".to_owned();
    }
    if workspace.folder(name).is_some() {
        return "it is a folder, which the agent looks into itself".to_owned();
    }
    if workspace.read(name, MOST_BYTES).is_some() {
        let all = MOST_MENTIONED_BYTES >> 20;
        return format!("all mentioned files together have more than {all} MiB");
    }
    match most {
        MOST_BYTES => "it can't be read, or has more than 20 MiB".to_owned(),
        _ => "it can't be read, or is too large".to_owned(),
    }
}

/// Returns a number of bytes as people read it.
fn bytes(count: usize) -> String {
    match count {
        0..1_024 => counted(count as u64, "byte"),
        1_024..1_048_576 => format!("{} KiB", count.div_ceil(1_024)),
        _ => format!("{}.{} MiB", count >> 20, ((count & 0xf_ffff) * 10) >> 20),
    }
}

/// Returns, for each `@` that may begin a mention, the possible names of the file, the longest
/// first: a full stop may end the sentence or be part of the name.
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

/// Returns the part for a picture or a PDF, called `name`.
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
    // Binary files can be valid UTF-8, but rarely without a zero byte.
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn named_text(name: &str, text: &str) -> Part {
    Part::text(format!("{name}:\n\n{text}"))
}

/// Returns the media type of a picture that models take.
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
        fs::write(path("out.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        fs::write(path("w/src/a.rs"), "fn a() {}").unwrap();
        fs::write(path("w/with space.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        fs::write(path("w/paper.pdf"), "%PDF-1.7").unwrap();
        fs::write(path("w/binary"), [0xff, 0]).unwrap();
        fs::write(path("w/long.txt"), "x".repeat(MOST_MENTIONED_TEXT + 1)).unwrap();
        std::os::unix::fs::symlink("../secret.txt", path("w/out")).unwrap();
        std::os::unix::fs::symlink("src/a.rs", path("w/in")).unwrap();
        let workspace = Workspace::open(path("w")).unwrap();
        let secret = path("secret.txt").display().to_string();
        let prompt = format!(
            "@src/a.rs @src/a.rs. @\"with space.png\" @paper.pdf, @in @binary @long.txt @out @src \
             @none.rs, @../secret.txt @../out.png @{secret}"
        );
        let MentionedFiles { parts, attached, missed } =
            mentions(&prompt, &workspace, MentionScope::Workspace);
        let a = |name: &str| Part::text(format!("{name}:\n\nfn a() {{}}"));
        let [first, image, file, last] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!((first, last), (&a("src/a.rs"), &a("in")));
        assert!(matches!(image, Part::Image { media_type, .. } if media_type == "image/png"));
        assert!(matches!(file, Part::File { name, .. } if name == "paper.pdf"));
        let told = [
            "attached: src/a.rs (9 bytes)",
            "attached: with space.png (8 bytes)",
            "attached: paper.pdf (8 bytes)",
            "attached: in (9 bytes)",
        ];
        assert_eq!(attached, told);
        let outside = "it is outside of the folder; -i FILE sends it";
        let told = [
            format!("@binary is not attached: {NO_PART}"),
            "@long.txt is not attached: a text of more than 256 KiB is left to the agent's own \
             tools"
                .to_owned(),
            format!("@out is not attached: {outside}"),
            "@src is not attached: it is a folder, which the agent looks into itself".to_owned(),
            "@none.rs is not attached: there is no such file in the folder".to_owned(),
            format!("@../secret.txt is not attached: {outside}"),
            format!("@../out.png is not attached: {outside}"),
            format!("@{secret} is not attached: {outside}"),
        ];
        assert_eq!(missed, told);
        let inside = path("w/src/a.rs").display().to_string();
        let whole = mentions(&format!("@{inside}"), &workspace, MentionScope::Workspace);
        assert_eq!(whole.parts, [a("src/a.rs")], "the whole path means the same file");
        // In a conversation a picture may come from anywhere, a text may not.
        let picture = path("out.png").display().to_string();
        let typed = format!("@{picture} @{secret}");
        let MentionedFiles { parts, missed, .. } =
            mentions(&typed, &workspace, MentionScope::Anywhere);
        assert!(matches!(&parts[..], [Part::Image { .. }]), "{parts:?}");
        let told = "it is outside of the folder; /attach FILE sends it";
        assert_eq!(missed, [format!("@{secret} is not attached: {told}")]);

        let again = "@src/a.rs ".repeat(10_000);
        assert_eq!(mentions(&again, &workspace, MentionScope::Workspace).parts.len(), 1);
        let many: String = (0..100).map(|n| format!("@none{n} ")).collect();
        let missed = mentions(&many, &workspace, MentionScope::Workspace).missed;
        assert_eq!(missed.len(), MOST_TOLD + 1);
        assert_eq!(missed.last().unwrap(), "… and 92 others are not attached");
    }
}

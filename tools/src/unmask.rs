//! The way back from masks to secrets: where a file has the secret that a mask in new text stands
//! for, the secret is written (`docs/decisions.md#secrets`). That takes the file at hand and no
//! state; a mask of another file stays a mask, and the result says so.

use crate::encoding::decode;
use innerloop_types::{
    action::{FilePatch, HunkLine},
    secret::{FileSecrets, SecretScanner},
};
use std::{borrow::Cow, fmt::Write};

/// The secrets of a file that masks in new text stand for.
#[derive(Default)]
pub(crate) struct MaskResolver(Option<FileSecrets>);

impl MaskResolver {
    /// Looks for the secrets in `file` that masks in `texts` stand for; without a salt, texts stay
    /// as they are.
    pub(crate) fn new(
        salt: Option<u64>,
        file: &[u8],
        texts: &mut dyn Iterator<Item = &str>,
    ) -> Self {
        let Some(salt) = salt else { return Self(None) };
        let file = decode(file).map(|(text, _)| text).unwrap_or_default();
        Self(Some(FileSecrets::find(&SecretScanner::new(salt, &[]), &file, texts)))
    }

    /// Returns a text with the secrets in the place of their masks.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.as_ref().map_or(Cow::Borrowed(text), |secrets| secrets.unmasked(text))
    }

    /// Returns the number of masks that stand for nothing in the file.
    pub(crate) fn unknown(&self) -> usize {
        self.0.as_ref().map_or(0, FileSecrets::unknown)
    }

    /// Returns the change of a file with the secrets in the place of their masks.
    pub(crate) fn patch(&self, file: &FilePatch) -> FilePatch {
        let mut file = file.clone();
        let unmask = |text: &mut String| {
            if let Cow::Owned(unmasked) = self.text(text) {
                *text = unmasked;
            }
        };
        match &mut file {
            FilePatch::Add { content, .. } => unmask(content),
            FilePatch::Update { hunks, .. } => {
                for hunk in hunks {
                    hunk.hints.iter_mut().for_each(unmask);
                    for line in &mut hunk.lines {
                        let (HunkLine::Context(text)
                        | HunkLine::Removed(text)
                        | HunkLine::Added(text)) = line;
                        unmask(text);
                    }
                }
            }
            FilePatch::Delete { .. } => {}
        }
        file
    }
}

/// Returns the texts of a change of a file.
pub(crate) fn texts(file: &FilePatch) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    match file {
        FilePatch::Add { content, .. } => texts.push(content),
        FilePatch::Update { hunks, .. } => {
            for hunk in hunks {
                hunk.hints.iter().for_each(|hint| texts.push(hint));
                hunk.lines.iter().for_each(|line| texts.push(line.text()));
            }
        }
        FilePatch::Delete { .. } => {}
    }
    texts
}

/// Appends how many masks were written as they are.
pub(crate) fn append_unknown(unknown: usize, message: &mut String) {
    // Writing to a string cannot fail.
    let _ = match unknown {
        0 => Ok(()),
        1 => message.write_str(
            " One mask stands for no secret that the file has, and was written as it is.",
        ),
        _ => write!(
            message,
            " {unknown} masks stand for no secret that the file has, and were written as they are."
        ),
    };
}

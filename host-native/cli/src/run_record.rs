//! The result record of a run, the last line of `--json`. Its fields are part of the interface.

use innerloop_core::{action::ChangeKind, message::Usage};
use innerloop_json::{Json, ToJson};
use innerloop_workspace::{FileChange, FileState};

/// The result of a run.
#[derive(ToJson)]
pub(super) struct RunRecord<'a> {
    #[json(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) exit_code: u8,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    pub(super) text: &'a str,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<&'a Json>,
    #[json(skip_serializing_if = "<[DeniedCall]>::is_empty")]
    pub(super) denied: &'a [DeniedCall],
    pub(super) turns: u32,
    pub(super) tool_calls: u32,
    pub(super) usage: Usage,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) cost_nano_usd: Option<u64>,
    pub(super) files: Vec<FileRecord<'a>>,
    pub(super) files_truncated: bool,
    pub(super) applied: bool,
    pub(super) diff: &'a str,
    pub(super) duration_ms: u64,
}

/// A call that needed a yes, which nobody was there to give.
#[derive(Clone, Debug, PartialEq, Eq, ToJson)]
pub(super) struct DeniedCall {
    pub(super) name: String,
    /// The beginning of the call's arguments.
    pub(super) arguments: String,
    /// The call in words, for people.
    #[json(skip)]
    pub(super) told: String,
}

/// A file that was changed, or opened for that.
#[derive(ToJson)]
pub(super) struct FileRecord<'a> {
    pub(super) path: &'a str,
    pub(super) kind: ChangeKind,
    /// True if it was opened for writing and has the same content as before.
    #[json(skip_serializing_if = "is_false")]
    pub(super) same: bool,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<ContentSummary>,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<ContentSummary>,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<&'static str>,
}

/// A summary of content that the diff does not show.
#[derive(ToJson)]
pub(super) struct ContentSummary {
    pub(super) bytes: u64,
    #[json(skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

impl<'a> FileRecord<'a> {
    pub(super) fn of(file: &'a FileChange) -> Self {
        let content = |state: &FileState| match state {
            FileState::Opaque { size, digest, .. } => Some(ContentSummary {
                bytes: *size,
                sha256: digest.map(|digest| digest.to_string()),
            }),
            _ => None,
        };
        let (path, kind, same) = (file.path.as_str(), file.kind(), file.is_same());
        let (before, after) = (content(&file.before), content(&file.after));
        Self { path, kind, same, before, after, notice: file.notice() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the derived code passes fields so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

//! What tools do, and what comes of it.

use super::{
    message::{opaque, parts},
    visitor::{Visitor, one_of_each},
};
use innerloop_core::action::{
    Action, ChangeKind, DeniedBy, GrepLayout, GrepMode, GrepQuery, HiddenFiles, LineNumbering,
    ListStyle, NoticePosition, Outcome, Part, ReportedChange, ToolError,
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    let numberings: Vec<LineNumbering> = one_of_each!(LineNumbering: None, Pipe, Tab);
    visitor.visit_read("LineNumbering", &numberings);
    let notices: Vec<NoticePosition> = one_of_each!(NoticePosition: Below, Above);
    visitor.visit_read("NoticePosition", &notices);
    let hidden: Vec<HiddenFiles> = one_of_each!(HiddenFiles: Ignored, Nothing);
    visitor.visit_read("HiddenFiles", &hidden);
    let styles: Vec<ListStyle> = one_of_each!(ListStyle: Slash, Tag);
    visitor.visit_read("ListStyle", &styles);
    let layouts: Vec<GrepLayout> = one_of_each!(GrepLayout: Lines, ByFile);
    visitor.visit_read("GrepLayout", &layouts);
    let modes: Vec<GrepMode> = one_of_each!(GrepMode: Content, FilesWithMatches, Count);
    visitor.visit_read("GrepMode", &modes);
    visitor.visit_read("Action", &[actions(), plain_actions()].concat());
    visitor.visit_read("ToolError", &tool_errors());
    let deniers: Vec<DeniedBy> = one_of_each!(DeniedBy: Person, Nobody, Hook, Options);
    visitor.visit_read("DeniedBy", &deniers);
    let kinds: Vec<ChangeKind> = one_of_each!(ChangeKind: Created, Modified, Deleted);
    let changes: Vec<ReportedChange> = kinds.into_iter().map(change).collect();
    visitor.visit_read("ReportedChange", &changes);
    visitor.visit_read("Outcome", &[Outcome::default(), outcome()]);
}

pub(super) fn outcome() -> Outcome {
    let mut parts = parts();
    parts.insert(1, Part::text("warning\n"));
    Outcome {
        parts,
        streams: true,
        error: Some(ToolError::Exit),
        denied_by: Some(DeniedBy::Nobody),
        exit: Some(-1),
        count: Some(3),
        duration_ms: Some(1_500),
        timed_out: true,
        changes: vec![change(ChangeKind::Modified)],
        digests: vec!["cbf29ce484222325".into()],
        capped_at_source: true,
        secrets: vec!["github".into()],
        details: Some(Box::new(opaque())),
    }
}

pub(super) fn actions() -> Vec<Action> {
    one_of_each!(Action:
        Read {
            path: "a.txt".into(),
            offset: Some(2),
            limit: Some(10),
            numbering: LineNumbering::Pipe,
            line_chars: Some(2_000),
            notice: NoticePosition::Above,
        },
        ViewImage { path: "a.png".into() },
        ReadMany {
            include: vec!["src/**/*.ts".into()],
            exclude: vec!["*.test.ts".into()],
            flat: true,
            hidden: HiddenFiles::Nothing,
        },
        Write { path: "a.txt".into(), content: "new\n".into(), salt: Some(7) },
        Edit { path: "a.txt".into(), old: "a".into(), new: "b".into(), all: true, salt: Some(7) },
        Patch { patch: "*** Begin Patch\n*** End Patch".into(), salt: Some(7) },
        List {
            path: Some("src".into()),
            depth: 2,
            ignore: vec!["*.o".into()],
            hidden: HiddenFiles::Ignored,
            style: ListStyle::Tag,
        },
        Glob {
            pattern: "**/*.rs".into(),
            path: Some("src".into()),
            ignore_case: true,
            max_results: Some(7),
            hidden: HiddenFiles::Nothing,
        },
        Grep(grep()),
        RunProgram {
            program: "qjs".into(),
            args: vec!["-m".into(), "test.mjs".into()],
            stdin: Some("input".into()),
        },
        Shell { command: "ls -l | wc".into(), folder: Some("src".into()) },
        Fetch {
            urls: vec!["https://example.com/".into()],
            prompt: Some("What is it?".into()),
        },
    )
}

fn grep() -> GrepQuery {
    GrepQuery {
        pattern: "fn .*\\(".into(),
        path: Some("src".into()),
        glob: Some("*.rs".into()),
        file_type: Some("rust".into()),
        unless: Some("^//".into()),
        mode: GrepMode::Count,
        layout: GrepLayout::ByFile,
        before: 1,
        after: 2,
        offset: 3,
        max_results: Some(4),
        max_per_file: Some(5),
        hidden: HiddenFiles::Nothing,
        ignore_case: true,
        literal: true,
        multiline: true,
        only_matching: true,
        unnumbered: true,
    }
}

/// Actions without what may be absent.
fn plain_actions() -> Vec<Action> {
    let (path, hidden) = (None, HiddenFiles::Nothing);
    let include = vec!["*.txt".into()];
    vec![
        Action::read("a.txt", None, LineNumbering::None),
        Action::ReadMany {
            include,
            exclude: Vec::new(),
            flat: false,
            hidden: HiddenFiles::Ignored,
        },
        Action::write("a.txt", ""),
        Action::patch("*** Begin Patch\n*** End Patch"),
        Action::List { path, depth: 1, ignore: Vec::new(), hidden, style: ListStyle::Slash },
        Action::glob("*", None),
        Action::Grep(GrepQuery { pattern: "x".into(), ..GrepQuery::default() }),
        Action::RunProgram { program: "qjs".into(), args: Vec::new(), stdin: None },
        Action::Shell { command: "ls".into(), folder: None },
        Action::Fetch { urls: Vec::new(), prompt: None },
    ]
}

fn tool_errors() -> Vec<ToolError> {
    one_of_each!(open ToolError:
        NotFound, PermissionDenied, EditConflict, InvalidArguments, UnknownTool, WrongFileType,
        Binary, TooLarge, Exit, Timeout, Denied, Interrupted, Limit, Io, Crashed,
    )
}

fn change(kind: ChangeKind) -> ReportedChange {
    let text = |is_there: bool| is_there.then(|| "text\n".into());
    let (before, after) = (kind != ChangeKind::Created, kind != ChangeKind::Deleted);
    ReportedChange { path: "src/a.txt".into(), kind, before: text(before), after: text(after) }
}

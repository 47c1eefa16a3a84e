//! What is said: parts, blocks, turns, and how much it cost.

use super::visitor::{Visitor, one_of_each};
use innerloop_core::{
    config::{Origin, WireKind},
    id::EndpointId,
    json::Json,
    message::{
        Block, CallDetail, Finish, Fold, FoldKind, Leaving, LeftOut, MarkedText, Part, PartPlace,
        Reasoning, Reply, Said, ToolCall, ToolResult, Turn, TurnKind, Usage, Why,
    },
    time::UnixMillis,
};
use std::{borrow::Cow, sync::Arc};

pub(super) fn visit(visitor: &mut impl Visitor) {
    visitor.visit_read("Part", &parts());
    visitor.visit_read("Usage", &[Usage::default(), usage()]);
    visitor.visit_read("CallDetail", &[CallDetail::default(), detail()]);
    visitor.visit_read("ToolCall", &[call(None), call(Some(detail()))]);
    visitor.visit_read("ToolResult", &[result()]);
    visitor.visit_read("Reasoning", &[Reasoning::default(), reasoning()]);
    visitor.visit_read("MarkedText", &[marked()]);
    visitor.visit_read("Block", &blocks());
    visitor.visit_read("Finish", &finishes());
    visitor.visit_read("Reply", &[Reply::default(), reply()]);
    visitor.visit_read("FoldKind", &fold_kinds());
    visitor.visit_read("Fold", &folds());
    visitor.visit_read("Why", &whys());
    visitor.visit_read("Leaving", &leavings());
    visitor.visit_read("PartPlace", &places());
    visitor.visit_read("LeftOut", &[left_out()]);
    visitor.visit_read("Turn", &turns());
    visitor.visit("Said", &said());
}

fn said() -> Vec<Said<'static>> {
    let said = || vec![Part::text("Go on.")];
    let parts = || Cow::Owned(said());
    let result = ToolResult { call_id: "call_1".into(), parts: said(), is_error: false };
    vec![
        Said::User(parts()),
        Said::Assistant(Cow::Owned(Reply::default())),
        Said::ToolResults(Cow::Owned(vec![result])),
        Said::System("Mind the gap."),
        Said::Steering(parts()),
    ]
}

/// One of each kind.
pub(super) fn turns() -> Vec<Turn> {
    let turn = |kind| Turn { at: UnixMillis(1_800_000_000_000), kind };
    turn_kinds().into_iter().map(turn).collect()
}

fn fold_kinds() -> Vec<FoldKind> {
    one_of_each!(FoldKind: Stub, Archive, Summary, Truncate)
}

fn folds() -> Vec<Fold> {
    let (before, after) = (90_000, 20_000);
    let fold =
        |upto, pin, text, kind| Fold { upto, pin, stub_before: 12, text, kind, before, after };
    let text = Some("What was done so far".into());
    vec![fold(0, Vec::new(), None, FoldKind::Stub), fold(9, vec![0], text, FoldKind::Summary)]
}

fn whys() -> Vec<Why> {
    one_of_each!(Why: Undo, Redo, Restore, Clear)
}

fn leavings() -> Vec<Leaving> {
    one_of_each!(Leaving: Named, Tried, PutBack)
}

fn places() -> Vec<PartPlace> {
    let place = |result| PartPlace { turn: 2, result, part: 1 };
    vec![place(None), place(Some(0))]
}

fn left_out() -> LeftOut {
    let why = "Could not process image".into();
    LeftOut { parts: places(), how: Leaving::Tried, why }
}

pub(super) fn parts() -> Vec<Part> {
    one_of_each!(Part:
        Text { text: "Grüße,\n\"you\" \u{1f600}\u{7}".into() },
        Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() },
        ImageUrl { url: "https://example.com/a.png".into() },
        File {
            media_type: "application/pdf".into(),
            name: "a.pdf".into(),
            data: "JVBERi0=".into(),
        },
    )
}

pub(super) const fn usage() -> Usage {
    Usage {
        input_total: 1_200,
        output_total: 300,
        cache_read: 1_000,
        cache_write: 100,
        reasoning: 20,
    }
}

/// A JSON value that is kept as it came.
pub(super) fn opaque() -> Json {
    Json::parse(r#"{ "b": [1, 2.50, null], "a": "\u00e9" }"#).unwrap()
}

fn detail() -> CallDetail {
    CallDetail { freeform: true, signature: Some("c2ln".into()), item: Some(opaque()) }
}

fn call(detail: Option<CallDetail>) -> ToolCall {
    ToolCall {
        id: "call_1".into(),
        name: "read_file".into(),
        arguments: r#"{"file_path":"a.txt"}"#.into(),
        detail: detail.map(Box::new),
    }
}

fn result() -> ToolResult {
    ToolResult { call_id: "call_1".into(), parts: parts(), is_error: false }
}

fn reasoning() -> Reasoning {
    let (signature, item) = (Some("c2ln".into()), Some(opaque()));
    Reasoning { text: "I think.".into(), signature, item }
}

fn marked() -> MarkedText {
    MarkedText { text: "Hello".into(), mark: "final_answer".into() }
}

fn blocks() -> Vec<Block> {
    one_of_each!(Block:
        Text("Hello".into()),
        MarkedText(marked()),
        Reasoning(reasoning()),
        ToolCall(call(None)),
        Opaque(opaque()),
    )
}

fn finishes() -> Vec<Finish> {
    one_of_each!(Finish:
        Stop, ToolCalls, Length, ContentFilter, Refusal, Pause, ContextWindow, MalformedToolCall,
        Error, Unknown,
    )
}

fn reply() -> Reply {
    Reply {
        blocks: blocks(),
        finish: Finish::Refusal,
        refusal: Some("I may not.".into()),
        reason: Some("SAFETY".into()),
        usage: Some(usage()),
        wire: Some(WireKind::Anthropic),
        origin: Some(Arc::new(Origin {
            endpoint: EndpointId("anthropic".into()),
            model: "mock-1".into(),
        })),
        response_id: Some("msg_1".into()),
        model: Some("mock-1".into()),
    }
}

fn turn_kinds() -> Vec<TurnKind> {
    one_of_each!(TurnKind:
        User(parts()),
        Assistant(Box::new(reply())),
        ToolResults(vec![result()]),
        System("Mind the gap.".into()),
        Steering(parts()),
        Folded(Box::new(folds().remove(1))),
        LeftOut(Box::new(left_out())),
        Rewound { at: 2, why: Why::Undo },
    )
}

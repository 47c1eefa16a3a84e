//! What is said: parts, blocks, turns, and how much it cost.

use super::visitor::{Visitor, one_of_each};
use innerloop_core::{
    config::{ModelOrigin, WireKind},
    id::EndpointId,
    json::Json,
    message::{
        Block, CallDetail, FinishReason, FoldKind, HistoryFold, LeftOut, LeftOutKind, MarkedText,
        Part, PartPlace, ReasoningBlock, Reply, RewindReason, ToolCall, ToolResult, Turn, TurnKind,
        Usage, VisibleTurn,
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
    visitor.visit_read("ReasoningBlock", &[ReasoningBlock::default(), reasoning()]);
    visitor.visit_read("MarkedText", &[marked()]);
    visitor.visit_read("Block", &blocks());
    visitor.visit_read("FinishReason", &finishes());
    visitor.visit_read("Reply", &[Reply::default(), reply()]);
    visitor.visit_read("FoldKind", &fold_kinds());
    visitor.visit_read("HistoryFold", &folds());
    visitor.visit_read("RewindReason", &whys());
    visitor.visit_read("LeftOutKind", &leavings());
    visitor.visit_read("PartPlace", &places());
    visitor.visit_read("LeftOut", &[left_out()]);
    visitor.visit_read("Turn", &turns());
    visitor.visit("VisibleTurn", &said());
}

fn said() -> Vec<VisibleTurn<'static>> {
    let said = || vec![Part::text("Go on.")];
    let parts = || Cow::Owned(said());
    let result = ToolResult { call_id: "call_1".into(), parts: said(), is_error: false };
    vec![
        VisibleTurn::User(parts()),
        VisibleTurn::Assistant(Cow::Owned(Reply::default())),
        VisibleTurn::ToolResults(Cow::Owned(vec![result])),
        VisibleTurn::System("Mind the gap."),
        VisibleTurn::Steering(parts()),
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

fn folds() -> Vec<HistoryFold> {
    let (before, after) = (90_000, 20_000);
    let fold = |upto, pin, text, kind| HistoryFold {
        upto,
        pin,
        stub_before: 12,
        text,
        kind,
        before,
        after,
    };
    let text = Some("What was done so far".into());
    vec![fold(0, Vec::new(), None, FoldKind::Stub), fold(9, vec![0], text, FoldKind::Summary)]
}

fn whys() -> Vec<RewindReason> {
    one_of_each!(RewindReason: Undo, Redo, Restore, Clear)
}

fn leavings() -> Vec<LeftOutKind> {
    one_of_each!(LeftOutKind: Named, Tried, PutBack)
}

fn places() -> Vec<PartPlace> {
    let place = |result| PartPlace { turn: 2, result, part: 1 };
    vec![place(None), place(Some(0))]
}

fn left_out() -> LeftOut {
    let why = "Could not process image".into();
    LeftOut { parts: places(), how: LeftOutKind::Tried, why }
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

fn reasoning() -> ReasoningBlock {
    let (signature, item) = (Some("c2ln".into()), Some(opaque()));
    ReasoningBlock { text: "I think.".into(), signature, item }
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

fn finishes() -> Vec<FinishReason> {
    one_of_each!(FinishReason:
        Stop, ToolCalls, Length, ContentFilter, Refusal, Pause, ContextWindow, MalformedToolCall,
        Error, Repetition, Unknown,
    )
}

fn reply() -> Reply {
    Reply {
        blocks: blocks(),
        finish: FinishReason::Refusal,
        refusal: Some("I may not.".into()),
        reason: Some("SAFETY".into()),
        usage: Some(usage()),
        wire: Some(WireKind::Anthropic),
        origin: Some(Arc::new(ModelOrigin {
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
        Rewound { at: 2, why: RewindReason::Undo },
    )
}

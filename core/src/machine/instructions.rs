//! Instruction files of folders below the agent's own: the prompt names them, and the model reads
//! one when a call first comes into its folder (`docs/decisions.md#project-documents`).

use super::{ctx::StepContext, pipeline, pipeline::ToolTask};
use crate::rules::{
    folder_instructions::{InstructionScope, doc_folder},
    prompt::DOCS_BUDGET,
};
use alloc::{format, string::String, vec::Vec};
use innerloop_types::{
    config::ProjectDoc,
    message::{ToolCall, TurnKind, VisibleTurn},
    text::prefix,
    tool::Job,
};

/// The text that introduces a document.
const NOTE: &str = "Project instructions for what you work on now, from";

/// The results of a round are said: what its calls have come to is told of.
pub(super) fn on_round(ctx: &mut StepContext<'_>) {
    if !cfg!(feature = "builtins") || ctx.setup.config.facts.nested_docs.is_empty() {
        return;
    }
    let calls: Vec<ToolCall> =
        ctx.body.history.last_round().map(|(call, _)| call.clone()).collect();
    let works: Vec<ToolTask> = calls
        .into_iter()
        .map(|call| pipeline::with_own_arguments(call, ctx.setup))
        .filter_map(|call| pipeline::prepare(&call, ctx.setup).ok())
        .collect();
    let docs = ctx.setup.config.facts.nested_docs.iter();
    let is_reached = |doc: &&ProjectDoc| works.iter().any(|work| reaches(work, doc, ctx));
    let texts: Vec<String> = docs
        .filter(is_reached)
        .filter(|doc| !is_known(doc, ctx))
        .map(|doc| format!("{}\n{}", title(doc), prefix(doc.text.trim_end(), DOCS_BUDGET)))
        .collect();
    for text in texts {
        ctx.append(TurnKind::System(text));
    }
}

fn title(doc: &ProjectDoc) -> String {
    format!("{NOTE} {}:\n", doc.path)
}

/// Returns whether the model sees it already.
fn is_known(doc: &ProjectDoc, ctx: &StepContext<'_>) -> bool {
    let title = title(doc);
    ctx.body
        .history
        .seen()
        .any(|said| matches!(said, VisibleTurn::System(text) if text.starts_with(&title)))
}

/// Returns whether a call names something in the document's folder.
fn reaches(work: &ToolTask, doc: &ProjectDoc, ctx: &StepContext<'_>) -> bool {
    let ToolTask::Run { run: planned, .. } = work else { return false };
    let Some(to) = doc_folder(&doc.path) else { return false };
    let way = InstructionScope { folder: &ctx.setup.folder, to: &to };
    match &planned.run.job {
        Job::Builtin(action) => way.is_gone_by(action, planned.patch.as_ref()),
        Job::Custom(arguments) => ctx
            .setup
            .tool(&planned.run.name)
            .is_some_and(|tool| way.is_gone_by_own(arguments, &tool.spec.paths)),
    }
}

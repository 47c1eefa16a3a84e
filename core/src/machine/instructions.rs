//! Instruction files of folders below the agent's own. The prompt only names them; the model reads
//! one when a call first names something in its folder, as a turn behind the results of that round
//! (`docs/decisions.md#project-documents`).

use super::{ctx::StepContext, pipeline, pipeline::ToolTask};
use crate::rules::{
    folder_instructions::{InstructionScope, doc_folder},
    prompt::DOCS_BUDGET,
};
use alloc::{format, string::String, vec::Vec};
use innerloop_json::IntoList;
use innerloop_types::{
    config::ProjectDoc,
    message::{ToolCall, TurnKind, VisibleTurn},
    text::prefix,
    tool::Job,
};

/// The beginning of the line that introduces a document.
const NOTE: &str = "Project instructions for what you work on now, from";

/// Appends the documents of the folders that the calls of the last round have reached.
pub(super) fn on_round(ctx: &mut StepContext<'_>) {
    if !cfg!(feature = "builtins") || ctx.setup.config.facts.nested_docs.is_empty() {
        return;
    }
    let calls: Vec<ToolCall> =
        ctx.body.history.last_round().map(|(call, _)| call.clone()).into_list();
    let works: Vec<ToolTask> = calls
        .into_iter()
        .map(|call| pipeline::with_own_arguments(call, ctx.setup))
        .filter_map(|call| pipeline::prepare(&call, ctx.setup).ok())
        .into_list();
    let facts = &ctx.setup.config.facts;
    let docs = facts.shown(&facts.nested_docs);
    let is_reached = |doc: &&ProjectDoc| works.iter().any(|work| reaches(work, doc, ctx));
    let texts: Vec<String> = docs
        .filter(is_reached)
        .filter(|doc| !is_known(doc, ctx))
        .map(|doc| format!("{}\n{}", title(doc), prefix(doc.text.trim_end(), DOCS_BUDGET)))
        .into_list();
    for text in texts {
        ctx.append(TurnKind::System(text));
    }
}

/// Returns whether a system turn is a document that was appended here, and no word of a hook's.
pub(crate) fn is_document(text: &str) -> bool {
    text.starts_with(NOTE)
}

fn title(doc: &ProjectDoc) -> String {
    format!("{NOTE} {}:\n", doc.path)
}

/// Returns whether the model sees the document already.
fn is_known(doc: &ProjectDoc, ctx: &StepContext<'_>) -> bool {
    // The view is asked, and no flag is kept: a fold or an undo may have taken the document away,
    // and then it has to be said again. The title is what it is known by.
    let title = title(doc);
    ctx.body
        .history
        .seen()
        .any(|said| matches!(said, VisibleTurn::System(text) if text.starts_with(&title)))
}

/// Returns whether a call names something in the folder of the document.
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
        Job::Kept(_) => false,
    }
}

//! The plan that a model keeps of its task. The families' tools for it never leave the core; hosts
//! show the plan, and nothing else follows from it.

pub(crate) use super::call::PlanCall;

use super::args::ToolArguments;
use alloc::vec::Vec;
use innerloop_types::event::{PlanItem, PlanStatus};

/// The names that models use for the status of a step.
// The words of all families together: each schema allows only its own, and has been checked before.
const STATUS: [(&str, PlanStatus); 5] = [
    (PlanStatus::Pending.name(), PlanStatus::Pending),
    (PlanStatus::InProgress.name(), PlanStatus::InProgress),
    (PlanStatus::Completed.name(), PlanStatus::Completed),
    (PlanStatus::Cancelled.name(), PlanStatus::Cancelled),
    (PlanStatus::Blocked.name(), PlanStatus::Blocked),
];

/// Reads the steps in the argument `list`, with the text of each in its field `text`.
pub(super) fn items(args: &mut ToolArguments<'_>, list: &str, text: &str) -> Vec<PlanItem> {
    args.objects(list, |step| {
        Some(PlanItem { text: step.text(text), status: step.choice("status", &STATUS)? })
    })
}

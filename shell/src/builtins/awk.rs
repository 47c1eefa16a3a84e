//! `awk`: bashkit's own, after what was printed before is out. A program that never ends leaves no
//! time for that, and what it is ended with would be lost.

use crate::turns;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait,
};

/// `awk`.
pub(super) struct AwkCommand;

/// bashkit's `awk` by another name.
const INNER: &str = "gawk";

#[async_trait]
impl Builtin for AwkCommand {
    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        turns::give().await;
        let command = SubCommand {
            name: INNER.to_owned(),
            args: context.args.to_vec(),
            stdin: context.stdin.cloned(),
            assignments: Vec::new(),
        };
        Ok(Some(ExecutionPlan::Batch { commands: vec![command] }))
    }

    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::ok(String::new()))
    }
}

//! `awk`, which is bashkit's own, run once earlier output has been written. A program that never
//! ends would leave no time for that, and the output would be lost when it is killed.

use crate::turns;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait,
};

pub(super) struct AwkCommand;

/// Another name of bashkit's `awk`, by which it is still reached.
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

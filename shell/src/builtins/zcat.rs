//! `zcat`: another name for `gzip -dc`.

use bashkit::{
    Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait,
};

pub(super) struct ZcatCommand;

#[async_trait]
impl Builtin for ZcatCommand {
    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let mut args = vec!["-dc".to_owned()];
        args.extend(context.args.iter().cloned());
        let command = SubCommand {
            name: "gzip".to_owned(),
            args,
            stdin: context.stdin.cloned(),
            assignments: Vec::new(),
        };
        Ok(Some(ExecutionPlan::Batch { commands: vec![command] }))
    }

    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::ok(String::new()))
    }
}

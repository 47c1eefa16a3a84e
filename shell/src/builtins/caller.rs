//! `caller`: the place where the current function was called, which the shell's own arrays hold.

use bashkit::{
    Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, SubCommand, async_trait,
};

pub(super) struct CallerCommand;

#[async_trait]
impl Builtin for CallerCommand {
    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let script = match context.args {
            [] => "if ((${#FUNCNAME[@]} > 0)); then echo \"${BASH_LINENO[0]} \
                   ${BASH_SOURCE[1]-NULL}\"; else false; fi"
                .to_owned(),
            [frame] if frame.parse::<u32>().is_ok() => format!(
                "if (({frame} + 1 < ${{#FUNCNAME[@]}})); then echo \"${{BASH_LINENO[{frame}]}} \
                 ${{FUNCNAME[{frame} + 1]}} ${{BASH_SOURCE[{frame} + 1]}}\"; else false; fi"
            ),
            _ => "echo \"bash: caller: usage: caller [expr]\" >&2; (exit 2)".to_owned(),
        };
        // Only the shell itself sees its arrays, so that the command is a script for `eval`.
        let command = SubCommand {
            name: "eval".to_owned(),
            args: vec![script],
            stdin: None,
            assignments: Vec::new(),
        };
        Ok(Some(ExecutionPlan::Batch { commands: vec![command] }))
    }

    async fn execute(&self, _context: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::ok(String::new()))
    }
}

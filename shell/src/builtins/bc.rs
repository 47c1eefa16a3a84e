//! `bc`, which is bashkit's own, in a shell of its own: its input is looked at before, since nested
//! expressions would fill the stack.

use super::{
    nesting::TOO_DEEP,
    shared::{content, fail, input},
};
use bashkit::{Bash, Command, CommandContext, CommandStatus, ExecOptions, Result, async_trait};

pub(super) struct BcCommand;

/// The most bytes that it prints.
const MOST: usize = 16 << 20;

/// The deepest nesting of an expression.
const DEEPEST: usize = 100;

#[async_trait]
impl Command for BcCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let (options, operands): (Vec<_>, Vec<_>) =
            context.args.iter().cloned().partition(|arg| arg.starts_with('-'));
        let mut text = String::new();
        for operand in &operands {
            // Models give expressions as arguments, too.
            match content(&context, operand).await {
                Ok(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => text.push_str(operand),
            }
            text.push('\n');
        }
        text.push_str(&String::from_utf8_lossy(&input(&context).await?));
        if let Some(line) = text.lines().position(|line| depth(line) > DEEPEST) {
            let words = format!("(standard_in) {}: {TOO_DEEP}\n", line + 1);
            return fail(&context, &words, 1).await;
        }
        let told = ExecOptions::new().stdin(text).arg0("bash").positional(&options);
        let mut bash = Bash::builder().build();
        let ended = bash.execute("bc \"$@\"").capture(MOST).options(told).await?;
        context.stdout.write_all(ended.stdout.as_bytes()).await?;
        context.stderr.write_all(ended.stderr.as_bytes()).await?;
        Ok(CommandStatus::with_code(ended.exit_code))
    }
}

/// Returns the number of levels to which a line is nested: parentheses, signs before signs, and
/// powers of powers.
fn depth(line: &str) -> usize {
    let (mut deepest, mut open, mut signs, mut powers) = (0, 0_usize, 0, 0);
    for letter in line.chars().filter(|letter| !letter.is_whitespace()) {
        match letter {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        signs = if letter == '-' { signs + 1 } else { 0 };
        powers = match letter {
            '^' => powers + 1,
            '+' | '-' | '*' | '/' | '%' | ';' | '<' | '>' | '=' => 0,
            _ => powers,
        };
        deepest = deepest.max(open + signs + powers);
    }
    deepest
}

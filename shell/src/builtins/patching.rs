//! `apply_patch`, with which GPT models change files from a command line: the patch is the
//! argument, or is read from standard input. It does the same as the tool of that name.

use super::shared::{fail, input};
use crate::files::ShellFileSystem;
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};
use innerloop_tools::{DirectoryFiles, perform_in};
use innerloop_types::action::Action;
use std::sync::Arc;

/// The names under which models know it.
pub(super) const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

pub(super) struct ApplyPatch(pub(super) Arc<ShellFileSystem>);

#[async_trait]
impl Command for ApplyPatch {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let patch = match context.args {
            [] => String::from_utf8_lossy(&input(&context).await?).into_owned(),
            [patch] => patch.clone(),
            _ => return fail(&context, "apply_patch: it takes one argument, the patch\n", 2).await,
        };
        let folder = context.cwd.to_string_lossy();
        let folder = folder.trim_start_matches('/');
        let outcome = perform_in(&mut DirectoryFiles::new("/"), folder, &Action::patch(patch));
        // The patch goes past the shell's file system, which would still believe its lists.
        self.0.forget_lists();
        let words = format!("{}\n", outcome.joined_text().trim_end());
        if outcome.error.is_some() {
            return fail(&context, &format!("apply_patch: {words}"), 1).await;
        }
        context.stdout.write_all(words.as_bytes()).await?;
        Ok(CommandStatus::success())
    }
}

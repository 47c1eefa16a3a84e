//! `tee`, which goes on with the other files if one can't be written.

use super::{
    options::OptionSpec,
    shared::{fail, path, reason},
};
use bashkit::{Command, CommandContext, CommandStatus, Error, Result, async_trait};
use std::path::PathBuf;

pub(super) struct TeeCommand;

const KNOWN: OptionSpec = OptionSpec {
    command: "tee",
    short: "aip",
    long: &[("append", 'a'), ("ignore-interrupts", 'i'), ("output-error?", 'p')],
};

#[async_trait]
impl Command for TeeCommand {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let given = match KNOWN.read(context.args) {
            Ok(given) => given,
            Err(words) => return fail(&context, &words, 1).await,
        };
        let mut copies = TeeTargets { context: &context, files: Vec::new(), failed: false };
        for operand in &given.operands {
            copies.open(operand, given.has('a')).await?;
        }
        while let Some(chunk) = context.stdin.read_chunk().await? {
            context.stdout.write_all(&chunk).await?;
            copies.write(&chunk).await?;
        }
        Ok(CommandStatus::with_code(copies.failed.into()))
    }
}

/// The files that get a copy; one that fails once gets no more.
struct TeeTargets<'a> {
    context: &'a CommandContext<'a>,
    files: Vec<(&'a str, PathBuf)>,
    failed: bool,
}

impl<'a> TeeTargets<'a> {
    async fn open(&mut self, operand: &'a str, appends: bool) -> Result<()> {
        let (fs, path) = (&self.context.fs, path(self.context, operand));
        let opened = if appends {
            fs.append_file(&path, b"").await
        } else {
            fs.write_file(&path, b"").await
        };
        match opened {
            Ok(()) => self.files.push((operand, path)),
            Err(error) => self.tell(operand, &error).await?,
        }
        Ok(())
    }

    async fn write(&mut self, chunk: &[u8]) -> Result<()> {
        for (operand, path) in std::mem::take(&mut self.files) {
            match self.context.fs.append_file(&path, chunk).await {
                Ok(()) => self.files.push((operand, path)),
                Err(error) => self.tell(operand, &error).await?,
            }
        }
        Ok(())
    }

    async fn tell(&mut self, operand: &str, error: &Error) -> Result<()> {
        self.failed = true;
        let words = format!("tee: {operand}: {}\n", reason(error));
        fail(self.context, &words, 1).await.map(drop)
    }
}

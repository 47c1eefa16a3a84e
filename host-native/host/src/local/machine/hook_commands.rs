//! Hooks that are commands, on a machine that can run them: each is a shell of its own in the
//! workspace's folder, with the rights of the user, in no jail. It is killed with all of its
//! processes when its time is up, or when its answer is no longer wanted.

use super::{
    super::{
        hook_command::{HookCommand, HookSite},
        options::LocalError,
    },
    command::{self, OutputListener},
    hook_event::{HookEvent, verdict},
    processes::ProcessSpec,
    shell::Shell,
    variables::EnvironmentVariables,
};
use crate::hooks::HookHandler;
use innerloop_core::{config::HookPoint, id::AgentId, input::HookReply, output::HookRun};
use innerloop_driver::{SecretKeys, capture::ProgramExit};
use innerloop_sandbox::RunLimits;
use std::{
    env,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, atomic::AtomicU64},
};

/// The hooks of a session that are commands of the user's. Clones share them.
#[derive(Clone, Debug)]
pub struct HookCommands(Arc<HookTable>);

#[derive(Debug)]
struct HookTable {
    commands: Vec<HookCommand>,
    site: HookSite,
    shell: Shell,
    variables: EnvironmentVariables,
}

impl HookCommands {
    /// Prepares commands, which run in this order where several stand at one point.
    ///
    /// # Errors
    /// [`LocalError::NotHere`] on a system where commands are not run.
    pub fn open(commands: Vec<HookCommand>, site: HookSite) -> Result<Self, LocalError> {
        // All but the providers' keys: these commands are the user's own, and tell somebody or
        // fetch something with what stands there.
        let is_secret = |name: &str| site.secrets.iter().any(|secret| secret == name);
        let variables = env::vars_os().filter(|(name, _)| !name.to_str().is_some_and(is_secret));
        let variables = variables.collect();
        Ok(Self(Arc::new(HookTable { commands, site, shell: Shell::find(), variables })))
    }

    /// Returns the points at which there are commands.
    #[must_use]
    pub fn points(&self) -> Vec<HookPoint> {
        let mut points = Vec::new();
        for HookCommand { point, .. } in &self.0.commands {
            if !points.contains(point) {
                points.push(*point);
            }
        }
        points
    }
}

impl HookHandler for HookCommands {
    fn reply(
        &self,
        agent: AgentId,
        run: HookRun,
    ) -> Pin<Box<dyn Future<Output = HookReply> + Send>> {
        let table = Arc::clone(&self.0);
        Box::pin(async move { table.reply(HookEvent::new(&table.site, agent, &run)).await })
    }
}

impl HookTable {
    /// Asks the commands in order. A denial ends it; a failure does only where it is a denial.
    async fn reply(&self, mut event: HookEvent) -> HookReply {
        let mut failure = None;
        for command in &self.commands {
            if !event.concerns(command) {
                continue;
            }
            match self.run(command, event.text()).await {
                HookReply::Allow => {}
                HookReply::Replace(value) => event.replace(value),
                HookReply::Deny { reason } => return HookReply::Deny { reason },
                HookReply::Failed { message } => {
                    let message = format!("{}: {message}", command.command);
                    if self.site.fail_closed {
                        return HookReply::Failed { message };
                    }
                    failure.get_or_insert(message);
                }
            }
        }
        // What one has taken out of a text must not come back since another has failed.
        match (event.replaced(), failure) {
            (Some(value), _) => HookReply::Replace(value),
            (None, Some(message)) => HookReply::Failed { message },
            (None, None) => HookReply::Allow,
        }
    }

    async fn run(&self, command: &HookCommand, event: String) -> HookReply {
        let plan = ProcessSpec {
            argv: self.shell.argv(command.command.clone().into()),
            variables: self.variables.clone(),
            folder: self.site.folder.clone(),
            is_jail: false,
            has_input: true,
        };
        let limits = RunLimits::default();
        let listener = OutputListener {
            // The driver masks what comes back, as it does with every hook's reply.
            keys: SecretKeys::default(),
            limits,
            budget: Arc::new(AtomicU64::new(limits.output_bytes)),
            on_delta: None,
            waits: false,
        };
        let failed = |message: String| HookReply::Failed { message };
        match command::run(plan, Some(event), listener, command.timeout, pending()).await {
            Err(error) => failed(format!("it can't be run: {error}")),
            Ok((ProgramExit::Exit(code), printed)) => {
                let (out, err) = printed.whole();
                verdict(code, out.as_deref(), &err)
            }
            Ok((ProgramExit::TimedOut, _)) => failed(format!(
                "it took longer than {} s and was killed",
                command.timeout.as_secs()
            )),
            Ok((end, _)) => failed(end.to_string()),
        }
    }
}

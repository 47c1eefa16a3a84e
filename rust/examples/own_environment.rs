//! Tools that work elsewhere than in the sandbox: `cargo run --example own_environment`. Here the
//! far machine is a map of files and one command; over a network it is the same trait.

use innerloop::{
    Agent, Outcome,
    environment::{
        Action, ActionRequest, Environment, EnvironmentFacts, InMemoryFiles, OutcomeFuture,
        perform_known,
    },
};
use std::sync::{Arc, Mutex, PoisonError};

mod common;

/// A remote machine, of which nothing is known but its files.
#[derive(Debug, Default)]
struct Far {
    files: Mutex<InMemoryFiles>,
}

impl Environment for Far {
    fn carry_out(&self, request: ActionRequest) -> OutcomeFuture<'_> {
        let ActionRequest { action, call, on_delta, .. } = request;
        Box::pin(async move {
            match action {
                Action::Shell { command, .. } if command == "uptime" => {
                    let output = "up 412 days\n";
                    // People see output as it comes.
                    on_delta.iter().for_each(|on_delta| on_delta.tell(output));
                    Outcome { exit: Some(0), ..Outcome::text(output) }
                }
                Action::Shell { .. } => {
                    Outcome { exit: Some(127), ..Outcome::text("no such command\n") }
                }
                // The file tools work over any `WorkspaceFiles`.
                action => {
                    let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                    perform_known(&mut *files, &call.folder, &action, call.known.as_deref())
                }
            }
        })
    }

    fn facts(&self, found: EnvironmentFacts) -> EnvironmentFacts {
        EnvironmentFacts { platform: "far".into(), programs: Vec::new(), ..found }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let far = Arc::new(Far::default());
    let builder = Agent::builder().environment(Arc::clone(&far));
    let agent = common::model(builder, "own_environment").build().await?;
    let result = agent.run("Write the machine's uptime into uptime.txt").await?;
    println!("{}", result.text);
    let files = far.files.lock().unwrap_or_else(PoisonError::into_inner);
    for (path, bytes) in files.iter() {
        println!("{path}: {}", String::from_utf8_lossy(bytes));
    }
    Ok(())
}

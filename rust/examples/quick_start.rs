//! An agent that changes a project, and what it changed: `cargo run --example quick_start`.

use futures_util::StreamExt as _;
use innerloop::{Agent, EventKind};

mod common;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let project = common::project(&[("greet.py", "def greet(name):\n    print('Hello', nmae)\n")])?;
    let builder = Agent::builder().provider("anthropic").workspace(project.path());
    let agent = common::model(builder, "quick_start").build().await?;

    let mut run = agent.run("greet.py fails with a NameError. Fix it.");
    while let Some(event) = run.next().await {
        match event.kind {
            EventKind::AssistantTextDelta { text } => print!("{text}"),
            EventKind::ToolCallStart { name, .. } => println!("[{name}]"),
            _ => {}
        }
    }
    println!();

    // The folder is unchanged so far: the changes are in an overlay.
    for change in agent.changes().await {
        println!("changed: {}", change.path);
    }
    agent.apply().await?;
    print!("{}", std::fs::read_to_string(project.path().join("greet.py"))?);
    Ok(())
}

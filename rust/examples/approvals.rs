//! Calls that somebody decides about: `cargo run --example approvals`. Here it is a rule; a person
//! may take any time, since no deadline runs meanwhile.

use innerloop::{Agent, ApprovalDecision, ApprovalRequest};

mod common;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let project = common::project(&[("notes.md", "# Notes\n")])?;
    let decide = async |call: ApprovalRequest| {
        println!("{} {}", call.name, call.arguments.text());
        match call.arguments.text().contains("notes.md") {
            true => ApprovalDecision::Allow,
            false => ApprovalDecision::deny("only notes.md may be changed"),
        }
    };
    let builder = Agent::builder().in_place(project.path()).approve(decide);
    let agent = common::model(builder, "approvals").build().await?;
    let result = agent.run("Write 'done' into notes.md and into log.txt").await?;
    println!("{}", result.text);
    print!("{}", std::fs::read_to_string(project.path().join("notes.md"))?);
    Ok(())
}

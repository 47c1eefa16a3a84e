//! An answer of a type of your own: `cargo run --example structured_answer`.

use innerloop::{Agent, JsonSchema};

mod common;

#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Review {
    /// Whether the change can be merged as it is.
    approve: bool,
    /// What is wrong, the worst first.
    findings: Vec<Finding>,
}

#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Finding {
    /// The line, from 1 on.
    line: u32,
    problem: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let project = common::project(&[("div.c", "int div(int a, int b) {\n  return a / b;\n}\n")])?;
    let builder = Agent::builder().workspace(project.path()).answer::<Review>();
    let agent = common::model(builder, "structured_answer").build().await?;
    let review: Review = agent.run("Review div.c").await?.answer()?;
    println!("approve: {}", review.approve);
    for Finding { line, problem } in review.findings {
        println!("line {line}: {problem}");
    }
    Ok(())
}

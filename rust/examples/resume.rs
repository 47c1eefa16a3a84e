//! A session that outlives its program: `cargo run --example resume`. The log is on the disk before
//! anything follows from it, so the first agent here may as well be killed.

use innerloop::Agent;

mod common;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = common::project(&[])?;
    let log = folder.path().join("session.jsonl");

    let first = common::model(Agent::builder().log(&log), "resume_1").build().await?;
    first.run("My favourite number is 7.").await?;
    drop(first);

    let builder = Agent::builder().resume(&log).log(&log);
    let second = common::model(builder, "resume_2").build().await?;
    println!("{} turns so far", second.history().await?.len());
    let result = second.run("Which number did I name?").await?;
    println!("{}", result.text);
    Ok(())
}

//! The shell beside bash: command lines that agents type, with bash's answers.

use super::{Bench, TEN_SECONDS};
use innerloop_core::action::Action;
use innerloop_sandbox::Executor;
use innerloop_tests::shell_lines::{Line, Lines};
use innerloop_workspace::Workspace;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

/// How many lines are carried out at once.
const AT_ONCE: usize = 4;

/// What the shell says to a line: its standard output and error, and its status.
async fn said(executor: &Executor, line: &Line) -> (String, String, i32) {
    let action = Action::Shell { command: line.line.as_str().into(), folder: None };
    let outcome = executor.run(&action, TEN_SECONDS, None).await;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (text(outcome.stdout()), text(outcome.stderr()), outcome.exit.unwrap_or(-1))
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_lines_that_agents_type_are_answered_as_by_bash() {
    let all = Arc::new(Lines::read());
    assert!(all.lines.len() >= 300);
    let bench = Arc::new(Bench::shell());
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for line in all.lines.clone() {
        let (all, bench, turns) = (all.clone(), bench.clone(), turns.clone());
        running.spawn(async move {
            let _turn = turns.acquire_owned().await.unwrap();
            let folder = TempDir::new().unwrap();
            all.put(folder.path()).unwrap();
            let workspace = Workspace::open(folder.path()).unwrap();
            let programs = bench.executor.programs().clone();
            let executor = Executor::new(bench.engine.clone(), workspace, programs);
            let said = said(&executor, &line).await;
            (line, said)
        });
    }
    let mut wrong = Vec::new();
    while let Some(done) = running.join_next().await {
        let (line, said) = done.unwrap();
        let bash = (line.stdout.clone(), line.stderr.clone(), line.status);
        match &line.differs {
            None if said != bash => wrong.push(format!("{line:#?}\nours: {said:#?}")),
            Some(why) if said == bash => {
                wrong.push(format!("{} does not differ any more: {why}", line.name));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

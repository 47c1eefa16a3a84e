//! Lines that are nested without measure, or call themselves without an end: each is an error that
//! says so, and the shell lives on. The npm package's tests read the same list.

use super::Bench;
use innerloop_core::action::ToolError;
use innerloop_tests::shell_lines::NestedLines;

#[tokio::test(flavor = "multi_thread")]
async fn c11_what_is_nested_too_deeply_is_an_error_and_no_crash() {
    let bench = Bench::shell();
    bench.line("kept=1").await;
    let all = NestedLines::read();
    assert!(all.lines.len() > 40);
    let mut wrong = Vec::new();
    for line in &all.lines {
        let outcome = bench.line(&line.text(all.depth)).await;
        let (stdout, stderr) = (outcome.stdout().unwrap_or("none"), outcome.stderr());
        let (status, says) = (outcome.exit, stderr.is_some_and(|it| it.contains(&line.stderr)));
        if (status, stdout, says) != (Some(line.status), &line.stdout, true) {
            let stderr: String = stderr.unwrap_or_default().chars().take(300).collect();
            wrong.push(format!(
                "{}: {status:?} {stdout:?} {stderr:?} {:?}",
                line.name, outcome.error
            ));
        }
        if bench.line("echo $kept").await.stdout() != Some("1\n") {
            wrong.push(format!("after {}: the shell has lost its state", line.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What only the running program nests can't be told beforehand.
#[tokio::test(flavor = "multi_thread")]
async fn c11_a_program_of_jq_that_nests_without_an_end_ends_with_its_line_and_says_why() {
    let bench = Bench::shell();
    bench.line("kept=1").await;
    for line in ["jq -n 'def f: 1 + f; f'", "jq -n 'reduce range(300000) as $i (1; [.])'"] {
        let outcome = bench.line(line).await;
        assert_eq!(outcome.error, Some(ToolError::Crashed), "{line}: {outcome:?}");
        assert!(outcome.joined_text().contains("call itself without an end"), "{outcome:?}");
        assert_eq!(bench.line("echo $kept").await.stdout(), Some("1\n"), "{line}");
    }
}

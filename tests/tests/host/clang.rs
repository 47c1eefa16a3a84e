//! clang in the sandbox, as it is installed: C and C++ are compiled, linked and run there.

use crate::sandbox_engine;
use innerloop_core::action::{Action, ChangeKind, Outcome, ToolError};
use innerloop_sandbox::{Executor, manifest::Manifest, programs::ProgramRegistry};
use innerloop_tests::example::{clang, programs_and_shell};
use innerloop_workspace::Workspace;
use std::{fs, time::Duration};
use tempfile::TempDir;

/// Far longer than anything here takes, also where all tests run at once.
const TWO_MINUTES: Duration = Duration::from_secs(120);

const SUM: &str = "\
#include \"sum.h\"

int sum(int a, int b) { return a + b; }
";
const MAIN: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include \"sum.h\"

int main(int argc, char **argv) {
    char line[80];
    while (fgets(line, sizeof line, stdin)) printf(\"read %s\", line);
    int result = sum(atoi(argv[1]), atoi(argv[2]));
    printf(\"%d\\n\", result);
    return result == 5 ? 0 : 7;
}
";
const SORTED: &str = "\
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

int main() {
    std::vector<std::string> words{\"pear\", \"apple\", \"fig\"};
    std::sort(words.begin(), words.end());
    for (const auto &word : words) std::puts(word.c_str());
}
";

/// A folder with these sources, and an executor over it with clang and the shell.
struct Project {
    dir: TempDir,
    executor: Executor,
}

impl Project {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for (name, text) in [
            ("sum.h", "int sum(int a, int b);\n"),
            ("sum.c", SUM),
            ("main.c", MAIN),
            ("sorted.cpp", SORTED),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let folders = vec![programs_and_shell(), clang()];
        let programs = ProgramRegistry::of(folders, &Manifest::standard().unwrap()).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        Self { executor: Executor::new(sandbox_engine(), workspace, programs), dir }
    }

    async fn line(&self, command: &str) -> Outcome {
        let action = Action::Shell { command: command.into(), folder: None };
        self.executor.run(&action, TWO_MINUTES, None).await
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_source =
            |name: &String| [".c", ".h", ".cpp", ".out"].iter().any(|end| name.ends_with(end));
        let mut names: Vec<String> = names.filter(|name| !is_source(name)).collect();
        names.sort();
        names
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_a_c_program_is_compiled_linked_and_run() {
    let project = Project::new();
    let made = project.line("clang -Wall main.c sum.c -o main").await;
    assert_eq!((made.error, made.stderr()), (None, Some("")), "{made:?}");
    let [change] = &made.changes[..] else { panic!("what lies between is gone: {made:?}") };
    assert_eq!((change.path.as_str(), change.kind), ("main", ChangeKind::Created));
    let ran = project.line("printf 'a\\nb\\n' | ./main 2 3 | cat -n; ./main 2 2; echo $?").await;
    assert_eq!(ran.stdout(), Some("     1\tread a\n     2\tread b\n     3\t5\n4\n7\n"), "{ran:?}");
    let parts = "clang -O2 -c main.c sum.c; clang main.o sum.o; ./a.out 1 4; rm *.o";
    assert_eq!(project.line(parts).await.stdout(), Some("5\n"));
    let sorted =
        project.line("clang++ -fno-exceptions sorted.cpp -o sorted && ./sorted | tail -1").await;
    assert_eq!((sorted.stdout(), sorted.stderr()), (Some("pear\n"), Some("")));
    assert_eq!(project.names(), ["main", "sorted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_what_can_not_be_compiled_or_linked_is_told_as_clang_tells_it() {
    let project = Project::new();
    fs::write(project.dir.path().join("bad.c"), "int main(void) { return nosuch; }\n").unwrap();
    let bad = project.line("clang bad.c sum.c -o bad").await;
    assert_eq!((bad.error, bad.exit), (Some(ToolError::Exit), Some(1)), "{bad:?}");
    let told = bad.stderr().unwrap();
    assert!(told.contains("bad.c:1:25: error: use of undeclared identifier 'nosuch'"), "{told}");
    let undefined = project.line("clang main.c -o main").await;
    assert!(undefined.stderr().unwrap().contains("undefined symbol: sum"), "{undefined:?}");
    let none = project.line("clang nosuch.c").await;
    assert!(none.stderr().unwrap().contains("no such file or directory: 'nosuch.c'"), "{none:?}");
    assert_eq!(project.names(), [""; 0]);
    let args = vec!["sum.c".into(), "main.c".into(), "-o".into(), "main".into()];
    let program = Action::RunProgram { program: "clang".into(), args, stdin: None };
    let made = project.executor.run(&program, TWO_MINUTES, None).await;
    assert_eq!((made.error, made.changes.len()), (None, 1), "by run_program, too: {made:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_nothing_is_left_between_jobs_where_the_time_is_up() {
    let project = Project::new();
    let heavy = "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n\
                 std::map<std::string, std::regex> all;\nint main() { return all.size(); }\n";
    fs::write(project.dir.path().join("heavy.cpp"), heavy).unwrap();
    let args = ["-O3", "-fno-exceptions", "sum.c", "heavy.cpp", "-o", "main"];
    let args = args.iter().map(|&arg| arg.into()).collect();
    let program = Action::RunProgram { program: "clang++".into(), args, stdin: None };
    let ready = Action::RunProgram { program: "clang".into(), args: vec![], stdin: None };
    project.executor.run(&ready, TWO_MINUTES, None).await;
    let late = project.executor.run(&program, Duration::from_millis(500), None).await;
    assert!(late.timed_out, "{late:?}");
    assert_eq!((late.changes.len(), project.names()), (0, Vec::new()), "{late:?}");
}

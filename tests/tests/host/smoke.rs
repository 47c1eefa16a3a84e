//! The specification's smoke test through the program `innerloop`: seven steps for each of the
//! families of OpenAI, Anthropic and Gemini, over HTTP with a mock model. Each step is a run of the
//! program on the same folder, as a user without a conversation of his own would take them. There
//! is no shell yet: QuickJS stands in its place, which runs `hello.py` as well, since its two lines
//! are JavaScript, too.

use innerloop_core::config::{ProfileKind, VocabularyKind, WireKind};
use innerloop_tests::{
    anthropic::Message,
    columns::{Column, Wish, calls, wish},
    example::programs,
    mock::Reply,
    program::{Run, on_terminal, run, run_with},
    scene::Scene,
    wires::read,
};
use serde_json::{Value, json};

/// The families of the smoke test, under the specification's own names for the tools.
const COLUMNS: [Column; 3] = [
    column(WireKind::OpenaiResponses, ProfileKind::Openai),
    column(WireKind::Anthropic, ProfileKind::Anthropic),
    column(WireKind::Gemini, ProfileKind::Gemini),
];

const fn column(wire: WireKind, profile: ProfileKind) -> Column {
    Column { wire, profile, vocabulary: VocabularyKind::Seed, has_shell: false }
}

/// The folder that all steps work on, and the mock model that has the replies of all.
struct Smoke {
    column: Column,
    scene: Scene,
}

/// What a step came to.
struct Step {
    events: Vec<Value>,
    /// What the requests of the step brought back to the model.
    results: Vec<String>,
    bodies: Vec<Value>,
}

/// A reply with calls, or one that says something and ends the step.
enum Turn {
    Does(Vec<Wish>),
    Says(&'static str),
}

fn does(wish: Wish) -> Turn {
    Turn::Does(vec![wish])
}

/// All that the model says and does, step by step.
fn script(column: Column) -> Vec<Reply> {
    let (hello, bye) = ("print('Hello World')", "print('Goodbye')");
    let run = |name: &str| wish("run_program", json!({"program": "qjs", "args": [name]}));
    let both = format!("{hello}\n{bye}");
    let spawn = wish("spawn_agent", json!({"task": "Write tests for hello.py"}));
    let turns = [
        // 1. Simple file creation
        does(column.write("hello.py", &format!("{hello}\n"))),
        Turn::Says("Created."),
        // 2. Read and edit
        does(column.read("hello.py")),
        does(column.edit("hello.py", hello, &both)),
        Turn::Says("Added."),
        // 3. Shell execution
        does(run("hello.py")),
        Turn::Says("It prints both."),
        // 4. Truncation verification
        does(column.read("big.txt")),
        Turn::Says("It is all x."),
        // 5. Steering
        does(column.write("app.py", "/\n/users\n/posts\n/health\n")),
        does(column.write("app.py", "/health\n")),
        Turn::Says("One endpoint."),
        // 6. Subagent: from the first call on it is the other one's turn, until it is done.
        Turn::Does(vec![spawn, wish("wait", json!({"agent_id": "agent-1"}))]),
        does(column.write("test_hello.py", "ok\n")),
        Turn::Says("Written."),
        does(column.read("test_hello.py")),
        Turn::Says("They are good."),
        // 7. Timeout handling
        does(run("sleep.js")),
        Turn::Says("It timed out."),
    ];
    let mut count = 0;
    let replies = turns.into_iter().map(|turn| {
        let message = match turn {
            Turn::Says(text) => Message::text(text),
            Turn::Does(wishes) => {
                count += wishes.len();
                calls(&wishes, count + 1 - wishes.len())
            }
        };
        Reply::stream_in(column.wire, &message)
    });
    replies.collect()
}

impl Smoke {
    fn new(column: Column) -> Self {
        let scene = Scene::new(script(column)).speaking(column.wire).in_place();
        // The default of ten seconds, and Claude's of 120, cut short.
        let config = json!({"timeouts": {"default_command_ms": 500, "max_command_ms": 500}});
        std::fs::write(scene.path("config.json"), config.to_string()).unwrap();
        Self { column, scene }
    }

    /// One run of the program, by `start`, with that prompt.
    fn step(&self, prompt: &str, start: impl FnOnce(&mut std::process::Command) -> Run) -> Step {
        let before = self.scene.model.requests().len();
        let mut command = self.scene.command(prompt);
        command.args(["--preset", "seed001", "--config", &self.scene.arg("config.json")]);
        let run = start(command.arg("--programs").arg(programs())).exits(0);
        let events = run.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
        let events = events.collect();
        let requests = self.scene.model.requests();
        let bodies = requests[before..].iter().map(|request| serde_json::from_str(&request.body));
        let bodies: Vec<Value> = bodies.map(Result::unwrap).collect();
        let results = bodies.iter().flat_map(|body| read::results(self.column.wire, body));
        let results = results.map(|result| result.text).collect();
        Step { events, results, bodies }
    }

    /// One run with its events on standard output.
    fn submit(&self, prompt: &str) -> Step {
        self.step(prompt, |command| run(command.arg("--json")))
    }

    fn text(&self, name: &str) -> String {
        self.scene.text(&format!("workspace/{name}"))
    }
}

impl Step {
    /// The events of a kind.
    fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }
}

fn smoke(column: Column) {
    let smoke = Smoke::new(column);
    let _ = smoke.submit("Create a file called hello.py that prints 'Hello World'");
    assert!(smoke.text("hello.py").contains("Hello"));

    let _ = smoke.submit("Read hello.py and add a second print statement that says 'Goodbye'");
    let text = smoke.text("hello.py");
    assert!(text.contains("Hello") && text.contains("Goodbye"), "{text}");

    let step = smoke.submit("Run hello.py and show the output");
    let [start] = &step.of("tool_call_start")[..] else { panic!("{:?}", step.events) };
    assert_eq!(start["name"], "run_program");
    assert_eq!(step.results, ["Hello World\nGoodbye\n"]);

    std::fs::write(smoke.scene.workspace().join("big.txt"), "x".repeat(100_000)).unwrap();
    let step = smoke.submit("Read big.txt");
    let [end] = &step.of("tool_call_end")[..] else { panic!("{:?}", step.events) };
    let whole = end["outcome"]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(whole.matches('x').count(), 100_000, "the event has all of it");
    let [told] = &step.results[..] else { panic!("{:?}", step.results) };
    assert!(told.matches('x').count() <= 50_000, "the model reads half of it");
    assert!(told.contains("[WARNING: Tool output was truncated. "), "{told}");

    // The user sits at a terminal, sees what the first call would write, and steers.
    let steer = "Actually, just create a single /health endpoint for now";
    let typed = format!("s\n{steer}\ny\n");
    let step = smoke.step("Create a Flask web application with multiple routes", |command| {
        run_with(&mut on_terminal(command.env("NO_COLOR", "1")), typed.as_bytes())
    });
    let said = read::said(column.wire, &step.bodies[1]);
    assert_eq!(said.last(), Some(&read::Said::User(steer.into(), 0)), "{said:?}");
    assert_eq!(smoke.text("app.py"), "/health\n", "the model adjusts");

    let step = smoke.submit("Spawn a subagent to write tests for hello.py, then review its output");
    let calls = step.of("tool_call_start").into_iter();
    let calls: Vec<_> =
        calls.map(|event| (event["agent"].clone(), event["name"].clone())).collect();
    let write = column.write("test_hello.py", "").tool;
    let expected = [(0, "spawn_agent"), (0, "wait"), (1, write), (0, "read_file")];
    assert_eq!(calls, expected.map(|(agent, name)| (json!(agent), json!(name))));
    assert!(step.results.iter().any(|result| result.contains("\"output\":\"Written.\"")));

    let sleep = "import('qjs:os').then((os) => { print('begun'); os.sleep(30000); });\n";
    std::fs::write(smoke.scene.workspace().join("sleep.js"), sleep).unwrap();
    let step = smoke.submit("Run 'sleep 30' with the default timeout");
    let [end] = &step.of("tool_call_end")[..] else { panic!("{:?}", step.events) };
    assert_eq!(
        (&end["outcome"]["timed_out"], &end["outcome"]["error"]),
        (&json!(true), &json!("timeout"))
    );
    let [told] = &step.results[..] else { panic!("{:?}", step.results) };
    let timeout = "[ERROR: Command timed out after 500ms. Partial output is shown above. You can \
                   retry with a longer timeout by setting the timeout_ms parameter.]";
    assert!(told.contains("begun\n") && told.ends_with(timeout), "{told}");
    let [result] = &step.of("result")[..] else { panic!("{:?}", step.events) };
    assert_eq!((&result["status"], &result["text"]), (&json!("done"), &json!("It timed out.")));
    assert_eq!(smoke.scene.model.left(), 0, "each reply was asked for");
}

#[test]
fn g8_the_seven_steps_of_the_smoke_test_with_gpt() {
    smoke(COLUMNS[0]);
}

#[test]
fn g8_the_seven_steps_of_the_smoke_test_with_claude() {
    smoke(COLUMNS[1]);
}

#[test]
fn g8_the_seven_steps_of_the_smoke_test_with_gemini() {
    smoke(COLUMNS[2]);
}

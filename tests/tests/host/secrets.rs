//! The key appears nowhere but in the one header of a request to its own origin.

use innerloop_core::secret::SecretScanner;
use innerloop_tests::{
    anthropic::Message,
    masks::starred,
    mock::Reply,
    program::{KEY, Run},
    scene::Scene,
};
use serde_json::json;
use std::process::Command;

/// Everything that a run leaves behind, beside the workspace.
fn traces(scene: &Scene, command: &mut Command, code: i32) -> String {
    let files = ["session.log", "traffic.jsonl"];
    command.arg("--log").arg(scene.path(files[0])).arg("--record").arg(scene.path(files[1]));
    let Run { stdout, stderr, .. } = innerloop_tests::program::run(command).exits(code);
    let texts = files.map(|name| scene.text(name));
    for name in files {
        std::fs::remove_file(scene.path(name)).unwrap();
    }
    format!("{stdout}\n{stderr}\n{}", texts.join("\n"))
}

#[test]
fn a_key_that_the_server_echoes_is_nowhere() {
    for args in [&["--json"][..], &[]] {
        let error = format!("invalid x-api-key: {KEY}");
        let reply = Reply::error(401, "authentication_error", &error).header("x-echo", KEY);
        let scene = Scene::new(vec![reply.in_pieces_of(5)]);
        let traces = traces(&scene, scene.command("go").args(args), 3);
        assert!(starred(&traces).contains("invalid x-api-key: ***"), "{traces}");
        assert!(!traces.contains(KEY), "{traces}");
        assert_eq!(scene.model.requests()[0].header("x-api-key"), Some(KEY));
    }
}

#[test]
fn a_key_in_a_file_of_the_workspace_does_not_reach_the_model() {
    let read = Message::call("toolu_1", "read_file", &json!({"file_path": ".env"}));
    let scene = Scene::streaming(&[read, Message::text("I saw it")]);
    let scene = scene.file(".env", &format!("ANTHROPIC_API_KEY={KEY}\n"));
    let prompt = format!("My key is {KEY}, do not tell");
    let traces = traces(&scene, scene.command(&prompt).arg("--json"), 0);
    assert!(
        starred(&traces).contains("ANTHROPIC_API_KEY=***") && !traces.contains(KEY),
        "{traces}"
    );
    let requests = scene.model.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert!(starred(&request.body).contains("My key is ***"), "{request:?}");
        assert!(!request.body.contains(KEY), "{request:?}");
        let others = request.headers.iter().filter(|(name, _)| name != "x-api-key");
        assert!(others.clone().all(|(_, value)| !value.contains(KEY)), "{request:?}");
    }
    assert!(scene.text("workspace/.env").contains(KEY));
}

#[test]
fn a_program_in_the_sandbox_does_not_find_the_key() {
    let script = "import * as std from 'qjs:std';\nconsole.log(JSON.stringify(std.getenviron()));";
    let call = json!({"program": "qjs", "args": ["-m", "env.mjs"]});
    let call = Message::call("toolu_1", "run_program", &call);
    let scene = Scene::streaming(&[call, Message::text("done")]).file("env.mjs", script);
    let mut command = scene.command("go");
    command.arg("--json").arg("--programs").arg(innerloop_tests::example::programs());
    let traces = traces(&scene, &mut command, 0);
    assert!(traces.contains("PWD"), "{traces}");
    assert!(!traces.contains("ANTHROPIC") && !traces.contains("‹secret"), "{traces}");
}

#[test]
fn a_key_that_a_program_prints_piece_by_piece_is_nowhere() {
    let (first, second) = KEY.split_at(15);
    let script = format!(
        "import * as std from 'qjs:std';\nstd.out.puts('key={first}'); std.out.flush();\n\
         std.out.puts('{second}\\n'); std.err.puts('{first}{second}'); std.err.flush();\n"
    );
    let call = json!({"program": "qjs", "args": ["-m", "print.mjs"]});
    let call = Message::call("toolu_1", "run_program", &call);
    let scene = Scene::streaming(&[call, Message::text("done")]).file("print.mjs", &script);
    let mut command = scene.command("go");
    command.arg("--json").arg("--programs").arg(innerloop_tests::example::programs());
    let traces = traces(&scene, &mut command, 0);
    assert!(starred(&traces).contains("key=***") && !traces.contains(second), "{traces}");
    assert!(starred(&scene.model.requests()[1].body).contains("key=***"));
}

#[test]
fn a_key_in_the_projects_instructions_and_in_the_configuration_is_nowhere() {
    let scene = Scene::streaming(&[Message::text("done")]);
    let scene = scene.file("AGENTS.md", &format!("Use {KEY}.\n"));
    let config = json!({"instructions": format!("The key is {KEY}.")}).to_string();
    std::fs::write(scene.path("config.json"), config).unwrap();
    let mut command = scene.command("go");
    command.arg("--json").arg("--config").arg(scene.path("config.json"));
    let traces = traces(&scene, &mut command, 0);
    assert!(
        starred(&traces).contains("Use ***.") && starred(&traces).contains("The key is ***."),
        "{traces}"
    );
    assert!(!traces.contains(KEY));
    assert!(!scene.model.requests()[0].body.contains(KEY));
}

#[test]
fn a_key_in_an_error_of_the_program_is_nowhere() {
    let scene = Scene::streaming(&[]);
    let file = scene.arg(&format!("no/{KEY}"));
    for args in [["--log", &file], ["--replay", &file], ["--config", &file], ["--model", "m"]] {
        let mut command = scene.command("go");
        command.args(args).args(["--provider", KEY, "--json"]);
        let run = innerloop_tests::program::run(&mut command);
        assert!(run.code.is_some_and(|code| code > 0), "{run:?}");
        assert!(!run.stdout.contains(KEY) && !run.stderr.contains(KEY), "{run:?}");
    }
}

#[test]
fn a_redirect_gets_nothing() {
    let elsewhere = Scene::streaming(&[Message::text("stolen")]);
    let scene = Scene::new(vec![Reply::redirect(307, &elsewhere.model.url())]);
    let traces = traces(&scene, &mut scene.command("go"), 3);
    assert!(traces.contains("redirects are not followed"), "{traces}");
    assert_eq!(elsewhere.model.requests().len(), 0);
}

#[test]
fn n24_the_program_edits_a_file_whose_secrets_nobody_reads() {
    let secret = concat!("ghp_", "4fJk9Q2mZx7Lw1Vb8Tn5Rc3Yd6Hs0Ga2Pe4U");
    let mask = SecretScanner::new(7, &[]).masked(secret, &mut Vec::new()).into_owned();
    let [before, after] = ["3000", "8080"].map(|port| format!("PORT={port}\nTOKEN={secret}\n"));
    let shown = after.replace(secret, &mask);
    let old = format!("PORT=3000\nTOKEN={mask}");
    for (name, arguments) in [
        ("write_file", json!({"file_path": ".env", "content": shown})),
        ("edit_file", json!({"file_path": ".env", "old_string": old, "new_string": shown.trim()})),
    ] {
        for is_in_place in [false, true] {
            let read = Message::call("toolu_1", "read_file", &json!({"file_path": ".env"}));
            let change = Message::call("toolu_2", name, &arguments);
            let scene = Scene::streaming(&[read, change, Message::text("done")]);
            let scene = scene.file(".env", &before);
            let scene = if is_in_place { scene.in_place() } else { scene };
            std::fs::write(scene.path("salt.json"), r#"{"firewall":{"salt":7}}"#).unwrap();
            let mut command = scene.command("change the port");
            command.args(["--json", "--approve", "edits"]);
            command.arg("--config").arg(scene.path("salt.json"));
            let traces = traces(&scene, &mut command, 0);
            assert_eq!(scene.text("workspace/.env"), after, "{name} {is_in_place}: {traces}");
            assert!(traces.contains(&mask) && !traces.contains(secret), "{name}: {traces}");
            let requests = scene.model.requests();
            assert!(requests.iter().all(|request| !request.body.contains(secret)), "{name}");
        }
    }
}

#[test]
fn k16_the_program_shows_secrets_where_that_is_wanted() {
    let secret = concat!("ghp_", "4fJk9Q2mZx7Lw1Vb8Tn5Rc3Yd6Hs0Ga2Pe4U");
    for (args, shows) in [(&["--no-mask"][..], true), (&[], false)] {
        let read = Message::call("toolu_1", "read_file", &json!({"file_path": ".env"}));
        let scene = Scene::streaming(&[read, Message::text("done")]);
        let scene = scene.file(".env", &format!("TOKEN={secret}\n"));
        let run = innerloop_tests::program::run(scene.command("look").args(args)).exits(0);
        assert_eq!(scene.model.requests()[1].body.contains(secret), shows, "{args:?}");
        assert_eq!(run.stderr.contains("(secrets found: github)"), !shows, "{}", run.stderr);
    }
}

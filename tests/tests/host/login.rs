//! Keys that are kept: in a file of `innerloop login`, in the platform's key ring; and the commands
//! that tell of providers and models.

use innerloop_tests::{
    anthropic::Message,
    masks::starred,
    mock::Reply,
    program::{Run, Started, innerloop, on_terminal, run, run_with, wait_for},
    scene::Scene,
};
use serde_json::Value;
use std::{
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt as _,
    process::Command,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

/// Keys, by where they are kept.
const OF_ENVIRONMENT: &str = "sk-ant-environment-0123";
const OF_SETTINGS: &str = "sk-ant-settings-0123456";
const OF_FILE: &str = "sk-ant-file-0123456789a";
const OF_KEY_RING: &str = "sk-ant-keyring-01234567";

/// A scene whose model says «done» as often as it is asked.
fn scene() -> Scene {
    Scene::new((0..8).map(|_| Reply::stream(&Message::text("done"))).collect())
}

/// The program of a user without any key in the environment.
fn program(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("INNERLOOP_HOME", scene.path("home")).env_remove("ANTHROPIC_API_KEY");
    command
}

fn go(scene: &Scene) -> Command {
    let mut command = scene.command("go");
    command.env("INNERLOOP_HOME", scene.path("home")).env_remove("ANTHROPIC_API_KEY");
    command
}

fn login(scene: &Scene, args: &[&str], key: &str) -> Run {
    let args = [&["login"][..], args].concat();
    run_with(&mut program(scene, &args), format!("{key}\n").as_bytes())
}

/// The key that the model was sent last.
fn sent(scene: &Scene) -> Option<String> {
    let requests = scene.model.requests();
    Some(requests.last()?.header("x-api-key")?.to_owned())
}

/// Puts a program `secret-tool` into a folder, which is to be the search path.
fn secret_tool(scene: &Scene, script: &str) -> String {
    let folder = scene.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let place = folder.join("secret-tool");
    fs::write(
        &place,
        format!("#!/bin/sh\nPATH=/usr/bin:/bin\ncd '{}'\n{script}", scene.arg("bin")),
    )
    .unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    scene.arg("bin")
}

#[test]
fn a_key_is_kept_in_a_file_of_its_users_alone() {
    let scene = scene();
    let said = login(&scene, &["anthropic"], OF_FILE).exits(0);
    assert!(said.stdout.starts_with("the key of anthropic is kept in /"), "{said:?}");
    assert!(!said.stdout.contains(OF_FILE) && !said.stderr.contains(OF_FILE), "{said:?}");
    let mode = |name: &str| fs::metadata(scene.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("home"), mode("home/credentials.toml")), (0o700, 0o600));
    let _run = run(&mut go(&scene)).exits(0);
    assert_eq!(sent(&scene).as_deref(), Some(OF_FILE));
    assert_eq!(run(&mut program(&scene, &["login", "--list"])).exits(0).stdout, "anthropic\n");
    let _ = run(&mut program(&scene, &["logout", "anthropic"])).exits(0);
    let gone = run(&mut go(&scene)).exits(3);
    assert!(gone.complaint().contains("innerloop login anthropic"), "{gone:?}");
    let _ = run(&mut program(&scene, &["logout", "anthropic"])).exits(2);
}

#[test]
fn a_file_that_others_may_read_is_not_used() {
    let scene = scene();
    let _ = login(&scene, &["anthropic"], OF_FILE).exits(0);
    let file = scene.path("home/credentials.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = run(&mut go(&scene)).exits(3);
    assert!(refused.complaint().contains("can be read by other users"), "{refused:?}");
    assert!(refused.complaint().contains("chmod 600 '/"), "{refused:?}");
    assert_eq!(scene.model.requests().len(), 0);
    let _ = login(&scene, &["openai"], OF_FILE).exits(1);
    // A key of the environment needs no file.
    let _ = run(go(&scene).env("ANTHROPIC_API_KEY", OF_ENVIRONMENT)).exits(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, format!("anthropic = [\"{OF_FILE}\"]\n")).unwrap();
    let refused = run(&mut go(&scene)).exits(3);
    assert!(refused.complaint().contains("lines of the form"), "{refused:?}");
    assert!(!refused.stderr.contains(OF_FILE), "{refused:?}");
}

#[test]
fn the_environment_comes_first_and_the_key_ring_last() {
    let scene = scene();
    let script = format!("echo \"$@\" >> asked\necho {OF_KEY_RING}\n");
    let path = secret_tool(&scene, &script);
    let ask = |environment: bool, settings: bool| {
        let mut command = go(&scene);
        command.env("PATH", &path).env("MY_KEY", if settings { OF_SETTINGS } else { "" });
        if environment {
            command.env("ANTHROPIC_API_KEY", OF_ENVIRONMENT);
        }
        let _run = run(&mut command).exits(0);
        sent(&scene).unwrap()
    };
    assert_eq!(ask(false, false), OF_KEY_RING);
    assert_eq!(scene.text("bin/asked"), "lookup service innerloop account anthropic\n");
    fs::remove_file(scene.path("bin/asked")).unwrap();
    let _ = login(&scene, &["anthropic"], OF_FILE).exits(0);
    fs::write(scene.path("home/config.toml"), "[providers.anthropic]\napi_key_env = 'MY_KEY'\n")
        .unwrap();
    assert_eq!(ask(false, false), OF_FILE);
    assert_eq!(ask(false, true), OF_SETTINGS);
    assert_eq!(ask(true, true), OF_ENVIRONMENT);
    assert!(!scene.path("bin/asked").exists(), "it was asked although there was a key");
}

#[test]
fn a_key_from_anywhere_is_nowhere_in_what_comes_out() {
    for (origin, key) in [("settings", OF_SETTINGS), ("file", OF_FILE), ("ring", OF_KEY_RING)] {
        let error = format!("invalid x-api-key: {key}");
        let reply = Reply::error(401, "authentication_error", &error).header("x-echo", key);
        let scene = Scene::new(vec![reply.in_pieces_of(5)]);
        let mut command = go(&scene);
        match origin {
            "settings" => {
                fs::create_dir(scene.path("home")).unwrap();
                let text = "[providers.anthropic]\napi_key_env = 'MY_KEY'\n";
                fs::write(scene.path("home/config.toml"), text).unwrap();
                command.env("MY_KEY", key);
            }
            "file" => drop(login(&scene, &["anthropic"], key).exits(0)),
            _ => drop(command.env("PATH", secret_tool(&scene, &format!("echo {key}\n")))),
        }
        command.arg("--json").arg("--log").arg(scene.path("session.log"));
        let run = run(command.arg("--record").arg(scene.path("traffic.jsonl"))).exits(3);
        let log = scene.text("session.log") + &scene.text("traffic.jsonl");
        assert!(starred(&run.stdout).contains("invalid x-api-key: ***"), "{origin}: {run:#?}");
        for text in [run.stdout, run.stderr, log] {
            assert!(!text.contains(key), "{origin}: {text}");
        }
        assert_eq!(sent(&scene).as_deref(), Some(key), "{origin}");
    }
}

#[test]
fn a_key_ring_that_does_not_answer_or_complains_is_told_of() {
    let scene = scene();
    // Longer than a test waits for the program.
    let path = secret_tool(&scene, "exec sleep 600\n");
    let late = run(go(&scene).env("PATH", path)).exits(3);
    assert!(late.complaint().contains("secret-tool did not answer in 5 s"), "{late:?}");
    let path = secret_tool(&scene, "echo 'no session bus' >&2; exit 1\n");
    let broken = run(go(&scene).env("PATH", path)).exits(3);
    assert!(broken.complaint().contains("anthropic: no session bus"), "{broken:?}");
    // It has no key.
    let path = secret_tool(&scene, "exit 1\n");
    let none = run(go(&scene).env("PATH", path)).exits(3);
    assert!(none.complaint().contains("ANTHROPIC_API_KEY is not set"), "{none:?}");
    // A folder that is not absolute may be anybody's.
    let _ = secret_tool(&scene, &format!("echo {OF_KEY_RING}\n"));
    let mut command = go(&scene);
    command.env("PATH", "bin").current_dir(scene.path("."));
    let none = run(&mut command).exits(3);
    assert!(none.complaint().contains("ANTHROPIC_API_KEY is not set"), "{none:?}");
}

#[test]
fn a_key_can_be_kept_in_the_key_ring() {
    let scene = scene();
    let script = "echo \"$@\" >> asked\ncase $1 in\nstore) cat > kept ;;\nlookup) cat kept ;;\n\
        clear) rm kept ;;\nesac\n";
    let path = secret_tool(&scene, script);
    let mut command = program(&scene, &["login", "anthropic", "--keyring"]);
    let said = run_with(command.env("PATH", &path), OF_KEY_RING.as_bytes()).exits(0);
    assert!(said.stdout.contains("is kept in the key ring"), "{said:?}");
    assert!(!scene.text("bin/asked").contains(OF_KEY_RING), "a key among the arguments");
    assert!(!scene.path("home/credentials.toml").exists());
    let _run = run(go(&scene).env("PATH", &path)).exits(0);
    assert_eq!(sent(&scene).as_deref(), Some(OF_KEY_RING));
    let mut command = program(&scene, &["logout", "anthropic", "--keyring"]);
    let _ = run(command.env("PATH", &path)).exits(0);
    assert!(!scene.path("bin/kept").exists());
    let mut command = program(&scene, &["login", "anthropic", "--keyring"]);
    let none = run_with(&mut command, OF_KEY_RING.as_bytes()).exits(1);
    assert!(none.complaint().contains("there is no program secret-tool"), "{none:?}");
}

#[test]
fn what_is_no_key_is_not_kept() {
    let scene = scene();
    for (key, want) in [
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("short", "it is too short"),
        ("sk-ant with blanks", "no header takes"),
        ("sk-ant-\u{1b}[31mred", "no header takes"),
    ] {
        let refused = login(&scene, &["anthropic"], key).exits(2);
        assert!(refused.complaint().contains(want), "{key:?}: {refused:?}");
    }
    let refused = login(&scene, &["nobody"], OF_FILE).exits(2);
    assert!(refused.complaint().contains("unknown provider \"nobody\"; known: anthropic"));
    assert!(!scene.path("home/credentials.toml").exists());
}

/// What somebody types, when they type it.
struct Typed(Receiver<Vec<u8>>);

impl Read for Typed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.recv().unwrap_or_default();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[test]
fn a_key_that_is_typed_is_not_shown() {
    let scene = scene();
    let (keys, typed) = channel();
    let mut command = on_terminal(&program(&scene, &["login", "anthropic"]));
    let started = Started::reading(&mut command, Typed(typed));
    wait_for("the question", || started.said().contains("it is not shown"));
    // The terminal is silent a moment later.
    std::thread::sleep(Duration::from_millis(300));
    keys.send(format!("{OF_FILE}\n").into_bytes()).unwrap();
    wait_for("the answer", || started.said().contains("is kept in"));
    drop(keys);
    let run = started.finish().exits(0);
    assert!(!run.stdout.contains(OF_FILE), "{run:?}");
    assert!(scene.text("home/credentials.toml").contains(OF_FILE));
}

#[test]
fn who_has_logged_in_needs_to_name_no_provider() {
    let scene = Scene::new(vec![]);
    let _ = login(&scene, &["deepseek"], OF_FILE).exits(0);
    let mut command = program(&scene, &["run", "go", "--apply", "--workspace"]);
    command.arg(scene.workspace()).env("DEEPSEEK_BASE_URL", scene.model.url());
    let run = run(&mut command);
    assert!(run.stderr.contains("using deepseek, since `innerloop login` has kept"), "{run:?}");
    assert_eq!(
        scene.model.requests()[0].header("authorization"),
        Some(&*format!("Bearer {OF_FILE}"))
    );
}

#[test]
fn providers_and_models_are_listed() {
    let scene = scene();
    let _ = login(&scene, &["gemini"], OF_FILE).exits(0);
    let text = "[providers.openai]\nbase_url = 'https://proxy.example/v1'\nmodel = 'gpt-mine'\n";
    fs::write(scene.path("home/config.toml"), text).unwrap();
    let list = |args: &[&str]| {
        let mut command = program(&scene, args);
        run(command.env("GROQ_API_KEY", OF_ENVIRONMENT)).exits(0)
    };
    let shown = list(&["providers"]);
    assert!(!shown.stdout.contains(OF_FILE) && !shown.stdout.contains(OF_ENVIRONMENT));
    let all = list(&["providers", "--json"]).json_lines().remove(0);
    let of = |name: &str| {
        let found = all.as_array().unwrap().iter().find(|it| it["name"] == name);
        found.unwrap_or(&Value::Null).clone()
    };
    assert_eq!(of("groq")["key"], "GROQ_API_KEY");
    assert_eq!(of("gemini")["key"], scene.arg("home/credentials.toml"));
    assert_eq!(of("gemini-openai")["key"], scene.arg("home/credentials.toml"), "the same key");
    assert_eq!(of("mistral")["key"], Value::Null);
    assert_eq!(of("openai")["base_url"], "https://proxy.example/v1");
    assert_eq!(of("openai")["model"], "gpt-mine");
    assert_eq!(of("ollama")["needs_key"], false);

    let models = list(&["models", "anthropic", "--json"]).json_lines().remove(0);
    let models = models.as_array().unwrap();
    assert_eq!(models.iter().filter(|it| it["default"] == true).count(), 1);
    assert!(models.iter().all(|it| it["provider"] == "anthropic"));
    assert!(models.iter().any(|it| it["price"]["input"].as_f64().is_some_and(|it| it > 0.0)));
    let shown = list(&["models"]).stdout;
    assert!(shown.starts_with("provider") && shown.contains("$/M in"), "{shown}");
    assert!(list(&["models", "ollama"]).stdout.contains("--model takes any name"));
    let unknown = run(&mut program(&scene, &["models", "nobody"])).exits(2);
    assert!(unknown.complaint().contains("unknown provider"), "{unknown:?}");
}

#[test]
fn completions_and_manual_pages_know_all_commands() {
    let scene = scene();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = run(&mut program(&scene, &["completions", shell])).exits(0).stdout;
        for word in ["config", "providers", "no-settings", "in-place"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let page = run(&mut program(&scene, &["man"])).exits(0).stdout;
    assert!(page.contains(".TH innerloop 1") && page.contains("innerloop\\-config(1)"), "{page}");
    let said = run(&mut program(&scene, &["man", &scene.arg("pages")])).exits(0).stdout;
    assert!(said.starts_with("the pages are in /"), "{said}");
    for name in ["innerloop.1", "innerloop-run.1", "innerloop-config-set.1"] {
        assert!(scene.text(&format!("pages/{name}")).contains(".SH"), "{name}");
    }
    fs::write(scene.path("file"), "").unwrap();
    let _ = run(&mut program(&scene, &["man", &scene.arg("file")])).exits(2);
}

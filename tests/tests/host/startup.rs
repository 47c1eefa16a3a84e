//! What `innerloop run` does before the first request, and what it leaves for later.

use innerloop_tests::{
    anthropic::Message,
    program::{Started, innerloop, run, wait_for},
    scene::Scene,
};
use std::{fs, path::Path, process::Command};

fn compiled(cache: &Path) -> usize {
    let Ok(entries) = fs::read_dir(cache.join(".innerloop")) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "cwasm")).count()
}

#[test]
fn a_request_does_not_wait_for_the_tools() {
    let cold = |scene: &Scene| {
        let mut command = scene.command("go");
        command.env("INNERLOOP_CACHE_DIR", scene.path("cache"));
        command
    };
    let scene = Scene::streaming(&[Message::text("done"), Message::text("done")]);
    let program = Started::new(&mut cold(&scene), b"");
    wait_for("the request", || scene.model.requests().len() == 1);
    assert_eq!(compiled(&scene.path("cache")), 0, "the tools came first");
    let first = program.finish().exits(0);
    assert!(first.stderr.contains("preparing the tools"), "{first:?}");
    // They are ready for the next run even if this one had no use for them.
    assert_eq!(compiled(&scene.path("cache")), 1);
    let second = run(&mut cold(&scene)).exits(0);
    assert!(!second.stderr.contains("preparing the tools"), "{second:?}");
}

/// A machine without any certificate.
fn without_certificates(scene: &Scene, command: &mut Command) {
    command.env("SSL_CERT_FILE", scene.path("none")).env("SSL_CERT_DIR", scene.path("none"));
}

#[test]
fn an_endpoint_without_tls_on_this_machine_needs_no_certificates() {
    let scene = Scene::streaming(&[Message::text("done")]);
    let mut command = scene.command("go");
    without_certificates(&scene, &mut command);
    assert_eq!(run(&mut command).exits(0).stdout, "done\n");

    for base in ["https://127.0.0.1:9", "https://models.example"] {
        let mut command = innerloop(["run", "go", "--apply", "--base-url", base]);
        command.arg("--workspace").arg(scene.workspace());
        without_certificates(&scene, &mut command);
        let run = run(&mut command).exits(3);
        assert!(run.complaint().contains("cannot set up TLS"), "{run:?}");
        assert!(run.complaint().contains("install CA certificates"), "{run:?}");
    }
}

//! `innerloop doctor`: checks that this installation works, a line for each thing.

use super::{
    args::{DoctorArgs, ModelArgs},
    console::say,
    exit::{Exit, Failure},
    keys,
    setup::{self, Choice},
};
use crate::{http::Http, local, programs::Programs, sandbox::OnProgress};
use innerloop_core::action::{Action, Numbering};
use innerloop_driver::providers::Provider;
use std::{
    env, fs,
    path::Path,
    process,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// What the check of one thing came to.
enum Finding {
    Fine(String),
    /// Something is missing that one can do without.
    Warning(String),
    Broken(String),
}

use Finding::{Broken, Fine, Warning};

pub(super) async fn run(args: DoctorArgs) -> Result<(), Failure> {
    let Choice { provider, because } = setup::provider(&args.model)?;
    let mut broken = 0;
    let mut tell = |name: &str, finding: Finding| match finding {
        Fine(detail) => say(&format!("ok    {name}: {detail}")),
        Warning(detail) => say(&format!("warn  {name}: {detail}")),
        Broken(detail) => {
            broken += 1;
            say(&format!("FAIL  {name}: {detail}"));
        }
    };
    tell("version", version());
    if let Some(because) = because {
        tell("choice", Fine(because));
    }
    tell("key", key(&provider));
    let (cache, tools) = sandbox(args.programs.as_deref()).await;
    tell("cache", cache);
    tell("tools", tools);
    tell("programs", programs(args.programs.as_deref()));
    tell("commands", commands());
    if args.online {
        tell("provider", reach(&provider, &args.model).await);
    }
    match broken {
        0 => Ok(()),
        1 => Err(Failure::new(Exit::Failed, "one check failed; see the line with FAIL")),
        n => Err(Failure::new(Exit::Failed, format!("{n} checks failed; see the lines with FAIL"))),
    }
}

fn version() -> Finding {
    let (system, machine) = (env::consts::OS, env::consts::ARCH);
    Fine(format!("innerloop {} on {system} {machine}", env!("CARGO_PKG_VERSION")))
}

fn key(provider: &Provider) -> Finding {
    let variables = keys::variables(provider);
    match (keys::key(provider).is_empty(), provider.key_optional) {
        (false, _) => Fine(format!("{variables} is set")),
        (true, true) => Fine(format!("{} needs none", provider.name)),
        (true, false) => Warning(format!("{variables} is not set; without it only --replay works")),
    }
}

/// The cache of compiled modules, and a read by the guest tools in a folder of its own.
async fn sandbox(programs: Option<&Path>) -> (Finding, Finding) {
    let folder = env::temp_dir().join(format!("innerloop-doctor-{}", process::id()));
    if let Err(error) = fs::create_dir(&folder) {
        let why = format!("cannot create {}: {error}", folder.display());
        return (Warning("not looked at".to_owned()), Broken(why));
    }
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let tools = read(&folder, programs, Arc::clone(&complaints)).await;
    drop(fs::remove_dir_all(&folder));
    let complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
    let cache = if complaints.is_empty() {
        Fine("compiled modules are kept in a private folder".to_owned())
    } else {
        Warning(complaints)
    };
    (cache, tools)
}

async fn read(
    folder: &Path,
    programs: Option<&Path>,
    complaints: Arc<Mutex<Vec<String>>>,
) -> Finding {
    const TEXT: &str = "read in the sandbox";
    if let Err(error) = fs::write(folder.join("probe.txt"), TEXT) {
        return Broken(format!("cannot write to {}: {error}", folder.display()));
    }
    let note: OnProgress = Arc::new(move |line: &str| {
        // A module that is being prepared is the ordinary course.
        if !line.starts_with("preparing ") {
            complaints.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        }
    });
    let opened = setup::workspace(folder, true);
    let sandbox = match opened.and_then(|it| setup::sandbox(it, programs, Some(note))) {
        Ok(sandbox) => sandbox,
        Err(failure) => return Broken(failure.message),
    };
    let action = Action::read("probe.txt", None, Numbering::None);
    let begun = Instant::now();
    let outcome = sandbox.run(&action, READ_TIMEOUT, None).await;
    let text = outcome.joined_text();
    if outcome.error.is_none() && text.contains(TEXT) {
        Fine(format!("a file was read in the sandbox in {} ms", begun.elapsed().as_millis()))
    } else {
        Broken(format!("a read in the sandbox gave: {text}"))
    }
}

fn programs(explicit: Option<&Path>) -> Finding {
    let programs = match Programs::find(explicit) {
        Ok(programs) => programs,
        Err(error) => return Broken(error.to_string()),
    };
    let mut found = Vec::new();
    for (name, ..) in programs.iter() {
        match programs.verify(name) {
            Some(Ok(digest)) => found.push(format!("{name} (SHA-256 {digest})")),
            Some(Err(error)) => return Broken(error.to_string()),
            None => {}
        }
    }
    if found.is_empty() {
        let advice = "innerloop tools install python brings one, --programs names a folder of them";
        return Warning(format!("none, so that the agent can run nothing; {advice}"));
    }
    let folders: Vec<String> = programs.folders().map(|it| it.display().to_string()).collect();
    let folders =
        if folders.is_empty() { String::new() } else { format!(" in {}", folders.join(", ")) };
    Fine(format!("{}{folders}", found.join(", ")))
}

/// Where commands would run that are allowed on this machine. Nothing is started for that.
fn commands() -> Finding {
    Fine(match local::bubblewrap() {
        Some(path) => format!("with --env local they run inside of {}", path.display()),
        None => "bubblewrap is not installed; with --env local they run without it".to_owned(),
    })
}

async fn reach(provider: &Provider, args: &ModelArgs) -> Finding {
    let endpoint = match setup::endpoint_of(provider, args) {
        Ok(endpoint) => endpoint,
        Err(failure) => return Broken(failure.message),
    };
    let base = endpoint.base();
    let http = match Http::new(base.is_loopback()) {
        Ok(http) => http,
        Err(failure) => return Broken(failure.message),
    };
    match http.reach(base).await {
        Ok(status) => Fine(format!("{base} answers (HTTP {status})")),
        Err(failure) => Broken(failure.message),
    }
}

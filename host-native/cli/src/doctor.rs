//! `innerloop doctor`: checks this installation, prints one line per check, and says how to fix
//! what does not work. Each check does the real thing in the way a session does it, so that a line
//! with `ok` means that a session will not fail there.

use super::{
    args::{ColourChoice, DoctorArgs, ModelArgs},
    console::{say, warn},
    credentials,
    diagnostic::CheckFinding::{self, Broken, Fine, Warning},
    endpoint_probe,
    exit::{CliError, ExitReason},
    fallbacks, instructions,
    keys::{self, FoundKey},
    program_folders, settings,
    setup::{self, ProviderChoice},
    spinner::{ActivityLabel, PAUSE, Spinner},
    style::OutputStyle,
    terminal::{Screen, size},
};
use innerloop_core::action::{Action, LineNumbering, Outcome};
use innerloop_driver::{FallbackModel, providers::Provider};
use innerloop_host::{facts, local};
use innerloop_sandbox::{Executor, OnProgress, programs::ProgramRegistry};
use innerloop_workspace::Workspace;
use std::{
    cell::RefCell,
    convert::Infallible,
    env, fs,
    path::Path,
    process,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{task::spawn_blocking, time::sleep};

/// The time after which a check is announced even without a terminal.
const LONG: Duration = Duration::from_secs(2);

/// The time limit of one operation in the sandbox, not counting compilation.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn run(mut args: DoctorArgs) -> Result<(), CliError> {
    let workspace = setup::workspace(&args.workspace, false);
    let settings = settings::standing(&mut args.model, workspace.as_ref().ok());
    let ProviderChoice { provider, because } = setup::provider(&args.model)?;
    let (mut broken, progress) = (0, ProgressLine::begin());
    let mut tell = |name: &str, finding: CheckFinding| match finding {
        Fine(detail) => progress.say(&format!("ok    {name}: {detail}")),
        Warning(detail) => progress.say(&format!("warn  {name}: {detail}")),
        Broken(detail) => {
            broken += 1;
            progress.say(&format!("FAIL  {name}: {detail}"));
        }
    };
    tell("version", version());
    tell("settings", settings);
    if let Some(because) = because {
        tell("choice", Fine(because));
    }
    let found = find_key(&provider, &args.model);
    tell("key", key(&provider, &found));
    let trying = "trying the sandbox; what it compiles the first time is kept";
    let tried = progress.during(trying, sandbox(args.programs.as_deref())).await;
    let SandboxFindings { complaints, findings } = tried;
    for (name, finding) in program_folders::findings() {
        match (name, finding, complaints.is_empty()) {
            ("cache", Fine(_), false) => tell(name, Warning(complaints.clone())),
            (_, finding, _) => tell(name, finding),
        }
    }
    for (name, finding) in findings {
        tell(name, finding);
    }
    tell("programs", programs(args.programs.as_deref()));
    tell("commands", commands());
    let looked = progress.during("looking at the folder", folder(workspace, &args, &provider));
    tell("folder", looked.await);
    let asking = format!("asking {}", provider.name);
    let asked = reached(&provider, &args.model, &found, args.offline);
    tell("provider", progress.during(&asking, asked).await);
    match fallbacks::read(&provider, &args.model) {
        Ok(others) => {
            for other in others {
                let asking = format!("asking {}", other.provider.name);
                tell("fallback", progress.during(&asking, fallback(&other, &args)).await);
            }
        }
        Err(failure) => tell("fallback", Broken(failure.message)),
    }
    drop(progress);
    match broken {
        0 => Ok(()),
        1 => Err(CliError::new(ExitReason::Failed, "one check failed; see the line with FAIL")),
        n => Err(CliError::new(
            ExitReason::Failed,
            format!("{n} checks failed; see the lines with FAIL"),
        )),
    }
}

/// The display of the current check: a spinner on a terminal; elsewhere one line for each check
/// that takes long.
struct ProgressLine {
    screen: Screen,
    spinner: RefCell<Spinner>,
}

impl ProgressLine {
    fn begin() -> Self {
        let screen = Screen::default();
        if let Some(size) = size() {
            screen.begin(size);
        }
        let spinner = Spinner::new(screen.clone(), OutputStyle::new(ColourChoice::Auto));
        Self { screen, spinner: RefCell::new(spinner) }
    }

    /// Shows `what` until `work` is done.
    async fn during<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        self.spinner.borrow_mut().set(Some(ActivityLabel::of(what)));
        let done = tokio::select! {
            done = work => done,
            never = self.tick(what) => match never {},
        };
        self.spinner.borrow_mut().set(None);
        done
    }

    async fn tick(&self, what: &str) -> Infallible {
        if size().is_none() {
            sleep(LONG).await;
            warn(&format!("{what} …"));
        }
        loop {
            sleep(PAUSE).await;
            self.spinner.borrow().tick();
        }
    }

    fn say(&self, line: &str) {
        let hidden = self.screen.hide();
        say(line);
        drop(hidden);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.screen.end();
    }
}

fn version() -> CheckFinding {
    let (system, machine) = (env::consts::OS, env::consts::ARCH);
    Fine(format!("innerloop {} on {system} {machine}", env!("CARGO_PKG_VERSION")))
}

/// Finds the provider's key as a session does.
fn find_key(provider: &Provider, args: &ModelArgs) -> Result<Option<FoundKey>, String> {
    match provider.key_optional {
        true => keys::at_hand(provider, &args.settings),
        false => keys::find(provider, &args.settings),
    }
}

fn key(provider: &Provider, found: &Result<Option<FoundKey>, String>) -> CheckFinding {
    let name = &provider.name;
    // The key may come from elsewhere, but a file that can't be used is a problem for the next one.
    let unused = credentials::read().err();
    match (found, provider.key_optional) {
        (Ok(Some(FoundKey { origin, .. })), _) => {
            let place = format!("the key of {name} is in {}", origin.told());
            unused.map_or(Fine(place.clone()), |why| Warning(format!("{place}; {why}")))
        }
        (Ok(None), true) => Fine(format!("{name} needs none")),
        (Ok(None), false) => Warning(format!(
            "{} is not set, and `innerloop login` has kept no key of {name}; put your API key in \
             the one or give it to the other, without it only --replay works",
            keys::variables(provider)
        )),
        (Err(why), true) => Warning(why.clone()),
        (Err(why), false) => Broken(why.clone()),
    }
}

/// Checks whether the provider can be reached and takes the key, if there is something to try.
async fn reached(
    provider: &Provider,
    args: &ModelArgs,
    found: &Result<Option<FoundKey>, String>,
    offline: bool,
) -> CheckFinding {
    let origin = found.as_ref().ok().and_then(Option::as_ref).map(|found| &found.origin);
    match origin {
        _ if offline => Fine("not asked".to_owned()),
        None if !provider.key_optional => {
            Warning(format!("{} is not asked without a key", provider.name))
        }
        origin => endpoint_probe::ask(provider, args, origin).await,
    }
}

/// Checks a model that takes over. A session refuses to begin without its key, so that a missing
/// one is a failure here.
async fn fallback(other: &FallbackModel, args: &DoctorArgs) -> CheckFinding {
    let FallbackModel { provider, model, .. } = other;
    let model_args = ModelArgs { model: model.clone(), ..args.model.of(provider) };
    let found = find_key(provider, &model_args);
    let finding = match key(provider, &found) {
        Warning(why) if matches!(found, Ok(None)) => Broken(why),
        Broken(why) => Broken(why),
        _ => reached(provider, &model_args, &found, args.offline).await,
    };
    let name = provider.name.as_str();
    match finding {
        Fine(detail) => Fine(format!("{name}: {detail}")),
        Warning(detail) => Warning(format!("{name}: {detail}")),
        Broken(detail) => Broken(format!("{name}: {detail}")),
    }
}

/// The findings about the sandbox.
#[derive(Default)]
struct SandboxFindings {
    /// The sandbox's messages about compiled modules that can't be kept.
    complaints: String,
    findings: Vec<(&'static str, CheckFinding)>,
}

/// Has the sandbox do what agents do, in a temporary folder.
async fn sandbox(programs: Option<&Path>) -> SandboxFindings {
    let scratch = env::temp_dir().join(format!("innerloop-doctor-{}", process::id()));
    let folder = scratch.join("folder");
    // One folder within another, so that a write outside of the inner one can be seen.
    if let Err(error) = fs::create_dir(&scratch).and_then(|()| fs::create_dir(&folder)) {
        let why = format!("cannot create {}: {error}; set TMPDIR", folder.display());
        return SandboxFindings {
            findings: vec![("tools", Broken(why))],
            ..SandboxFindings::default()
        };
    }
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let findings = try_out(&folder, programs, Arc::clone(&complaints)).await;
    drop(fs::remove_dir_all(&scratch));
    let complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner).join("; ");
    SandboxFindings { complaints, findings }
}

async fn try_out(
    folder: &Path,
    programs: Option<&Path>,
    complaints: Arc<Mutex<Vec<String>>>,
) -> Vec<(&'static str, CheckFinding)> {
    const TEXT: &str = "read in the sandbox";
    if let Err(error) = fs::write(folder.join("probe.txt"), TEXT) {
        let why = format!("cannot write to {}: {error}; set TMPDIR", folder.display());
        return vec![("tools", Broken(why))];
    }
    let note: OnProgress = Arc::new(move |line: &str| {
        // Compiling a module for the first time is normal.
        if !line.starts_with("preparing ") {
            complaints.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        }
    });
    let opened = setup::workspace(folder, true);
    let site = match opened.and_then(|it| setup::site(it, programs, Some(note))) {
        Ok(site) => site,
        Err(failure) => return vec![("tools", Broken(failure.message))],
    };
    let sandbox = site.sandbox();
    let read = Action::read("probe.txt", None, LineNumbering::None);
    let mut findings = vec![("tools", did(sandbox, &read, "a file was read", TEXT).await)];
    let outside = sandbox.run(&Action::write("../outside.txt", TEXT), PATIENCE, None).await;
    findings.push(("walls", walls(folder, &outside)));
    let line = Action::Shell { command: "echo the shell | tr a-z A-Z".to_owned(), folder: None };
    let shell = if sandbox.programs().has("bash") {
        did(sandbox, &line, "a command line ran", "THE SHELL").await
    } else {
        Warning(
            "there is none, so that the agent has no command lines; leave --programs \
                 and INNERLOOP_PROGRAMS out, or add bash.wasm there"
                .to_owned(),
        )
    };
    findings.push(("shell", shell));
    let script = ["-e".to_owned(), "console.log(6 * 7)".to_owned()].into();
    let script = Action::RunProgram { program: "qjs".to_owned(), args: script, stdin: None };
    let javascript = if sandbox.programs().has("qjs") {
        did(sandbox, &script, "a program ran", "42").await
    } else {
        Warning("qjs is not there; innerloop tools install qjs brings it".to_owned())
    };
    findings.push(("javascript", javascript));
    findings
}

/// Carries out an action whose output must contain `words`.
async fn did(sandbox: &Executor, action: &Action, what: &str, words: &str) -> CheckFinding {
    let begun = Instant::now();
    let outcome = sandbox.run(action, PATIENCE, None).await;
    let text = outcome.joined_text();
    if outcome.error.is_none() && text.contains(words) {
        Fine(format!("{what} in the sandbox in {} ms", begun.elapsed().as_millis()))
    } else {
        Broken(format!("in the sandbox came: {text}; install innerloop again"))
    }
}

/// Checks that a write outside of the folder was refused and left no file.
fn walls(folder: &Path, outcome: &Outcome) -> CheckFinding {
    let is_there = folder.with_file_name("outside.txt").exists();
    match (is_there, outcome.error) {
        (false, Some(_)) => Fine("a write outside of the folder was refused".to_owned()),
        _ => Broken("a write outside of the folder was NOT refused; do not use it".to_owned()),
    }
}

fn programs(explicit: Option<&Path>) -> CheckFinding {
    let programs = match ProgramRegistry::find(explicit) {
        Ok(programs) => programs,
        Err(error) => return Broken(error.to_string()),
    };
    let mut found = Vec::new();
    for (name, file, _) in programs.iter() {
        match programs.verify(name) {
            Some(Ok(digest)) => {
                let place = file.map_or_else(|| "comes along".to_owned(), told);
                found.push(format!("{name} (SHA-256 {digest}, {place})"));
            }
            Some(Err(error)) => return Broken(error.to_string()),
            None => {}
        }
    }
    if found.is_empty() {
        let advice = "innerloop tools install python brings one, --programs names a folder of them";
        return Warning(format!("none, so that the agent can run nothing; {advice}"));
    }
    Fine(found.join(", "))
}

fn told(file: &Path) -> String {
    file.display().to_string()
}

/// Tells where commands of `--env local` would run. Nothing is started for that.
fn commands() -> CheckFinding {
    Fine(match local::bubblewrap() {
        Some(path) => format!("with --env local they run inside of {}", path.display()),
        None => "bubblewrap is not installed; with --env local they run without it".to_owned(),
    })
}

/// Tells what an agent would know about the folder: the branch and the instruction files.
async fn folder(
    workspace: Result<Workspace, CliError>,
    args: &DoctorArgs,
    provider: &Provider,
) -> CheckFinding {
    let workspace = match workspace {
        Ok(workspace) => workspace,
        Err(failure) if fs::read_dir(&args.workspace).is_err() => return Broken(failure.message),
        // A home or system folder, which sessions refuse unless it is meant.
        Err(failure) => return Warning(failure.message),
    };
    let root = workspace.root().display().to_string();
    let family = provider.family(setup::model(provider, &args.model).unwrap_or_default());
    let facts = spawn_blocking(move || facts::collect(&workspace, Vec::new(), family)).await;
    let facts = match facts {
        Ok(facts) => facts,
        Err(error) => return Broken(error.to_string()),
    };
    let names = |docs: Vec<&str>| docs.join(", ");
    if let Some(cut) = instructions::cut(&facts) {
        return Warning(format!("{root}: {cut}"));
    }
    let branch = facts.git.as_ref().map(|git| git.branch.as_str()).filter(|it| !it.is_empty());
    let branch = branch.map_or_else(String::new, |branch| format!(" on branch {branch}"));
    let docs: Vec<&str> = facts.project_docs.iter().map(|doc| doc.path.as_str()).collect();
    let docs = if docs.is_empty() { "no instruction files".to_owned() } else { names(docs) };
    Fine(format!("{root}{branch}, {docs}"))
}

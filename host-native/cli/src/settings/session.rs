//! Settings for a session: they take the place of options that were not given. The project's file
//! is asked about here, before anything of it counts.

use super::{
    layer::SettingSource,
    layers::LayerStack,
    project::{self, ProjectFile},
    trust,
};
use crate::{
    answer_input::StdinLines,
    args::{
        ChangesSetting, ColourChoice, ConfigPatches, ExecutionTarget, FileBackend, ModelArgs,
        PresetName, SessionArgs, TrustArgs,
    },
    console::{say, warn},
    exit::{CliError, ExitReason},
    question::Question,
    setup,
    style::harmless,
};
use clap::ValueEnum;
use innerloop_host::facts::{agent_files, skill_files};
use innerloop_workspace::Workspace;
use std::io::{Write as _, stderr};

/// Fills in arguments that were not given from settings. On a terminal, asks about a project's
/// file that has neither been trusted nor refused.
///
/// # Errors
/// The first fault of the user's file or the environment. A faulty project's file is ignored with
/// a warning.
pub(crate) async fn settle(
    mut args: SessionArgs,
    workspace: &Workspace,
    is_attended: bool,
) -> Result<SessionArgs, CliError> {
    let files = !args.settings.no_settings;
    let (mut layers, wrong) = LayerStack::own(files);
    if let Some(why) = wrong.first() {
        return Err(CliError::configuration(why));
    }
    let mut agents = if files { agent_files::of_user() } else { Vec::new() };
    let mut skills = Vec::new();
    if files
        && let Some(file) = ProjectFile::find(workspace)
        && is_obeyed(&file, is_attended).await
    {
        file.layer.into_iter().for_each(|layer| layers.add_project(layer));
        // Behind the user's: of equal names the project's counts, which knows its own work.
        agents.extend(file.agents);
        skills = file.skills;
    }
    // Of equal names the project's counts here as well.
    if files {
        skills.append(&mut skill_files::of_user());
    }
    if args.tuning.no_skills {
        skills.clear();
    }
    if !layers.is_empty() {
        layers.for_provider(args.model.provider.as_deref());
        fill(&layers, &mut args).map_err(CliError::configuration)?;
    }
    args.tuning.settings.agents = agents;
    args.tuning.settings.skills = skills;
    Ok(args)
}

/// Fills in the provider and its address, for commands without a session. Faults in settings are
/// warnings here.
pub(crate) fn of_model(args: &mut ModelArgs) {
    let (mut layers, wrong) = LayerStack::own(true);
    wrong.iter().for_each(|why| warn(why));
    layers.for_provider(args.provider.as_deref());
    layers.fill_model(args);
}

/// Returns the choice of colour from the option, or else from settings; `files` says whether files
/// count. Faults in settings are reported elsewhere, once.
pub(crate) fn color(option: Option<ColourChoice>, files: bool) -> Option<ColourChoice> {
    option.or_else(|| word(&LayerStack::own(files).0, "color"))
}

/// Returns whether a project's file counts, by what the user has said before or says now.
async fn is_obeyed(file: &ProjectFile, is_attended: bool) -> bool {
    let path = file.path();
    let layer = match &file.layer {
        Ok(layer) => layer,
        Err(why) => {
            warn(&format!("{} is not used: {why}", path.display()));
            return false;
        }
    };
    let answer = match trust::said(file) {
        Ok(Some(said)) => return said,
        Ok(None) if is_attended => ask(file, &file.lines(layer)).await,
        Ok(None) => {
            let how = "nobody has said that it may be; `innerloop trust` in its folder does";
            warn(&format!("{} is not used: {how}", path.display()));
            return false;
        }
        Err(why) => {
            warn(&format!("{} is not used: {why}", path.display()));
            return false;
        }
    };
    // No answer, as at the end of the input, is not kept: keeping none would erase an older one.
    if answer.is_some()
        && let Err(why) = trust::keep(file, answer)
    {
        warn(&format!("you will be asked again: {why}"));
    }
    answer == Some(true)
}

/// Asks whether a project's file may be obeyed; returns none if nobody answers.
async fn ask(file: &ProjectFile, lines: &[String]) -> Option<bool> {
    let tell = |text: &str| {
        let mut err = stderr().lock();
        // A closed standard error must not end the program: the answer is read all the same.
        drop(err.write_all(harmless(text).as_bytes()).and_then(|()| err.flush()));
    };
    tell(&format!("{} has settings for this folder:\n", file.path().display()));
    lines.iter().for_each(|line| tell(&format!("  {line}\n")));
    let question =
        Question::choice("obey them, until the file changes? ", &[("yes", ""), ("no", "")]);
    let mut typed = StdinLines::of_terminal();
    loop {
        tell(&question.prompt);
        if let Some(word) = question.word(&typed.next().await?) {
            return Some(word == "yes");
        }
    }
}

/// Runs `innerloop trust`: trusts the project's file as it is now, or forgets what was said of it.
pub(crate) fn trust_folder(args: &TrustArgs) -> Result<(), CliError> {
    let workspace = setup::workspace(&args.folder, true)?;
    let Some(file) = ProjectFile::find(&workspace) else {
        let folder = workspace.root().display();
        let why = format!("{folder} has no {}, no agents and no skills", project::PATH);
        return Err(CliError::usage(why));
    };
    let path = file.path();
    let answer = if args.revoke { None } else { Some(true) };
    if let (Some(_), Err(why)) = (answer, &file.layer) {
        return Err(CliError::configuration(format!("cannot use {}: {why}", path.display())));
    }
    trust::keep(&file, answer).map_err(|why| CliError::new(ExitReason::Failed, why))?;
    match (&file.layer, answer) {
        (Ok(layer), Some(_)) => {
            say(&format!("{} is obeyed until it changes:", path.display()));
            file.lines(layer).iter().for_each(|line| say(&format!("  {line}")));
        }
        _ => say(&format!("what was said about {} is forgotten", path.display())),
    }
    Ok(())
}

/// Fills in arguments that no option has set.
fn fill(layers: &LayerStack, args: &mut SessionArgs) -> Result<(), String> {
    layers.fill_model(&mut args.model);
    let model = &mut args.model;
    if model.fallbacks.is_empty() {
        model.fallbacks = layers.texts("fallback");
    }
    model.cheap_model = model.cheap_model.take().or_else(|| layers.text("cheap_model"));
    args.environment.secrets = args.model.settings.key_variables();
    let is_local = args.environment.env == ExecutionTarget::Local;
    let (tuning, guests) = (&mut args.tuning, &mut args.guests);
    tuning.settings = ConfigPatches {
        user: layers.patch(|source| matches!(source, SettingSource::User(_)))?,
        project: layers.patch(|source| matches!(source, SettingSource::Project(_)))?,
        environment: layers.patch(|source| matches!(source, SettingSource::Environment))?,
        allow: layers.texts("allow"),
        hooks: layers.hooks().map(|(hook, _)| hook.clone()).collect(),
        agents: Vec::new(),
        skills: Vec::new(),
    };
    tuning.preset = tuning.preset.or_else(|| word::<PresetName>(layers, "preset"));
    tuning.models = tuning.models.take().or_else(|| layers.text("models").map(Into::into));
    guests.isolation = guests.isolation.or_else(|| word::<FileBackend>(layers, "isolation"));
    // `--read-only` excludes these options on the command line; settings are dropped silently,
    // since their user has not said them for this run.
    let reads_only = tuning.read_only;
    if tuning.web.domains.is_empty() && !reads_only {
        tuning.web.domains = layers.texts("allow_domain");
    }
    if guests.tools.is_empty() {
        guests.tools = layers.texts("tool").into_iter().map(Into::into).collect();
    }
    // Commands on this machine cannot use the sandbox's programs.
    if guests.programs.is_none() && !is_local {
        guests.programs = layers.text("programs").map(Into::into);
    }
    if !(args.apply || args.diff || args.in_place || reads_only) {
        match word::<ChangesSetting>(layers, "mode") {
            // `--env local` changes the folder itself, so that the other modes do not apply there.
            Some(ChangesSetting::InPlace) => args.in_place = true,
            Some(ChangesSetting::Apply) => args.apply = !is_local,
            Some(ChangesSetting::Diff) => args.diff = !is_local,
            Some(ChangesSetting::Ask) | None => {}
        }
    }
    Ok(())
}

/// Returns a setting that is one of some words.
fn word<T: ValueEnum>(layers: &LayerStack, name: &str) -> Option<T> {
    T::from_str(&layers.text(name)?, false).ok()
}

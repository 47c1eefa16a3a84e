//! Settings for a session: they stand in for the options that were not given.

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
use innerloop_workspace::Workspace;
use std::io::{Write as _, stderr};

/// The arguments with what settings say where they say nothing. On a terminal it is asked whether
/// a project's file may be obeyed that nobody has spoken about.
///
/// # Errors
/// What is wrong with the user's file or the environment.
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
    if files
        && let Some(file) = ProjectFile::find(workspace)
        && is_obeyed(&file, is_attended).await
    {
        file.layer.into_iter().for_each(|layer| layers.add_project(layer));
    }
    if !layers.is_empty() {
        layers.for_provider(args.model.provider.as_deref());
        fill(&layers, &mut args).map_err(CliError::configuration)?;
    }
    Ok(args)
}

/// Fills in who serves the model and where, for commands without a session. What is wrong with
/// settings is only told.
pub(crate) fn of_model(args: &mut ModelArgs) {
    let (mut layers, wrong) = LayerStack::own(true);
    wrong.iter().for_each(|why| warn(why));
    layers.for_provider(args.provider.as_deref());
    layers.fill_model(args);
}

/// Returns when to use colour: what the option says, else what settings do, of files if these
/// count. What is wrong with them is told elsewhere.
pub(crate) fn color(option: Option<ColourChoice>, files: bool) -> Option<ColourChoice> {
    option.or_else(|| word(&LayerStack::own(files).0, "color"))
}

/// Returns whether a project's file counts, as its user has said before or says now.
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
        Ok(None) if is_attended => ask(file, &ProjectFile::lines(layer)).await,
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
    if answer.is_some()
        && let Err(why) = trust::keep(file, answer)
    {
        warn(&format!("you will be asked again: {why}"));
    }
    answer == Some(true)
}

/// Asks whether a project's file may be obeyed; nothing if nobody answers.
async fn ask(file: &ProjectFile, lines: &[String]) -> Option<bool> {
    let tell = |text: &str| {
        let mut err = stderr().lock();
        // Nobody may be left to read it.
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

/// `innerloop trust`.
pub(crate) fn trust_folder(args: &TrustArgs) -> Result<(), CliError> {
    let workspace = setup::workspace(&args.folder, true)?;
    let Some(file) = ProjectFile::find(&workspace) else {
        let folder = workspace.root().display();
        return Err(CliError::usage(format!("{folder} has no {}", project::PATH)));
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
            ProjectFile::lines(layer).iter().for_each(|line| say(&format!("  {line}")));
        }
        _ => say(&format!("what was said about {} is forgotten", path.display())),
    }
    Ok(())
}

/// Fills in what no option has said.
fn fill(layers: &LayerStack, args: &mut SessionArgs) -> Result<(), String> {
    layers.fill_model(&mut args.model);
    args.environment.secrets = args.model.settings.key_variables();
    let is_local = args.environment.env == ExecutionTarget::Local;
    let (tuning, guests) = (&mut args.tuning, &mut args.guests);
    tuning.settings = ConfigPatches {
        user: layers.patch(|source| matches!(source, SettingSource::User(_)))?,
        project: layers.patch(|source| matches!(source, SettingSource::Project(_)))?,
        environment: layers.patch(|source| matches!(source, SettingSource::Environment))?,
        allow: layers.texts("allow"),
    };
    tuning.preset = tuning.preset.or_else(|| word::<PresetName>(layers, "preset"));
    tuning.models = tuning.models.take().or_else(|| layers.text("models").map(Into::into));
    guests.isolation = guests.isolation.or_else(|| word::<FileBackend>(layers, "isolation"));
    let reads_only = tuning.read_only;
    if tuning.web.domains.is_empty() && !reads_only {
        tuning.web.domains = layers.texts("allow_domain");
    }
    if guests.tools.is_empty() {
        guests.tools = layers.texts("tool").into_iter().map(Into::into).collect();
    }
    // Those of the sandbox are no use to commands of this machine, which change the folder itself.
    if guests.programs.is_none() && !is_local {
        guests.programs = layers.text("programs").map(Into::into);
    }
    if !(args.apply || args.diff || args.in_place || reads_only) {
        match word::<ChangesSetting>(layers, "mode") {
            Some(ChangesSetting::InPlace) => args.in_place = true,
            Some(ChangesSetting::Apply) => args.apply = !is_local,
            Some(ChangesSetting::Diff) => args.diff = !is_local,
            Some(ChangesSetting::Ask) | None => {}
        }
    }
    Ok(())
}

/// A setting that is one of some words.
fn word<T: ValueEnum>(layers: &LayerStack, name: &str) -> Option<T> {
    T::from_str(&layers.text(name)?, false).ok()
}

//! The check of settings files for `innerloop doctor`: which count, and what is wrong with them.

use super::{
    layers::LayerStack,
    project::{self, ProjectFile},
    trust, user,
};
use crate::{
    args::ModelArgs,
    diagnostic::CheckFinding::{self, Broken, Fine, Warning},
};
use innerloop_workspace::Workspace;

/// Fills in provider, address and model as a session over that workspace would have them; returns
/// the faults, or the files that count.
pub(crate) fn standing(args: &mut ModelArgs, workspace: Option<&Workspace>) -> CheckFinding {
    let (mut layers, wrong) = LayerStack::own(true);
    let mut counting: Vec<String> = Vec::new();
    let own = user::path().filter(|path| path.exists());
    counting.extend(own.map(|path| path.display().to_string()));
    let mut left_out = None;
    if let Some(file) = workspace.and_then(ProjectFile::find) {
        let path = file.path().display().to_string();
        match (trust::said(&file), file.layer) {
            (_, Err(why)) | (Err(why), _) => left_out = Some(format!("{path} is not used: {why}")),
            (Ok(Some(true)), Ok(layer)) => {
                layers.add_project(layer);
                counting.push(path);
            }
            (Ok(Some(false)), _) => counting.push(format!("{path} not, as you said")),
            (Ok(None), _) => {
                let how = "nobody has said that it may be; `innerloop trust` in its folder does";
                left_out = Some(format!("{path} is not used: {how}"));
            }
        }
    }
    layers.for_provider(args.provider.as_deref());
    layers.fill_model(args);
    // A session takes the model's name from the patches; there are none here.
    args.model = args.model.take().or_else(|| layers.text("model"));
    if !wrong.is_empty() {
        return Broken(wrong.join("; "));
    }
    match left_out {
        Some(why) => Warning(why),
        None if counting.is_empty() => Fine(format!(
            "none; `innerloop config set` writes your own, {} in a project its own",
            project::PATH
        )),
        None => Fine(counting.join(", ")),
    }
}

//! `innerloop resume`: goes on with a session that was kept, also where its program ended in the
//! middle of a run: requests are sent again, and what ran is reported as lost.

use super::{
    args::{ModelArgs, ResumeArgs, SessionArgs, TuningArgs},
    attach, config,
    console::warn,
    exit::Failure,
    form::Form,
    message_file::MessageFile,
    review::Mode,
    run::{self, Begun},
    sessions::{About, Store},
    setup,
    work::{Asked, Past, Work},
};
use innerloop_core::{
    input::Command,
    json::{Object, from_str},
    message::Part,
};

/// Goes on with the session, for one run.
pub(super) async fn run(args: ResumeArgs) -> Result<(), Failure> {
    let output = args.output;
    let limits = args.limits;
    run::to_the_end(output, limits, begin(args)).await
}

/// The session, ready to be driven, and what is said to it.
async fn begin(args: ResumeArgs) -> Result<Begun, Failure> {
    let output = args.output;
    let kept = Store::open()?.find(&args.session, &args.workspace)?;
    let past = Past::read(kept.hold()?)?;
    let (about, is_under_way) = (past.about().clone(), past.is_under_way);
    let attached = attach::read(&args.attach)?;
    let form = args.result.schema.as_deref().map(Form::read).transpose()?;
    let file = args.result.file.as_deref().map(MessageFile::check).transpose()?;
    let limits = args.limits;
    let said = match &args.prompt {
        Some(prompt) => {
            let prompt = setup::given(prompt.clone(), "the prompt").await?;
            std::iter::once(Part::text(prompt)).chain(attached).collect()
        }
        None if is_under_way && attached.is_empty() => Vec::new(),
        None => return Err(nothing_to_do(&about)),
    };
    let options = options(args, &about);
    let changes = config::options(&options.tuning)?;
    let changes: Object = from_str(&changes).map_err(Failure::usage)?;
    let asked = Asked::read(options, Some(past), run::is_attended(output)).await?;
    let work = Work::begin(asked.with(form, limits), run::audience(output)).await?;
    file.iter().for_each(|file| work.workspace.reserve(file.path()));
    if is_under_way {
        warn("the session was stopped in the middle of a run, which goes on");
    }
    let changes = (!changes.0.is_empty()).then_some(Command::Configure { patch: changes });
    let word = match said.is_empty() {
        true => None,
        false if is_under_way => Some(Command::Steer { parts: said }),
        false => Some(Command::Submit { parts: said }),
    };
    let said = changes.into_iter().chain(word).collect();
    Ok(Begun { work, said, file })
}

fn nothing_to_do(about: &About) -> Failure {
    let title = if about.title.is_empty() { "nothing was said yet" } else { &about.title };
    Failure::usage(format!("the session ({title}) waits for you: say what to do next"))
}

/// The options that open the session again: its own, and over them those that were given.
fn options(args: ResumeArgs, about: &About) -> SessionArgs {
    let own = &about.options;
    let says_where = args.apply || args.diff || args.in_place;
    let mode = |given: bool, mode: Mode| given || !says_where && own.mode == mode;
    SessionArgs {
        workspace: about.workspace.clone(),
        any_folder: own.any_folder,
        apply: mode(args.apply, Mode::Apply),
        diff: mode(args.diff, Mode::Show),
        in_place: mode(args.in_place, Mode::InPlace),
        ephemeral: false,
        model: ModelArgs {
            provider: Some(about.provider.clone()),
            model: None,
            base_url: args.base_url.or_else(|| own.base_url.clone()),
            ..ModelArgs::default()
        },
        tuning: TuningArgs {
            approve: args.approve,
            web: own.web.clone(),
            effort: args.effort,
            max_turns: args.max_turns,
            max_tool_rounds: args.max_tool_rounds,
            ..TuningArgs::default()
        },
        settings: args.settings,
        files: args.files,
        guests: own.guests.clone(),
        environment: own.environment.clone(),
    }
}

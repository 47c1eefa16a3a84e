//! A conversation: `innerloop` without a command, on a terminal. A person and an agent talk turn by
//! turn, and the person may type at any time, also while the agent works. Keys, the session's
//! events and the review of changes run side by side on one thread and share the `ConversationUi`;
//! nobody holds it across an `await`.

mod apply_stop;
mod changes;
mod commands;
mod completion;
mod composer;
mod context_table;
mod custom_commands;
mod session_answers;
mod steps;
mod turn_review;
mod ui;

use super::{
    answer_input::{AnswerSlot, LineSource},
    approval::{InteractiveTerminal, PersonHandle},
    args::{ConversationArgs, FileArgs, ModelArgs, SessionArgs},
    exit::{CliError, ExitReason},
    interrupts::{ShutdownHandle, SignalStream},
    overlay_autosave::SaveMonitor,
    resumed_session::ResumableSession,
    review::{self, ChangeDisposition, PendingChanges, ReviewOutcome},
    run::on_screen,
    session_setup::{ActiveSession, SessionFrontend, SessionRequest},
    sessions::LockedSession,
    settings,
    spinner::PAUSE,
    stall_notice::SilenceMonitor,
    style::OutputStyle,
    terminal::{KeyReader, Keyboard, Screen},
};
use commands::ConversationCommands;
use innerloop_core::input::Command;
use innerloop_host::host::HostEvent;
use std::{
    cell::RefCell,
    convert::Infallible,
    env,
    io::{IsTerminal as _, stderr, stdin},
    pin::pin,
};
use tokio::{sync::Notify, time::sleep};
use ui::ConversationUi;

/// Runs conversations until the person leaves.
pub(super) async fn run(mut args: ConversationArgs) -> Result<(), CliError> {
    args.session.tuning.asks_person = Some(!args.no_questions);
    let color = settings::color(args.color, !args.session.settings.no_settings);
    let style = OutputStyle::new(color.unwrap_or_default());
    talk(args.session, None, InitialInput { commands: Vec::new(), words: args.prompt }, style).await
}

/// The first input of a session.
#[derive(Debug, Default)]
pub(super) struct InitialInput {
    pub(super) commands: Vec<Command>,
    /// The text that is sent as if the person had typed it.
    pub(super) words: Option<String>,
}

/// Runs a conversation in a new session or in `past`, beginning with `first`; then in further
/// sessions, as often as the person asks for one.
pub(super) async fn talk(
    args: SessionArgs,
    past: Option<ResumableSession>,
    first: InitialInput,
    style: OutputStyle,
) -> Result<(), CliError> {
    // A log and a recording belong to one session: the next ones write to neither.
    let mut again = SessionArgs { files: FileArgs::default(), ..args.clone() };
    let mut next = converse(args, past, first, style).await?;
    while let Some(model) = next {
        again.model = model;
        next = converse(again.clone(), None, InitialInput::default(), style).await?;
    }
    Ok(())
}

/// Fails where there is no terminal, or one whose rows can't be redrawn.
fn check_terminal() -> Result<(), CliError> {
    let why = if !stdin().is_terminal() || !stderr().is_terminal() {
        "a terminal"
    } else if env::var_os("TERM").is_some_and(|term| term == "dumb") {
        "a terminal that can move its cursor (TERM is dumb)"
    } else {
        return Ok(());
    };
    let other = "innerloop run \"…\" works without one";
    Err(CliError::usage(format!("a conversation needs {why}; {other}")))
}

/// Runs one session; returns the options of the next one's model, if the person wants one.
async fn converse(
    args: SessionArgs,
    past: Option<ResumableSession>,
    first: InitialInput,
    style: OutputStyle,
) -> Result<Option<ModelArgs>, CliError> {
    check_terminal()?;
    let (screen, slot, reader) = (Screen::default(), AnswerSlot::default(), KeyReader::default());
    let seat = InteractiveTerminal {
        lines: LineSource::Given(slot.clone()),
        screen: screen.clone(),
        reader: Some(reader.clone()),
    };
    let is_under_way = past.as_ref().is_some_and(|past| past.is_under_way);
    let mut interrupts = SignalStream::new()?;
    let begin = async {
        let mut asked = SessionRequest::read(args, past, true).await?;
        let known = ConversationCommands::new(&asked.take_commands());
        let progress = Some(on_screen(&screen, style));
        let frontend =
            SessionFrontend { seat: Some(seat), screen: screen.clone(), style, progress };
        Ok((ActiveSession::begin(asked, frontend).await?, known))
    };
    let (work, known) = tokio::select! {
        begun = begin => begun?,
        exit = interrupts.next() => {
            return Err(CliError::new(exit, "interrupted before the conversation began"));
        }
    };
    // Only now: setting up may ask on standard input, line by line, as about a project's settings.
    let keyboard = Keyboard::open(&reader).map_err(|error| {
        CliError::usage(format!("cannot read the keys of this terminal: {error}"))
    })?;
    first.commands.into_iter().for_each(|command| work.host.commands().send(command));
    let mut ui = ConversationUi::new(&work, (slot, reader), known, style, is_under_way);
    ui.begin();
    first.words.iter().for_each(|words| ui.say(words));
    let result = drive(work, ui, keyboard, interrupts).await;
    screen.end();
    result
}

/// Drives the session until the person has left and the changes are settled; returns the model of
/// the next session, if the person wants one.
async fn drive(
    work: ActiveSession,
    mut ui: ConversationUi,
    mut keyboard: Keyboard,
    interrupts: SignalStream,
) -> Result<Option<ModelArgs>, CliError> {
    let ActiveSession { mut host, mut held, person, judge, workspace, .. } = work;
    let ending = ShutdownHandle::listen(interrupts, host.commands());
    ui.heed(&ending);
    let (ui, silence) = (RefCell::new(ui), SilenceMonitor::default());
    let hurry = ui.borrow().hurry();
    let mut typed = pin!(type_in(&ui, &mut keyboard));
    let driven = {
        let saving = SaveMonitor::of(&workspace);
        let heard = |news: HostEvent<'_>| {
            silence.add(&news);
            match news {
                HostEvent::Event(event) => {
                    ui.borrow_mut().show(event, held.as_mut());
                    judge.heard(event);
                    saving.iter().for_each(|saving| saving.add(event));
                }
                HostEvent::Asked(id, agent, ask) => judge.asked(id, agent, ask),
                HostEvent::Withdrawn(id) => judge.withdraw(id),
                HostEvent::Rejected(rejected) => ui.borrow_mut().complain(&rejected.to_string()),
                HostEvent::Http(..) => {}
            }
        };
        tokio::select! {
            driven = host.run(heard) => Some(driven),
            never = &mut typed => match never {},
            never = settle_turns(&ui) => match never {},
            never = silence.told(|line| ui.borrow_mut().warn(line)) => match never {},
            () = ending.hurry() => None,
            () = hurry.notified() => None,
        }
    };
    ending.session_is_over();
    person.iter().for_each(PersonHandle::session_is_over);
    let mode = ui.borrow().mode();
    ui.borrow_mut().over();
    let model = host.driver().session().config().model.clone();
    // The model's name is only for lists of sessions: a failure to write it is ignored.
    held.iter_mut().for_each(|held| drop(held.note(|_| {}, &model)));
    let failure = match driven {
        Some(Err(error)) => Some(CliError::new(ExitReason::Failed, error)),
        _ => ui.borrow().failure(),
    };
    let has_changes = changes::pending(&workspace).await > 0;
    let pending = PendingChanges { mode, workspace: &workspace, held: held.as_mut(), has_changes };
    let settling = review::settle(pending, person.as_ref(), &ending);
    let ReviewOutcome { settled, failure: unsettled } = tokio::select! {
        settlement = settling => settlement,
        never = &mut typed => match never {},
        never = hurry_up(&hurry, &ending) => match never {},
    };
    if unsettled.is_none() && has_changes {
        ui.borrow_mut().note(settled_as(settled));
    }
    say_goodbye(&ui, held)?;
    match (ending.signal(), unsettled.or(failure)) {
        (Some(signal), Some(failure)) => Err(CliError::new(signal, failure.message)),
        (Some(signal), None) => Err(CliError::new(signal, "interrupted")),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(ui.borrow().wants_another().then(|| ui.borrow().model_args())),
    }
}

/// Reads keys and lets time pass for as long as it is polled.
async fn type_in(ui: &RefCell<ConversationUi>, keyboard: &mut Keyboard) -> Infallible {
    loop {
        tokio::select! {
            event = keyboard.next() => match event {
                Some(event) => ui.borrow_mut().read(event),
                None => {
                    ui.borrow_mut().gone();
                    // A closed terminal has no events any more: asking it again would spin.
                    std::future::pending::<()>().await;
                }
            },
            () = sleep(PAUSE) => ui.borrow_mut().tick(),
        }
    }
}

/// Stops the review at the end if the person does not want to wait for it.
async fn hurry_up(hurry: &Notify, ending: &ShutdownHandle) -> Infallible {
    loop {
        hurry.notified().await;
        ending.hurry_up();
    }
}

/// Settles the changes whenever a turn is over.
async fn settle_turns(ui: &RefCell<ConversationUi>) -> Infallible {
    let turns = ui.borrow().turns();
    loop {
        turns.notified().await;
        turn_review::settle(ui).await;
    }
}

/// Returns what has become of the changes at the end.
const fn settled_as(settled: ChangeDisposition) -> &'static str {
    match settled {
        ChangeDisposition::Applied => "applied",
        ChangeDisposition::Kept => "not applied yet: the session keeps the changes",
        ChangeDisposition::Dropped => "not applied: the folder is as it was",
    }
}

/// Tells how to resume the session; deletes it if nothing was said in it.
fn say_goodbye(ui: &RefCell<ConversationUi>, held: Option<LockedSession>) -> Result<(), CliError> {
    let Some(held) = held else { return Ok(()) };
    if held.is_silent() {
        return held.delete();
    }
    ui.borrow_mut().note(&format!("innerloop resume {} goes on", held.short()));
    Ok(())
}

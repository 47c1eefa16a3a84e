//! `innerloop` alone on a terminal: a person and an agent talk, turn by turn, while both can be
//! seen. The person may say something at any time.

mod changes;
mod commands;
mod completion;
mod composer;
mod settling;
mod steps;
mod ui;

use super::{
    approval::{Person, Seat},
    args::{ConversationArgs, FileArgs, SessionArgs},
    exit::{Exit, Failure},
    interrupts::{Ending, Interrupts},
    lines::{Lines, Slot},
    past::Past,
    review::{self, Pending, Settlement},
    run::on_screen,
    saving::Saving,
    sessions::Held,
    settings,
    silence::Silence,
    spinner::PAUSE,
    style::Style,
    terminal::{Keyboard, Reader, Screen},
    work::{Asked, Audience, Work},
};
use innerloop_core::input::Command;
use innerloop_host::host::News;
use std::{
    cell::RefCell,
    convert::Infallible,
    env,
    io::{IsTerminal as _, stderr, stdin},
    pin::pin,
};
use tokio::time::sleep;
use ui::Ui;

/// Talks with the person until they leave.
pub(super) async fn run(args: ConversationArgs) -> Result<(), Failure> {
    let color = settings::color(args.color, !args.session.settings.no_settings);
    let style = Style::new(color.unwrap_or_default());
    talk(args.session, None, First { commands: Vec::new(), words: args.prompt }, style).await
}

/// What is said first.
#[derive(Debug, Default)]
pub(super) struct First {
    pub(super) commands: Vec<Command>,
    /// As if the person had typed that.
    pub(super) words: Option<String>,
}

/// Talks in a new session, or goes on with one, with what is said to it first; then in others, as
/// often as the person wants a new one.
pub(super) async fn talk(
    args: SessionArgs,
    past: Option<Past>,
    first: First,
    style: Style,
) -> Result<(), Failure> {
    // A log and a recording are of one session.
    let mut again = SessionArgs { files: FileArgs::default(), ..args.clone() };
    let mut next = converse(args, past, first, style).await?;
    while let Some(model) = next {
        again.model.model = Some(model);
        next = converse(again.clone(), None, First::default(), style).await?;
    }
    Ok(())
}

/// Refuses where nobody sits there, or where rows can't be drawn anew.
fn check_terminal() -> Result<(), Failure> {
    let why = if !stdin().is_terminal() || !stderr().is_terminal() {
        "a terminal"
    } else if env::var_os("TERM").is_some_and(|term| term == "dumb") {
        "a terminal that can move its cursor (TERM is dumb)"
    } else {
        return Ok(());
    };
    let other = "innerloop run \"…\" works without one";
    Err(Failure::usage(format!("a conversation needs {why}; {other}")))
}

/// One session; gives the model of the next one, if there is to be one.
async fn converse(
    args: SessionArgs,
    past: Option<Past>,
    first: First,
    style: Style,
) -> Result<Option<String>, Failure> {
    check_terminal()?;
    let (screen, slot, reader) = (Screen::default(), Slot::default(), Reader::default());
    let seat = Seat {
        lines: Lines::Given(slot.clone()),
        screen: screen.clone(),
        reader: Some(reader.clone()),
    };
    let is_under_way = past.as_ref().is_some_and(|past| past.is_under_way);
    let mut interrupts = Interrupts::new()?;
    let begin = async {
        let asked = Asked::read(args, past, true).await?;
        let progress = Some(on_screen(&screen, style));
        Work::begin(asked, Audience { seat: Some(seat), screen: screen.clone(), style, progress })
            .await
    };
    let work = tokio::select! {
        work = begin => work?,
        exit = interrupts.next() => {
            return Err(Failure::new(exit, "interrupted before the conversation began"));
        }
    };
    let keyboard = Keyboard::open(&reader).map_err(|error| {
        Failure::usage(format!("cannot read the keys of this terminal: {error}"))
    })?;
    first.commands.into_iter().for_each(|command| work.host.commands().send(command));
    let mut ui = Ui::new(&work, (slot, reader), style, is_under_way);
    ui.begin();
    first.words.iter().for_each(|words| ui.say(words));
    let result = drive(work, ui, keyboard, interrupts).await;
    screen.end();
    result
}

/// Drives the session until the person has left and what was changed is settled; gives the model
/// of the next session, if the person wants one.
async fn drive(
    work: Work,
    ui: Ui,
    mut keyboard: Keyboard,
    interrupts: Interrupts,
) -> Result<Option<String>, Failure> {
    let Work { mut host, mut held, person, judge, workspace, .. } = work;
    let ending = Ending::listen(interrupts, host.commands());
    let (ui, silence) = (RefCell::new(ui), Silence::default());
    let hurry = ui.borrow().hurry();
    let mut typed = pin!(type_in(&ui, &mut keyboard));
    let driven = {
        let saving = Saving::of(&workspace);
        let heard = |news: News<'_>| {
            silence.add(&news);
            match news {
                News::Event(event) => {
                    ui.borrow_mut().show(event, held.as_mut());
                    judge.heard(event);
                    saving.iter().for_each(|saving| saving.add(event));
                }
                News::Asked(id, agent, ask) => judge.asked(id, agent, ask),
                News::Withdrawn(id) => judge.withdraw(id),
                News::Rejected(rejected) => ui.borrow_mut().complain(&rejected.to_string()),
                News::Http(..) => {}
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
    person.iter().for_each(Person::session_is_over);
    let mode = ui.borrow().mode();
    ui.borrow_mut().over();
    let model = host.driver().session().config().model.name.clone();
    // What lists say of the session is a convenience.
    held.iter_mut().for_each(|held| drop(held.note(|_| {}, &model)));
    let failure = match driven {
        Some(Err(error)) => Some(Failure::new(Exit::Failed, error)),
        _ => ui.borrow().failure(),
    };
    let has_changes = changes::pending(&workspace).await > 0;
    let pending = Pending { mode, workspace: &workspace, held: held.as_mut(), has_changes };
    let settling = review::settle(pending, person.as_ref(), &ending);
    let Settlement { settled, failure: unsettled } = tokio::select! {
        settlement = settling => settlement,
        never = &mut typed => match never {},
    };
    if unsettled.is_none() {
        ui.borrow_mut().settled(settled, has_changes);
    }
    say_goodbye(&ui, held)?;
    match (ending.signal(), unsettled.or(failure)) {
        (Some(signal), Some(failure)) => Err(Failure::new(signal, failure.message)),
        (Some(signal), None) => Err(Failure::new(signal, "interrupted")),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(ui.borrow().wants_another().then_some(model)),
    }
}

/// Takes what the person types, as long as anybody asks.
async fn type_in(ui: &RefCell<Ui>, keyboard: &mut Keyboard) -> Infallible {
    loop {
        tokio::select! {
            event = keyboard.next() => match event {
                Some(event) => ui.borrow_mut().read(event),
                None => {
                    ui.borrow_mut().gone();
                    std::future::pending::<()>().await;
                }
            },
            () = sleep(PAUSE) => ui.borrow_mut().tick(),
        }
    }
}

/// Settles what was changed whenever a turn is over.
async fn settle_turns(ui: &RefCell<Ui>) -> Infallible {
    let turns = ui.borrow().turns();
    loop {
        turns.notified().await;
        settling::settle(ui).await;
    }
}

/// Says how the session goes on, if anything has been said in it.
fn say_goodbye(ui: &RefCell<Ui>, held: Option<Held>) -> Result<(), Failure> {
    let Some(held) = held else { return Ok(()) };
    if held.is_silent() {
        return held.delete();
    }
    ui.borrow_mut().note(&format!("innerloop resume {} goes on", held.short()));
    Ok(())
}

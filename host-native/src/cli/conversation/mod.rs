//! `innerloop` alone on a terminal: a person and an agent talk, turn by turn, while both can be
//! seen. The person may say something at any time.

mod commands;
mod completion;
mod composer;
mod ui;

use super::{
    approval::Seat,
    args::{ConversationArgs, SessionArgs},
    exit::{Exit, Failure},
    interrupts::{Ending, Interrupts},
    lines::{Lines, Slot},
    review::{self, Settled},
    run::on_screen,
    saving::Saving,
    sessions::Held,
    spinner::PAUSE,
    style::Style,
    terminal::{Keyboard, Reader, Screen},
    work::{Asked, Audience, Past, Work},
};
use crate::host::News;
use innerloop_core::input::Command;
use std::{
    cell::RefCell,
    convert::Infallible,
    io::{IsTerminal as _, stderr, stdin},
    pin::pin,
};
use tokio::time::sleep;
use ui::Ui;

/// Talks with the person until they leave.
pub(super) async fn run(args: ConversationArgs) -> Result<(), Failure> {
    let style = Style::new(args.color);
    talk(args.session, None, Vec::new(), style).await
}

/// Whether a person sits there who can type and see.
pub(super) fn has_terminal() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Talks in a new session, or goes on with one, with what is said to it first.
pub(super) async fn talk(
    args: SessionArgs,
    past: Option<Past>,
    first: Vec<Command>,
    style: Style,
) -> Result<(), Failure> {
    if !has_terminal() {
        return Err(Failure::usage(
            "a conversation needs a terminal; innerloop run \"…\" works without one",
        ));
    }
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
    first.into_iter().for_each(|command| work.host.commands().send(command));
    let ui = Ui::new(&work, screen.clone(), slot, style, is_under_way);
    let result = drive(work, ui, keyboard, interrupts).await;
    screen.end();
    result
}

/// Drives the session until the person has left and what was changed is settled.
async fn drive(
    work: Work,
    ui: Ui,
    mut keyboard: Keyboard,
    interrupts: Interrupts,
) -> Result<(), Failure> {
    let Work { mut host, mut held, person, judge, workspace, .. } = work;
    let ending = Ending::listen(interrupts, host.commands());
    let ui = RefCell::new(ui);
    ui.borrow_mut().begin();
    let mut typed = pin!(type_in(&ui, &mut keyboard));
    let driven = {
        let saving = Saving::of(&workspace);
        let heard = |news: News<'_>| match news {
            News::Event(event) => {
                ui.borrow_mut().show(event, held.as_mut());
                saving.iter().for_each(|saving| saving.add(event));
            }
            News::Asked(id, agent, ask) => judge.asked(id, agent, ask),
            News::Withdrawn(id) => judge.withdraw(id),
            News::Rejected(rejected) => ui.borrow_mut().complain(&rejected.to_string()),
            News::Http(..) => {}
        };
        tokio::select! {
            driven = host.run(heard) => Some(driven),
            never = &mut typed => match never {},
            never = settle_turns(&ui) => match never {},
            () = ending.hurry() => None,
        }
    };
    ending.session_is_over();
    let mode = ui.borrow().mode();
    ui.borrow_mut().over();
    let failure = match driven {
        Some(Err(error)) => Some(Failure::new(Exit::Failed, error)),
        _ => ui.borrow().failure(),
    };
    let has_changes = ui::pending(&workspace).await > 0;
    let settling = review::settle(mode, &workspace, person.as_ref(), has_changes, &ending);
    let settled = tokio::select! {
        settled = settling => settled,
        never = &mut typed => match never {},
    };
    let settled = settled?;
    ui.borrow_mut().settled(settled, has_changes);
    say_goodbye(&ui, held, settled == Settled::Dropped && has_changes)?;
    match (ending.signal(), failure) {
        (Some(signal), _) => Err(Failure::new(signal, "interrupted")),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(()),
    }
}

/// Takes what the person types, as long as anybody asks.
async fn type_in(ui: &RefCell<Ui>, keyboard: &mut Keyboard) -> Infallible {
    loop {
        tokio::select! {
            event = keyboard.next() => match event {
                Some(event) => ui.borrow_mut().on(event),
                None => std::future::pending().await,
            },
            () = sleep(PAUSE) => ui.borrow().tick(),
        }
    }
}

/// Settles what was changed whenever a turn is over.
async fn settle_turns(ui: &RefCell<Ui>) -> Infallible {
    let turns = ui.borrow().turns();
    loop {
        turns.notified().await;
        ui::settle(ui).await;
    }
}

/// Says how the session goes on, if anything has been said in it.
fn say_goodbye(ui: &RefCell<Ui>, held: Option<Held>, is_dropped: bool) -> Result<(), Failure> {
    let Some(mut held) = held else { return Ok(()) };
    if held.is_silent() {
        return held.delete();
    }
    held.note_dropped(is_dropped);
    ui.borrow_mut().note(&format!("innerloop resume {} goes on", held.short()));
    Ok(())
}

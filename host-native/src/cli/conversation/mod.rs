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
    review::{self, Mode},
    run::on_screen,
    spinner::PAUSE,
    style::Style,
    terminal::{Keyboard, Reader, Screen},
    work::{Asked, Audience, Past, Work},
};
use crate::host::News;
use innerloop_core::input::Command;
use std::{
    cell::RefCell,
    io::{IsTerminal as _, stderr, stdin},
};
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
        let asked = Asked::read(args, past, true)?;
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
    let turns = ui.borrow().turns();
    ui.borrow_mut().begin();
    let typed = async {
        loop {
            tokio::select! {
                event = keyboard.next() => match event {
                    Some(event) => ui.borrow_mut().on(event),
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep(PAUSE) => ui.borrow_mut().tick(),
            }
        }
    };
    let settled = async {
        loop {
            turns.notified().await;
            ui::settle(&ui).await;
        }
    };
    let heard = |news: News<'_>| match news {
        News::Event(event) => ui.borrow_mut().show(event, held.as_mut()),
        News::Asked(id, agent, ask) => judge.asked(id, agent, ask),
        News::Withdrawn(id) => judge.withdraw(id),
        News::Rejected(rejected) => ui.borrow_mut().complain(&rejected.to_string()),
        News::Http(..) => {}
    };
    let mut typed = std::pin::pin!(typed);
    let driven = tokio::select! {
        driven = host.run(heard) => Some(driven),
        () = &mut typed => None,
        () = settled => None,
        () = ending.hurry() => None,
    };
    ending.session_is_over();
    let mode = ui.borrow().mode();
    ui.borrow_mut().over();
    let failure = match driven {
        Some(Err(error)) => Some(Failure::new(Exit::Failed, error)),
        _ => ui.borrow().failure(),
    };
    let has_changes = ui::pending(&workspace).await > 0;
    let settled = tokio::select! {
        settled = review::settle(mode, &workspace, person.as_ref(), has_changes, &ending) => settled,
        () = &mut typed => Ok(false),
    };
    let has_applied = settled? && mode != Mode::InPlace && has_changes;
    if has_applied {
        ui.borrow_mut().note("applied");
    }
    match held {
        // There is nothing to go on with.
        Some(held) if held.is_silent() => held.delete()?,
        Some(held) => {
            ui.borrow_mut().note(&format!("innerloop resume {} goes on", held.short()));
        }
        None => {}
    }
    match (ending.signal(), failure) {
        (Some(signal), _) => Err(Failure::new(signal, "interrupted")),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(()),
    }
}

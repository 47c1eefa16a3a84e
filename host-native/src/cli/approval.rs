//! Asking the person at the terminal: may this call run, and what is the answer to the model's
//! question? One question at a time; one that is no longer needed goes away by itself.

use super::{
    editor,
    lines::Lines,
    preview::{self, Preview},
    style::{Colour, Style, harmless},
};
use crate::host::Commands;
use innerloop_core::{
    id::EffectId,
    input::{Answer, Command},
    json::Json,
    message::Part,
    output::Ask,
};
use std::{
    collections::VecDeque,
    io::{Write, stderr},
};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// What can be answered to the question whether a call may run.
const CHOICE: &str = "[y]es, [n]o, [a]lways, [d]iff, [e]dit, [s]teer, [q]uit? ";

/// What the model reads of a no.
const NO: &str = "the user said no";

/// What the model reads where the terminal was closed.
const GONE: &str = "the user is no longer there";

/// The way to the person.
#[derive(Clone, Debug)]
pub(super) struct Person(UnboundedSender<Message>);

#[derive(Debug)]
enum Message {
    Asked(EffectId, Ask),
    Withdrawn(EffectId),
    /// A question of the program's own, and where the answer goes.
    Wanted(String, oneshot::Sender<Option<String>>),
}

impl Person {
    /// A person at this program's terminal, whose answers go to `commands`.
    pub(super) fn at_terminal(commands: Commands, preview: Preview, style: Style) -> Self {
        let (sender, inbox) = unbounded_channel();
        let (waiting, lines) = (VecDeque::new(), Lines::of_terminal());
        let mut asking = Asking { inbox, waiting, lines, commands, preview, style };
        tokio::spawn(async move { while asking.next().await.is_some() {} });
        Self(sender)
    }

    pub(super) fn ask(&self, id: EffectId, ask: &Ask) {
        drop(self.0.send(Message::Asked(id, ask.clone())));
    }

    /// Asks something for the program itself; nothing if the person is gone.
    pub(super) async fn answer(&self, question: String) -> Option<String> {
        let (sender, answer) = oneshot::channel();
        self.0.send(Message::Wanted(question, sender)).ok()?;
        answer.await.ok().flatten()
    }

    /// The question needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        drop(self.0.send(Message::Withdrawn(id)));
    }
}

/// The person's side: what is asked, one after the other.
struct Asking {
    inbox: UnboundedReceiver<Message>,
    waiting: VecDeque<(EffectId, Ask)>,
    lines: Lines,
    commands: Commands,
    preview: Preview,
    style: Style,
}

impl Asking {
    /// Puts the next question; nothing when there are no more.
    async fn next(&mut self) -> Option<()> {
        let Some((id, ask)) = self.waiting.pop_front() else {
            match self.inbox.recv().await? {
                Message::Wanted(question, to) => {
                    tell(&question);
                    // Whoever asked may have gone.
                    drop(to.send(self.lines.next().await));
                }
                message => self.note(message),
            }
            return Some(());
        };
        let answer = match &ask {
            Ask::Approval { name, arguments, folder, .. } => {
                self.approve(id, name, arguments, folder).await
            }
            Ask::Question { text } | Ask::Elicitation { message: text, .. } => {
                let text = self.style.paint(Colour::Bold, &harmless(text)).into_owned();
                self.read(id, &format!("? {text}\n> ")).await.map(|line| match line {
                    Some(line) => Answer::Text(line),
                    None => Answer::Deny { reason: GONE.to_owned() },
                })
            }
        };
        match answer {
            Some(answer) => self.commands.answer(id, answer),
            None => tell("(no longer needed)\n"),
        }
        Some(())
    }

    fn note(&mut self, message: Message) {
        match message {
            Message::Asked(id, ask) => self.waiting.push_back((id, ask)),
            Message::Withdrawn(gone) => self.waiting.retain(|(id, _)| *id != gone),
            // The program asks when the session is over, and nobody else any more.
            Message::Wanted(_, to) => drop(to),
        }
    }

    /// The answer to whether a call may run; nothing if that is no longer asked.
    async fn approve(
        &mut self,
        id: EffectId,
        name: &str,
        arguments: &Json,
        folder: &str,
    ) -> Option<Answer> {
        if !folder.is_empty() {
            tell(&format!("in the folder {}:\n", harmless(folder)));
        }
        tell(&format!("? {}", preview::call(name, arguments.text(), self.style)));
        loop {
            let Some(line) = self.read(id, CHOICE).await? else {
                return Some(Answer::Deny { reason: GONE.to_owned() });
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return Some(Answer::Allow),
                "n" | "no" => return Some(Answer::Deny { reason: NO.to_owned() }),
                "a" | "always" => return Some(Answer::AllowAlways),
                "q" | "quit" => return Some(Answer::Abort),
                "d" | "diff" => match self.preview.diff(name, arguments.text(), folder) {
                    Some(diff) => tell(&self.style.diff(&diff)),
                    None => tell("it is no change of files that could be shown\n"),
                },
                "e" | "edit" => match editor::edited(arguments).await {
                    Ok(Some(edited)) => return Some(Answer::AllowEdited(edited)),
                    Ok(None) => tell("nothing was changed\n"),
                    Err(why) => tell(&format!("{}\n", harmless(&why))),
                },
                "s" | "steer" => {
                    let said = self.read(id, "tell the model: ").await?.unwrap_or_default();
                    if !said.trim().is_empty() {
                        let parts = vec![Part::text(said.trim())];
                        self.commands.send(Command::Steer { parts });
                        let reason = format!("{NO}, and has something to say");
                        return Some(Answer::Deny { reason });
                    }
                }
                _ => {}
            }
        }
    }

    /// The next line that the person types, nothing behind the last; or nothing at all if the
    /// question is no longer needed.
    async fn read(&mut self, id: EffectId, prompt: &str) -> Option<Option<String>> {
        tell(prompt);
        loop {
            tokio::select! {
                message = self.inbox.recv() => match message? {
                    Message::Withdrawn(gone) if gone == id => return None,
                    message => self.note(message),
                },
                line = self.lines.next() => return Some(line),
            }
        }
    }
}

fn tell(text: &str) {
    let mut err = stderr().lock();
    drop(err.write_all(text.as_bytes()).and_then(|()| err.flush()));
}

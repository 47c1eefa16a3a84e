//! Asking the person at the terminal: may this call run, and what is the answer to the model's
//! question? One question at a time; one that is no longer needed goes away by itself.

use super::{
    editor,
    lines::Lines,
    preview::Preview,
    style::{Colour, Style, harmless},
    terminal::{Hidden, Reader, Screen},
};
use crate::host::Commands;
use innerloop_core::{
    id::EffectId,
    input::{Answer, Command},
    json::Json,
    message::Part,
    output::Ask,
};
use std::{collections::VecDeque, io::Write as _};
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
    /// A person who sits there, and whose answers go to `commands`.
    pub(super) fn new(commands: Commands, preview: Preview, style: Style, seat: Seat) -> Self {
        let (sender, inbox) = unbounded_channel();
        let Seat { lines, screen, reader } = seat;
        let questions = Questions { screen, ..Questions::new(inbox, lines) };
        let mut asking = Asking { questions, commands, preview, style, reader };
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

/// Where a person sits.
#[derive(Debug)]
pub(super) struct Seat {
    /// Where answers come from.
    pub(super) lines: Lines,
    /// Where questions are shown.
    pub(super) screen: Screen,
    /// Who reads the keys and lends the terminal to an editor.
    pub(super) reader: Option<Reader>,
}

impl Seat {
    /// At a terminal whose lines are read when they are wanted.
    pub(super) fn at(screen: Screen) -> Self {
        Self { lines: Lines::of_terminal(), screen, reader: None }
    }
}

/// What is asked, and where answers come from.
struct Questions {
    inbox: UnboundedReceiver<Message>,
    waiting: VecDeque<(EffectId, Ask)>,
    /// The program's own question: the session is over, and nobody else asks any more.
    wanted: Option<(String, oneshot::Sender<Option<String>>)>,
    lines: Lines,
    screen: Screen,
}

impl Questions {
    fn new(inbox: UnboundedReceiver<Message>, lines: Lines) -> Self {
        let (waiting, wanted, screen) = (VecDeque::new(), None, Screen::default());
        Self { inbox, waiting, wanted, lines, screen }
    }

    /// The next question of the session; those of the program are answered here. Nothing when
    /// there are no more.
    async fn next(&mut self) -> Option<(EffectId, Ask)> {
        loop {
            while let Ok(message) = self.inbox.try_recv() {
                self.note(message);
            }
            if let Some((question, to)) = self.wanted.take() {
                let turn = self.turn();
                self.tell(&question);
                // Whoever asked may have gone.
                drop(to.send(self.lines.next().await));
                drop(turn);
            } else if let Some(next) = self.waiting.pop_front() {
                return Some(next);
            } else {
                let message = self.inbox.recv().await?;
                self.note(message);
            }
        }
    }

    fn tell(&self, text: &str) {
        let mut screen = self.screen.clone();
        drop(screen.write_all(text.as_bytes()).and_then(|()| screen.flush()));
    }

    /// Takes away what is drawn while a line is read that the terminal itself shows.
    fn turn(&self) -> Option<Hidden> {
        matches!(self.lines, Lines::Read(_)).then(|| self.screen.hide())
    }

    fn note(&mut self, message: Message) {
        match message {
            Message::Asked(id, ask) => self.waiting.push_back((id, ask)),
            Message::Withdrawn(gone) => self.waiting.retain(|(id, _)| *id != gone),
            Message::Wanted(question, to) => {
                self.waiting.clear();
                self.wanted = Some((question, to));
            }
        }
    }

    /// The next line that the person types, nothing behind the last; or nothing at all if the
    /// question is no longer needed.
    async fn read(&mut self, id: EffectId, prompt: &str) -> Option<Option<String>> {
        let _turn = self.turn();
        self.tell(prompt);
        loop {
            tokio::select! {
                biased;
                message = self.inbox.recv() => match message? {
                    Message::Withdrawn(gone) if gone == id => return None,
                    message @ Message::Wanted(..) => {
                        self.note(message);
                        // It was no answer to what is asked next.
                        self.lines.forget();
                        return None;
                    }
                    message => self.note(message),
                },
                line = self.lines.next() => return Some(line),
            }
        }
    }
}

/// The person's side: what is asked, one after the other.
struct Asking {
    questions: Questions,
    commands: Commands,
    preview: Preview,
    style: Style,
    reader: Option<Reader>,
}

impl Asking {
    /// Puts the next question; nothing when there are no more.
    async fn next(&mut self) -> Option<()> {
        let (id, ask) = self.questions.next().await?;
        let answer = match &ask {
            Ask::Approval { name, arguments, folder, .. } => {
                self.approve(id, name, arguments, folder).await
            }
            Ask::Question { text } | Ask::Elicitation { message: text, .. } => {
                let text = self.style.paint(Colour::Bold, &harmless(text)).into_owned();
                self.questions.read(id, &format!("? {text}\n> ")).await.map(|line| match line {
                    Some(line) => Answer::Text(line),
                    None => Answer::Deny { reason: GONE.to_owned() },
                })
            }
        };
        match answer {
            Some(answer) => self.commands.answer(id, answer),
            None => self.questions.tell("(no longer needed)\n"),
        }
        Some(())
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
            self.questions.tell(&format!("in the folder {}:\n", harmless(folder)));
        }
        self.questions
            .tell(&format!("? {}", self.preview.call(name, arguments.text(), self.style)));
        loop {
            let Some(line) = self.questions.read(id, CHOICE).await? else {
                return Some(Answer::Deny { reason: GONE.to_owned() });
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return Some(Answer::Allow),
                "n" | "no" => return Some(Answer::Deny { reason: NO.to_owned() }),
                "a" | "always" => return Some(Answer::AllowAlways),
                "q" | "quit" => return Some(Answer::Abort),
                "d" | "diff" => match self.preview.diff(name, arguments.text(), folder) {
                    Some(diff) => self.questions.tell(&self.style.diff(&diff)),
                    None => self.questions.tell("it is no change of files that could be shown\n"),
                },
                "e" | "edit" => match self.edited(arguments).await {
                    Ok(Some(edited)) => return Some(Answer::AllowEdited(edited)),
                    Ok(None) => self.questions.tell("nothing was changed\n"),
                    Err(why) => self.questions.tell(&format!("{}\n", harmless(&why))),
                },
                "s" | "steer" => {
                    let said =
                        self.questions.read(id, "tell the model: ").await?.unwrap_or_default();
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

    /// The arguments as the person's editor leaves them.
    async fn edited(&self, arguments: &Json) -> Result<Option<Json>, String> {
        let hidden = self.questions.screen.hide();
        let lent = self.reader.as_ref().map(Reader::lend);
        let edited = editor::edited(arguments).await;
        drop(lent);
        drop(hidden);
        edited
    }
}

#[cfg(test)]
mod tests {
    use super::{super::lines::Input, *};
    use std::sync::mpsc;

    fn question() -> Ask {
        Ask::Question { text: "Which colour?".to_owned() }
    }

    /// The session ended without an answer to what it had asked.
    #[tokio::test]
    async fn a_question_of_the_program_takes_the_place_of_a_stale_one() {
        let (sender, inbox) = unbounded_channel();
        let person = Person(sender);
        let (typed, lines) = mpsc::channel::<String>();
        let mut questions =
            Questions::new(inbox, Lines::Read(Input::of(move || lines.recv().ok())));
        for id in [EffectId(1), EffectId(2)] {
            person.ask(id, &question());
        }
        let asking = tokio::spawn(async move {
            let (id, _) = questions.next().await?;
            assert_eq!(questions.read(id, "? ").await, None, "it is no longer asked");
            questions.next().await
        });
        let asked = person.clone();
        let answer = tokio::spawn(async move { asked.answer("apply? ".to_owned()).await });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        typed.send("yes\n".to_owned()).unwrap();
        assert_eq!(answer.await.unwrap().as_deref(), Some("yes"));
        drop(person);
        assert!(asking.await.unwrap().is_none(), "nor is what waited behind it");
    }

    /// A yes to a call is no yes to what is asked next.
    #[tokio::test]
    async fn a_line_that_was_typed_for_a_stale_question_answers_no_other() {
        let (sender, inbox) = unbounded_channel();
        let person = Person(sender);
        let (typed, lines) = mpsc::channel::<String>();
        let mut questions =
            Questions::new(inbox, Lines::Read(Input::of(move || lines.recv().ok())));
        if let Lines::Read(input) = &mut questions.lines {
            input.want();
        }
        typed.send("y\n".to_owned()).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let (to, answer) = oneshot::channel();
        person.0.send(Message::Wanted("apply? ".to_owned(), to)).unwrap();
        assert_eq!(questions.read(EffectId(1), "? ").await, None);
        typed.send("n\n".to_owned()).unwrap();
        drop(person);
        assert!(questions.next().await.is_none());
        assert_eq!(answer.await.unwrap().as_deref(), Some("n"));
    }
}

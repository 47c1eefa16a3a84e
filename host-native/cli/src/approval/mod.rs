//! The questions to the person at the terminal: may this call run, may this page be read, and what
//! is the answer to the model's question. A task of its own asks one at a time; a question that is
//! no longer needed is withdrawn, also while it is on the screen.

mod page;

use super::{
    allow::{CallRules, only_this},
    answer_input::LineSource,
    editor,
    preview::{CallPreview, FileEffect, shortened},
    question::Question,
    style::{OutputStyle, TextColour, brief, harmless},
    terminal::{HiddenArea, KeyReader, Screen, columns},
    wrap::wrapped,
};
use innerloop_core::{
    id::EffectId,
    input::{Answer, Command},
    json::Json,
    message::Part,
    output::Ask,
};
use innerloop_host::{host::CommandSender, web};
use std::{collections::VecDeque, io::Write as _};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// The most characters of a tool's name.
const NAME: usize = 40;

/// The hint on how to undo an "always".
const TAKEN_BACK: &str = "(in a conversation, /approve none asks again)";

/// The message if a yes would allow something that was not shown.
const UNSEEN: &str = "not all of the call is shown: d shows it, and then it can be allowed";

/// The text that the model reads after a no.
const NO: &str = "the user said no";

/// The text that the model reads before the reason why a call would fail.
const FAILS: &str = "nobody was asked, since it would fail";

/// The text that the model reads if the terminal was closed.
const GONE: &str = "the user is no longer there";

/// The way to the person.
#[derive(Clone, Debug)]
pub(super) struct PersonHandle(UnboundedSender<PersonMessage>);

#[derive(Debug)]
enum PersonMessage {
    Asked(EffectId, Ask),
    Withdrawn(EffectId),
    /// A page of a domain that is not allowed.
    Page(web::DomainRequest),
    /// A question of the program's own, and the receiver of its answer.
    Wanted(Question, oneshot::Sender<Option<String>>),
    /// No question of the session needs an answer any more.
    SessionIsOver,
}

impl PersonHandle {
    /// Begins to ask the person at that terminal; answers go to `commands`.
    pub(super) fn new(
        commands: CommandSender,
        (preview, rules): (CallPreview, CallRules),
        style: OutputStyle,
        seat: InteractiveTerminal,
    ) -> Self {
        let (sender, inbox) = unbounded_channel();
        let InteractiveTerminal { lines, screen, reader } = seat;
        let questions = QuestionQueue { screen, ..QuestionQueue::new(inbox, lines) };
        let mut asking = QuestionPrompter { questions, commands, preview, rules, style, reader };
        tokio::spawn(async move { while asking.next().await.is_some() {} });
        Self(sender)
    }

    pub(super) fn ask(&self, id: EffectId, ask: &Ask) {
        drop(self.0.send(PersonMessage::Asked(id, ask.clone())));
    }

    /// Asks a question of the program's own; returns none if the person is gone.
    pub(super) async fn answer(&self, question: Question) -> Option<String> {
        let (sender, answer) = oneshot::channel();
        self.0.send(PersonMessage::Wanted(question, sender)).ok()?;
        answer.await.ok().flatten()
    }

    /// Withdraws a question that needs no answer any more.
    pub(super) fn withdraw(&self, id: EffectId) {
        drop(self.0.send(PersonMessage::Withdrawn(id)));
    }

    /// Withdraws all questions of the session. Those of the program, such as whether to apply the
    /// changes, go on.
    pub(super) fn session_is_over(&self) {
        drop(self.0.send(PersonMessage::SessionIsOver));
    }
}

/// The terminal at which a person sits.
#[derive(Debug)]
pub(super) struct InteractiveTerminal {
    /// The source of answers.
    pub(super) lines: LineSource,
    /// The screen on which questions are shown.
    pub(super) screen: Screen,
    /// The reader of the keys, which lends the terminal to an editor.
    pub(super) reader: Option<KeyReader>,
}

impl InteractiveTerminal {
    /// Returns a terminal whose lines are read when an answer is wanted.
    pub(super) fn at(screen: Screen) -> Self {
        Self { lines: LineSource::of_terminal(), screen, reader: None }
    }
}

/// The queue of questions, and the source of answers.
struct QuestionQueue {
    inbox: UnboundedReceiver<PersonMessage>,
    waiting: VecDeque<QueuedQuestion>,
    lines: LineSource,
    screen: Screen,
}

enum QueuedQuestion {
    /// A question of the session.
    Asked(EffectId, Ask),
    /// A question about a page.
    Page(web::DomainRequest),
    /// A question of the program.
    Wanted(Question, oneshot::Sender<Option<String>>),
}

impl QuestionQueue {
    fn new(inbox: UnboundedReceiver<PersonMessage>, lines: LineSource) -> Self {
        Self { inbox, waiting: VecDeque::new(), lines, screen: Screen::default() }
    }

    /// Waits for the next question of the session; those about pages and of the program are asked
    /// here. Returns none when no more can come.
    async fn next(&mut self) -> Option<(EffectId, Ask)> {
        loop {
            // Before a question is asked, everything is read that may have withdrawn it.
            while let Ok(message) = self.inbox.try_recv() {
                self.note(message);
            }
            match self.waiting.pop_front() {
                Some(QueuedQuestion::Asked(id, ask)) => return Some((id, ask)),
                Some(QueuedQuestion::Page(page)) => self.ask_for_page(page).await,
                Some(QueuedQuestion::Wanted(_, to)) if to.is_closed() => {}
                Some(QueuedQuestion::Wanted(question, to)) => self.answer(&question, to).await,
                None => {
                    let message = self.inbox.recv().await?;
                    self.note(message);
                }
            }
        }
    }

    /// Asks a question of the program, until it is answered or nobody waits for the answer.
    async fn answer(&mut self, question: &Question, mut to: oneshot::Sender<Option<String>>) {
        let alone = self.screen.turn();
        let turn = self.put(question);
        let line = tokio::select! {
            line = self.lines.next(question) => Some(line),
            () = to.closed() => None,
        };
        drop((turn, alone));
        match line {
            Some(line) => drop(to.send(line)),
            None => self.lines.forget(),
        }
    }

    fn tell(&self, text: &str) {
        let mut screen = self.screen.clone();
        drop(screen.write_all(text.as_bytes()).and_then(|()| screen.flush()));
    }

    /// Writes lines, broken between words where they are wider than the terminal.
    fn tell_wrapped(&self, text: &str) {
        self.tell(&format!("{}\n", wrapped(text, columns())));
    }

    /// Shows the prompt if the terminal itself echoes the answer; nothing else is written there
    /// until the result is dropped. A conversation reads keys and draws the prompt itself.
    fn put(&self, question: &Question) -> Option<HiddenArea> {
        matches!(self.lines, LineSource::Read(_)).then(|| {
            let turn = self.screen.hide();
            turn.write(&wrapped(&question.prompt, columns()));
            turn
        })
    }

    fn note(&mut self, message: PersonMessage) {
        match message {
            PersonMessage::Asked(id, ask) => self.waiting.push_back(QueuedQuestion::Asked(id, ask)),
            PersonMessage::Page(page) => self.waiting.push_back(QueuedQuestion::Page(page)),
            PersonMessage::Wanted(question, to) => {
                self.waiting.push_back(QueuedQuestion::Wanted(question, to));
            }
            PersonMessage::Withdrawn(gone) => {
                let is_gone = |waiting: &QueuedQuestion| match waiting {
                    QueuedQuestion::Asked(id, _) => *id == gone,
                    _ => false,
                };
                self.waiting.retain(|waiting| !is_gone(waiting));
            }
            PersonMessage::SessionIsOver => {
                self.waiting.retain(|waiting| matches!(waiting, QueuedQuestion::Wanted(..)));
            }
        }
    }

    /// Waits for the next line: `Some(None)` at the end of the input, and none if the question is
    /// no longer needed.
    async fn read(&mut self, id: EffectId, question: &Question) -> Option<Option<String>> {
        let _turn = self.put(question);
        loop {
            tokio::select! {
                biased;
                message = self.inbox.recv() => {
                    let message = message?;
                    let is_over = match &message {
                        PersonMessage::Withdrawn(gone) => *gone == id,
                        PersonMessage::SessionIsOver => true,
                        PersonMessage::Asked(..)
                        | PersonMessage::Page(_)
                        | PersonMessage::Wanted(..) => false,
                    };
                    self.note(message);
                    if is_over {
                        // What was typed for this question must not answer the next one.
                        self.lines.forget();
                        return None;
                    }
                }
                line = self.lines.next(question) => return Some(line),
            }
        }
    }
}

/// The task that asks the questions, one after the other.
struct QuestionPrompter {
    questions: QuestionQueue,
    commands: CommandSender,
    preview: CallPreview,
    /// The rules, which remember what is always allowed.
    rules: CallRules,
    style: OutputStyle,
    reader: Option<KeyReader>,
}

impl QuestionPrompter {
    /// Asks the next question; returns none when there are no more.
    async fn next(&mut self) -> Option<()> {
        let (id, ask) = self.questions.next().await?;
        let turn = self.questions.screen.turn();
        let answer = match &ask {
            Ask::Approval { name, arguments, folder, .. } => {
                self.approve(id, name, arguments, folder).await
            }
            Ask::Question { text } | Ask::Elicitation { message: text, .. } => {
                let text = self.style.paint(TextColour::Bold, &harmless(text)).into_owned();
                self.questions.tell_wrapped(&format!("? {text}"));
                let question = Question::open("your answer: ");
                self.questions.read(id, &question).await.map(|line| match line {
                    Some(line) => Answer::Text(line),
                    None => Answer::nobody(GONE),
                })
            }
        };
        if answer.is_none() {
            self.questions.tell("(no longer needed)\n");
        }
        drop(turn);
        answer.into_iter().for_each(|answer| self.commands.answer(id, answer));
        Some(())
    }

    /// Asks whether a call may run; returns none if that is no longer asked. A call that was always
    /// allowed meanwhile is not asked about, nor one that would fail.
    async fn approve(
        &mut self,
        id: EffectId,
        name: &str,
        arguments: &Json,
        folder: &str,
    ) -> Option<Answer> {
        let action = self.preview.action(name, arguments.text());
        let once = action.filter(|action| only_this(action).is_some());
        if once.as_ref().is_some_and(|action| self.rules.remembers(folder, action)) {
            return Some(Answer::Allow);
        }
        let text = arguments.text();
        let effect = self.preview.effect(name, text, folder);
        if let FileEffect::Failure(why) = &effect {
            return Some(Answer::deny(format!("{FAILS}: {why}")));
        }
        let changes = self.preview.changes_files(name, text);
        let choice = choice(once.as_ref().and_then(only_this), name, changes);
        let mut is_unseen = self.preview.is_cut(name, text);
        self.show(name, text, folder, &effect);
        loop {
            let Some(line) = self.questions.read(id, &choice).await? else {
                return Some(Answer::nobody(GONE));
            };
            match choice.word(&line) {
                Some("yes" | "always") if is_unseen => self.questions.tell_wrapped(UNSEEN),
                Some("yes") => return Some(Answer::Allow),
                Some("no") => return Some(Answer::deny(NO)),
                Some("always") => {
                    self.questions.tell_wrapped(TAKEN_BACK);
                    let Some(action) = once else { return Some(Answer::AllowAlways) };
                    self.rules.remember(folder, action);
                    return Some(Answer::Allow);
                }
                Some("quit") => return Some(Answer::Abort),
                Some("details") => {
                    is_unseen = false;
                    self.questions.tell_wrapped(&self.preview.details(text, self.style));
                }
                Some("diff") => match self.preview.effect(name, text, folder) {
                    FileEffect::Diff(diff) => self.questions.tell(&self.style.diff(&diff)),
                    FileEffect::Failure(why) => {
                        self.questions.tell(&format!("it would fail: {}\n", harmless(&why)));
                    }
                    FileEffect::Nothing => self.questions.tell("it would change nothing\n"),
                    FileEffect::Unknown => {
                        self.questions.tell("it can't be told what it would change\n");
                    }
                },
                Some("edit") => match self.edited(arguments).await {
                    Ok(Some(edited)) => return Some(Answer::AllowEdited(edited)),
                    Ok(None) => self.questions.tell("nothing was changed\n"),
                    Err(why) => self.questions.tell(&format!("{}\n", harmless(&why))),
                },
                Some("steer") => {
                    let question = Question::open("tell the model: ");
                    let said = self.questions.read(id, &question).await?.unwrap_or_default();
                    if !said.trim().is_empty() {
                        let parts = vec![Part::text(said.trim())];
                        self.commands.send(Command::Steer { parts });
                        let reason = format!("{NO}, and has something to say");
                        return Some(Answer::deny(reason));
                    }
                }
                _ => {}
            }
        }
    }

    /// Shows the call that is asked about.
    fn show(&self, name: &str, arguments: &str, folder: &str, effect: &FileEffect) {
        if !folder.is_empty() {
            self.questions.tell_wrapped(&format!("in the folder {}:", harmless(folder)));
        }
        let call = self.preview.call(name, arguments, effect, self.style);
        self.questions.tell_wrapped(&format!("? {call}"));
        if let FileEffect::Diff(diff) = effect {
            self.questions.tell(&self.style.diff(&shortened(diff)));
        }
    }

    /// Returns the arguments as the person's editor leaves them; none if they are unchanged.
    async fn edited(&self, arguments: &Json) -> Result<Option<Json>, String> {
        // The area is removed before raw mode ends and redrawn once it is back: its line ends
        // depend on the mode.
        let hidden = self.questions.screen.hide();
        let lent = self.reader.as_ref().map(KeyReader::lend);
        let edited = editor::edited(arguments).await;
        drop(lent);
        drop(hidden);
        edited
    }
}

/// Returns the question whether a call may run. `only` names what an `always` allows, if that is
/// less than every call of the tool.
fn choice(only: Option<&str>, name: &str, changes_files: bool) -> Question {
    let always = only.map_or_else(|| format!("every {}", brief(name, NAME)), str::to_owned);
    let shown = if changes_files { "diff" } else { "details" };
    let words = ["yes", "no", "always", shown, "edit", "steer", "quit"];
    let words = words.map(|word| (word, if word == "always" { always.as_str() } else { "" }));
    Question::choice("", &words).by_key()
}

#[cfg(test)]
mod tests {
    use super::{super::answer_input::StdinLines, *};
    use std::sync::mpsc;

    fn question() -> Ask {
        Ask::Question { text: "Which colour?".to_owned() }
    }

    /// Tests a session that ends without an answer to its questions.
    #[tokio::test]
    async fn a_question_of_the_program_takes_the_place_of_a_stale_one() {
        let (sender, inbox) = unbounded_channel();
        let person = PersonHandle(sender);
        let (typed, lines) = mpsc::channel::<String>();
        let mut questions =
            QuestionQueue::new(inbox, LineSource::Read(StdinLines::of(move || lines.recv().ok())));
        for id in [EffectId(1), EffectId(2)] {
            person.ask(id, &question());
        }
        let asking = tokio::spawn(async move {
            let (id, _) = questions.next().await?;
            let asked = Question::open("? ");
            assert_eq!(questions.read(id, &asked).await, None, "it is no longer asked");
            questions.next().await
        });
        let asked = person.clone();
        let answer = tokio::spawn(async move {
            asked.session_is_over();
            asked.answer(Question::open("apply? ")).await
        });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        typed.send("yes\n".to_owned()).unwrap();
        assert_eq!(answer.await.unwrap().as_deref(), Some("yes"));
        drop(person);
        assert!(asking.await.unwrap().is_none(), "nor is what waited behind it");
    }

    /// Tests a conversation that asks whether to apply changes while an agent waits for an answer.
    #[tokio::test]
    async fn a_question_of_the_program_waits_for_its_turn() {
        let (sender, inbox) = unbounded_channel();
        let person = PersonHandle(sender);
        let (typed, lines) = mpsc::channel::<String>();
        let mut questions =
            QuestionQueue::new(inbox, LineSource::Read(StdinLines::of(move || lines.recv().ok())));
        person.ask(EffectId(1), &question());
        let given_up = person.clone();
        let given_up = tokio::spawn(async move { given_up.answer(Question::open("old? ")).await });
        let asked = person.clone();
        let asking = tokio::spawn(async move {
            let (id, _) = questions.next().await?;
            let line = questions.read(id, &Question::open("? ")).await;
            assert_eq!(line, Some(Some("blue".to_owned())));
            questions.next().await
        });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        given_up.abort();
        typed.send("blue\n".to_owned()).unwrap();
        let answer = tokio::spawn(async move { asked.answer(Question::open("apply? ")).await });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        typed.send("yes\n".to_owned()).unwrap();
        assert_eq!(answer.await.unwrap().as_deref(), Some("yes"), "nobody waits for the other");
        drop(person);
        assert!(asking.await.unwrap().is_none());
    }

    /// Tests that a yes to one call does not answer the next question.
    #[tokio::test]
    async fn a_line_that_was_typed_for_a_stale_question_answers_no_other() {
        let (sender, inbox) = unbounded_channel();
        let person = PersonHandle(sender);
        let (typed, lines) = mpsc::channel::<String>();
        let mut questions =
            QuestionQueue::new(inbox, LineSource::Read(StdinLines::of(move || lines.recv().ok())));
        if let LineSource::Read(input) = &mut questions.lines {
            input.want();
        }
        typed.send("y\n".to_owned()).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let (to, answer) = oneshot::channel();
        person.session_is_over();
        person.0.send(PersonMessage::Wanted(Question::open("apply? "), to)).unwrap();
        assert_eq!(questions.read(EffectId(1), &Question::open("? ")).await, None);
        typed.send("n\n".to_owned()).unwrap();
        drop(person);
        assert!(questions.next().await.is_none());
        assert_eq!(answer.await.unwrap().as_deref(), Some("n"));
    }
}

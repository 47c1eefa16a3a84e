//! What a conversation looks like, and what becomes of what a person types.

use super::{
    commands::{self, Command as Own},
    completion::{self, Candidates},
    composer::{Composer, Word},
};
use crate::{
    cli::{
        approval::Person,
        attach,
        exit::Failure,
        header,
        lines::Slot,
        model_change,
        report::Report,
        review::{self, Mode, Settled},
        sessions::{self, Held},
        spinner::Spinner,
        style::{Colour, Look, Style, harmless},
        terminal::{History, Screen, size},
        transcript::Transcript,
        work::Work,
    },
    diff::Changes,
    host::Commands,
    sandbox::Workspace,
};
use crossterm::event::Event as Key;
use innerloop_core::{
    config::ModelConfig,
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    json::{Object, from_str},
    message::Part,
    status::RunEnd,
};
use innerloop_driver::{catalogue::Catalogue, providers::Provider};
use serde_json::{Value, json};
use std::{cell::RefCell, io::Write as _, sync::Arc};
use tokio::{sync::Notify, task::spawn_blocking};

/// What stands behind a text that is to wait until the agent is done.
const LATER: &str = "&&";

/// The conversation as the person sees it.
pub(super) struct Ui {
    screen: Screen,
    transcript: Transcript<Screen>,
    spinner: Spinner,
    composer: Composer,
    /// The place for answers to questions.
    slot: Slot,
    commands: Commands,
    person: Option<Person>,
    workspace: Workspace,
    mode: Mode,
    style: Style,
    provider: Provider,
    catalogue: Catalogue,
    model: ModelConfig,
    header: String,
    state: State,
    /// Of the turn that goes on, and of the whole conversation.
    turn: Report,
    all: Report,
    key: String,
    /// Told when a turn is over.
    turns: Arc<Notify>,
}

/// What goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The agent waits for the person.
    Idle,
    /// The person was told how to leave.
    Warned,
    Working,
    Interrupting,
    Leaving,
}

impl Ui {
    pub(super) fn new(
        work: &Work,
        screen: Screen,
        slot: Slot,
        style: Style,
        is_under_way: bool,
    ) -> Self {
        let config = work.host.driver().session().config();
        Self {
            transcript: Transcript::new(screen.clone(), style, work.words.clone()),
            spinner: Spinner::new(screen.clone(), style),
            screen,
            composer: Composer::new(History::open()),
            slot,
            commands: work.host.commands(),
            person: work.person.clone(),
            workspace: work.workspace.clone(),
            mode: work.mode,
            style,
            provider: work.provider.clone(),
            catalogue: work.catalogue.clone(),
            model: config.model.clone(),
            header: header::of(work),
            state: if is_under_way { State::Working } else { State::Idle },
            turn: Report::new(&work.key, work.mode),
            all: Report::new(&work.key, work.mode),
            key: work.key.clone(),
            turns: Arc::default(),
        }
    }

    /// Told when a turn is over.
    pub(super) fn turns(&self) -> Arc<Notify> {
        Arc::clone(&self.turns)
    }

    pub(super) const fn mode(&self) -> Mode {
        self.mode
    }

    /// Shows what one begins with.
    pub(super) fn begin(&mut self) {
        self.screen.begin(size().unwrap_or_default());
        let header = self.header.clone();
        self.note(&header);
        self.note("/help tells what can be said besides; Ctrl-D leaves");
        self.draw();
    }

    /// Shows what the session says.
    pub(super) fn show(&mut self, event: &Event, held: Option<&mut Held>) {
        self.turn.add(event);
        self.all.add(event);
        self.transcript.show(event);
        self.spinner.set(self.transcript.activity());
        if event.agent != AgentId::ROOT {
            return;
        }
        match &event.kind {
            EventKind::UserInput { parts, .. } => {
                if let Some(held) = held {
                    // A name is a convenience.
                    drop(held.entitle(&sessions::title(parts)));
                }
                if self.state != State::Leaving {
                    self.state = State::Working;
                }
            }
            EventKind::ProcessingEnd { end, .. } => self.turn_is_over(*end),
            _ => {}
        }
        self.draw();
    }

    fn turn_is_over(&mut self, end: RunEnd) {
        self.spinner.set(None);
        if end == RunEnd::Interrupted {
            self.tell(Look::YELLOW, "interrupted; what was done so far stays");
        } else if let Err(failure) = self.turn.run_result() {
            self.tell(Look::RED, &failure.message);
        }
        if let Some(line) = self.transcript.turn_line() {
            self.note(&line);
        }
        self.turn = Report::new(&self.key, self.mode);
        if self.state != State::Leaving {
            self.state = State::Idle;
            self.turns.notify_one();
        }
    }

    /// Says that something can't be.
    pub(super) fn complain(&mut self, why: &str) {
        self.tell(Look::RED, why);
        self.draw();
    }

    /// Time has passed.
    pub(super) fn tick(&self) {
        self.spinner.tick();
    }

    /// Takes what the person does.
    pub(super) fn on(&mut self, key: Key) {
        let workspace = self.workspace.clone();
        let files = move |part: &str| completion::files(&workspace, part);
        let word = self.composer.on(key, &Candidates::new(&commands::NAMES, &files));
        match word {
            None => {}
            Some(Word::Said(text)) => self.said(&text),
            Some(Word::Key(key)) => self.pressed(key),
            Some(Word::Interrupt) => self.interrupt(),
            Some(Word::Leave) => self.leave(),
            Some(Word::Redraw) => self.screen.redraw(),
            Some(Word::Resized(columns, rows)) => self.screen.resize((columns, rows)),
        }
        self.draw();
    }

    /// A key stands for an answer where the question says so.
    fn pressed(&mut self, key: char) {
        let is_choice = self.slot.is_wanted() && self.screen.tail().contains(&format!("[{key}]"));
        if is_choice {
            self.composer.clear();
            self.answer(&key.to_string());
        }
    }

    fn answer(&mut self, text: &str) {
        self.write(&format!("{}\n", harmless(text)));
        self.slot.give(text);
    }

    fn said(&mut self, text: &str) {
        if self.slot.is_wanted() {
            return self.answer(text);
        }
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match commands::parse(text) {
            None => self.say(text),
            Some(Ok(command)) => {
                self.echo(text);
                self.obey(command);
            }
            Some(Err(why)) => {
                self.echo(text);
                self.tell(Look::RED, &why);
            }
        }
    }

    /// Says something to the agent: now, after its current calls, or when it is done.
    pub(super) fn say(&mut self, text: &str) {
        self.echo(text);
        let (text, waits) = match text.strip_suffix(LATER) {
            Some(text) => (text.trim(), true),
            None => (text, false),
        };
        let mut parts = vec![Part::text(text)];
        parts.extend(attach::mentions(text, &self.workspace));
        let is_working = matches!(self.state, State::Working | State::Interrupting);
        self.commands.send(match (is_working, waits) {
            (false, _) => Command::Submit { parts },
            (true, false) => Command::Steer { parts },
            (true, true) => Command::FollowUp { parts },
        });
        match (is_working, waits) {
            (false, _) => self.state = State::Working,
            (true, false) => self.note("(the agent reads it after its current calls)"),
            (true, true) => self.note("(the agent reads it when it is done)"),
        }
    }

    /// Stops what goes on; where nothing does, forgets what was typed or tells how to leave.
    fn interrupt(&mut self) {
        match self.state {
            _ if !self.composer.is_empty() => self.composer.clear(),
            State::Working => {
                self.state = State::Interrupting;
                self.spinner.set(Some("stopping".to_owned()));
                self.commands.send(Command::Interrupt);
            }
            _ if self.slot.is_wanted() => self.answer("l"),
            State::Idle => {
                self.state = State::Warned;
                self.note("Ctrl-C again, or Ctrl-D, leaves");
            }
            State::Warned | State::Interrupting => self.leave(),
            State::Leaving => {}
        }
    }

    fn leave(&mut self) {
        if matches!(self.state, State::Working | State::Interrupting) {
            self.commands.send(Command::Interrupt);
        }
        self.state = State::Leaving;
        if self.slot.is_wanted() {
            self.answer("l");
        }
        self.commands.send(Command::Close);
    }

    fn obey(&mut self, command: Own) {
        match command {
            Own::Help => self.write(commands::HELP),
            Own::Model(None) => {
                let model = format!("{} ({})", self.model.name, self.provider.name);
                self.note(&model);
            }
            Own::Model(Some(name)) => {
                let changed = model_change::to(&name, &self.provider, &self.catalogue, &self.model);
                self.model.name.clone_from(&name);
                self.configure(&json!({"model": changed}));
                self.note(&format!("from the next call on: {name}"));
            }
            Own::Effort(level) => {
                self.configure(&json!({"model": {"reasoning_effort": level}}));
                self.note(&format!("from the next call on: effort {level}"));
            }
            Own::Approve(ask) => {
                self.configure(&json!({"approval": {"ask": ask}}));
                self.note("from the next call on");
            }
            Own::Diff => {
                let (workspace, style) = (self.workspace.clone(), self.style);
                let diff = style.diff(&difference(&workspace));
                self.write(if diff.is_empty() { "nothing is changed\n" } else { &diff });
            }
            Own::Apply => self.apply(),
            Own::Cost => {
                let counts = self.all.counts(self.style);
                self.write(&format!("{counts}\n"));
            }
            Own::Quit => self.leave(),
        }
    }

    fn configure(&mut self, patch: &Value) {
        if let Ok(patch) = from_str::<Object>(&patch.to_string()) {
            self.commands.send(Command::Configure { patch });
        }
    }

    /// Writes what was changed to the folder.
    fn apply(&mut self) {
        let count = changed(&self.workspace);
        match self.workspace.apply() {
            _ if !self.workspace.is_overlay() => self.note("changes are in the folder already"),
            Ok(()) if count == 0 => self.note("nothing is changed"),
            Ok(()) => self.note(&format!("applied: {}", files(count))),
            Err(error) => {
                let why = review::told(error);
                self.tell(Look::RED, &why);
            }
        }
    }

    fn echo(&mut self, text: &str) {
        let text = harmless(text).replace('\n', "\n  ");
        let said = self.style.paint(Colour::Bold, &format!("> {text}")).into_owned();
        self.write(&format!("\n{said}\n"));
    }

    pub(super) fn note(&mut self, text: &str) {
        self.tell(Look::DIM, text);
    }

    fn tell(&mut self, look: Look, text: &str) {
        self.transcript.tell(look, text);
    }

    fn write(&mut self, text: &str) {
        drop(self.screen.write_all(text.as_bytes()));
    }

    /// Draws what is being typed.
    fn draw(&mut self) {
        self.spinner.hint(self.composer.hint());
        let input = self.composer.layout(self.screen.width(), self.screen.height());
        self.screen.set_input(Some(input));
    }

    /// The session is over.
    pub(super) fn over(&mut self) {
        self.state = State::Leaving;
        self.spinner.set(None);
        self.draw();
    }

    /// What has become of the last changes.
    pub(super) fn settled(&mut self, settled: Settled, has_changes: bool) {
        match settled {
            _ if !has_changes => {}
            Settled::Applied => self.note("applied"),
            Settled::Kept => self.note("not applied yet: the session keeps the changes"),
            Settled::Dropped => self.note("not applied: the folder is as it was"),
        }
    }

    /// How the last turn has failed, if the session has ended by itself.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.turn.run_result().err().filter(|_| self.turn.has_begun())
    }
}

/// After a turn: brings the changes where they belong, after a question if that is open.
pub(super) async fn settle(ui: &RefCell<Ui>) {
    let (workspace, mode, person) = {
        let ui = ui.borrow();
        (ui.workspace.clone(), ui.mode, ui.person.clone())
    };
    let folder = harmless(&workspace.root().display().to_string()).into_owned();
    loop {
        let count = pending(&workspace).await;
        match mode {
            _ if count == 0 => return,
            Mode::InPlace => return,
            Mode::Apply => return ui.borrow_mut().apply(),
            Mode::Show => {
                let line = format!("{} changed, not applied; /diff shows it", files(count));
                return ui.borrow_mut().note(&line);
            }
            Mode::Ask => {}
        }
        let question =
            format!("apply {} to {folder}? [y]es, [l]ater, [d]iff, [a]lways: ", files(count));
        let Some(person) = &person else { return };
        let answer = person.answer(question).await.unwrap_or_default();
        let mut ui = ui.borrow_mut();
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return ui.apply(),
            "a" | "always" => {
                ui.mode = Mode::Apply;
                return ui.apply();
            }
            "d" | "diff" => ui.obey(Own::Diff),
            "" | "l" | "later" | "n" | "no" => {
                return ui.note("not applied yet; /apply does it, /diff shows it");
            }
            // It is an answer to the agent.
            _ => {
                let text = answer.trim();
                return ui.said(text);
            }
        }
    }
}

/// How many files are changed and not applied.
pub(super) async fn pending(workspace: &Workspace) -> usize {
    if !workspace.is_overlay() {
        return 0;
    }
    let workspace = workspace.clone();
    spawn_blocking(move || changed(&workspace)).await.unwrap_or_default()
}

fn changed(workspace: &Workspace) -> usize {
    workspace.changes().0.iter().filter(|file| !file.is_same()).count()
}

fn difference(workspace: &Workspace) -> String {
    let mut changes = Changes::default();
    workspace.changes().0.iter().for_each(|file| changes.add_file(file));
    changes.unified()
}

fn files(count: usize) -> String {
    format!("{count} changed file{}", if count == 1 { "" } else { "s" })
}

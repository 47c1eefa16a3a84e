//! The user interface of a conversation: draws events, questions and the line that is typed, and
//! decides whether a finished text is an answer, a command or an input for the agent.

mod applying;
mod asking;
mod drawing;
mod slash_commands;

use super::{
    apply_stop::ApplyStop,
    commands::{self, ConversationCommands, SlashCommand},
    completion::{self, CompletionSource},
    composer::{Composer, ComposerAction},
    session_answers::SessionAnswers,
    steps::StepTitles,
};
use crate::{
    answer_input::AnswerSlot,
    approval::PersonHandle,
    args::ModelArgs,
    attach::{self, MentionScope},
    auto_approval::ApprovalJudge,
    exit::CliError,
    header,
    key_in_use::KeyInUse,
    platform,
    question::Question,
    report::RunReport,
    review::{self, ChangeMode},
    session_setup::ActiveSession,
    sessions::{self, LockedSession},
    spinner::{ActivityLabel, Spinner},
    style::{OutputStyle, TextStyle, brief},
    terminal::{History, KeyReader, Screen, size},
    transcript::Transcript,
};
use crossterm::event::Event as Key;
use innerloop_core::{
    compaction::FoldReason,
    config::{AskAbout, ModelConfig},
    event::{Event, EventKind},
    id::AgentId,
    input::Command,
    message::{Part, RewindReason},
    preset::ConfigPreset,
    status::RunEnd,
};
use innerloop_driver::{FileSteps, SessionFirewall, catalogue::Catalogue, providers::Provider};
use innerloop_host::host::CommandSender;
use innerloop_workspace::Workspace;
use std::{
    collections::VecDeque,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// The mark at the end of a text that should wait until the agent is done.
const LATER: &str = "&&";

/// The time after a question came up in which a key is not an answer: the person has not seen it.
const UNSEEN: Duration = Duration::from_millis(500);

/// The time without another key after which a key is an answer rather than the start of a text.
const ALONE: Duration = Duration::from_millis(300);

/// The characters of a queued text that are shown.
const QUEUED: usize = 60;

/// The conversation as the person sees it.
pub(super) struct ConversationUi {
    screen: Screen,
    transcript: Transcript<Screen>,
    spinner: Spinner,
    composer: Composer,
    /// The keys and signals that stop an application of changes.
    stop: ApplyStop,
    /// The place for answers to questions.
    slot: AnswerSlot,
    /// The key that may be an answer, and when it was pressed.
    key_pressed: Option<(char, Instant)>,
    /// The text that may or may not have been meant as the answer to an open question.
    unanswering: Option<String>,
    /// The parts that go with the next words to the agent.
    attached: Vec<Part>,
    /// An unknown name that was refused once; given again, it is taken.
    doubted: Option<String>,
    /// The texts that the agent has not read yet.
    queued: VecDeque<String>,
    commands: CommandSender,
    /// The commands that the person can type.
    known: ConversationCommands,
    answers: SessionAnswers,
    person: Option<PersonHandle>,
    judge: ApprovalJudge,
    workspace: Workspace,
    mode: ChangeMode,
    /// True if the session began with the question whether to apply changes.
    asks_to_apply: bool,
    /// The files that the steps have changed.
    steps: FileSteps,
    firewall: SessionFirewall,
    /// The words that the steps began with.
    said_steps: StepTitles,
    /// True if the next undo also undoes the changes to files.
    rewinds: bool,
    /// True if commands change files of which nobody hears.
    is_local: bool,
    style: OutputStyle,
    provider: Provider,
    /// The options and settings that lead to other providers.
    access: ModelArgs,
    catalogue: Catalogue,
    preset: Option<ConfigPreset>,
    model: ModelConfig,
    /// The calls that need a yes.
    asks_about: AskAbout,
    header: String,
    /// The notices about changes that were shown last.
    noticed: String,
    state: ConversationState,
    wants_another: bool,
    /// The reports of the current turn and of the whole conversation.
    turn: RunReport,
    all: RunReport,
    key: KeyInUse,
    /// Notified when a turn is over.
    turns: Arc<Notify>,
    /// Notified when the person does not want to wait for the end.
    hurry: Arc<Notify>,
}

/// The state of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConversationState {
    /// The agent waits for the person.
    Idle,
    /// The person was told how to leave.
    Warned,
    Working,
    /// The conversation is being summed up, as the person asked.
    Compacting,
    Interrupting,
    Leaving,
}

impl ConversationUi {
    pub(super) fn new(
        work: &ActiveSession,
        (slot, reader): (AnswerSlot, KeyReader),
        known: ConversationCommands,
        style: OutputStyle,
        is_under_way: bool,
    ) -> Self {
        let screen = work.screen.clone();
        let config = work.host.driver().session().config();
        Self {
            transcript: Transcript::new(screen.clone(), style, work.words.clone()),
            spinner: Spinner::new(screen.clone(), style),
            screen,
            composer: Composer::new(History::open(work.held.is_some())),
            stop: ApplyStop::new(reader),
            slot,
            key_pressed: None,
            unanswering: None,
            attached: Vec::new(),
            doubted: None,
            queued: VecDeque::new(),
            commands: work.host.commands(),
            known,
            answers: SessionAnswers::default(),
            person: work.person.clone(),
            judge: work.judge.clone(),
            workspace: work.workspace.clone(),
            mode: work.mode,
            asks_to_apply: work.mode == ChangeMode::Ask,
            steps: FileSteps::default(),
            firewall: work.host.driver().firewall().clone(),
            said_steps: StepTitles::of(work.host.driver().session()),
            rewinds: false,
            is_local: work.is_local,
            style,
            provider: work.provider.clone(),
            access: work.access.clone(),
            catalogue: work.catalogue.clone(),
            preset: work.preset,
            model: config.model.clone(),
            asks_about: config.approval.ask,
            header: header::of(work),
            noticed: String::new(),
            wants_another: false,
            state: if is_under_way { ConversationState::Working } else { ConversationState::Idle },
            turn: RunReport::new(&work.key, work.mode),
            all: RunReport::new(&work.key, work.mode),
            key: work.key.clone(),
            turns: Arc::default(),
            hurry: Arc::default(),
        }
    }

    /// Returns what is notified when a turn is over.
    pub(super) fn turns(&self) -> Arc<Notify> {
        Arc::clone(&self.turns)
    }

    /// Returns what is notified when the person does not want to wait for the end.
    pub(super) fn hurry(&self) -> Arc<Notify> {
        Arc::clone(&self.hurry)
    }

    pub(super) const fn mode(&self) -> ChangeMode {
        self.mode
    }

    /// Shows the header and begins to draw.
    pub(super) fn begin(&mut self) {
        self.screen.begin(size().unwrap_or_default());
        let header = self.header.clone();
        self.note(&header);
        self.note("/help tells what can be said besides; Ctrl-D leaves");
        mem::take(&mut self.known.warnings).iter().for_each(|why| self.warn(why));
        self.draw();
    }

    /// Shows an event of the session.
    pub(super) fn show(&mut self, event: &Event, held: Option<&mut LockedSession>) {
        self.turn.add(event);
        self.all.add(event);
        self.steps.on_event(event);
        self.transcript.out().wait(true);
        self.transcript.show(event);
        self.transcript.out().wait(false);
        self.spinner.set(self.transcript.activity());
        if event.agent != AgentId::ROOT {
            return;
        }
        if let Some(line) = self.said_steps.on_event(&event.kind) {
            self.note(&line);
        }
        match &event.kind {
            EventKind::UserInput { parts, .. } => {
                self.is_read(parts);
                if let Some(held) = held {
                    // A session without a title works as well.
                    drop(held.entitle(&sessions::title(parts)));
                }
                if self.state != ConversationState::Leaving {
                    self.state = ConversationState::Working;
                }
            }
            EventKind::SteeringInjected { parts } => self.is_read(parts),
            EventKind::CompactionStarted { why: FoldReason::Asked, .. }
                if self.state != ConversationState::Leaving =>
            {
                self.state = ConversationState::Compacting;
            }
            EventKind::Compacted { why: FoldReason::Asked, .. }
            | EventKind::CompactionFailed { why: FoldReason::Asked, .. }
                if self.is_working() =>
            {
                self.state = ConversationState::Idle;
            }
            EventKind::ProcessingEnd { end, .. } => self.turn_is_over(*end),
            EventKind::Rewound { why: RewindReason::Undo, .. } => self.on_undone(),
            _ => {}
        }
        self.draw();
    }

    fn turn_is_over(&mut self, end: RunEnd) {
        self.spinner.set(None);
        if end == RunEnd::Interrupted {
            self.tell(TextStyle::YELLOW, "interrupted; what was done so far stays");
        } else if let Err(failure) = self.turn.run_result() {
            self.tell(TextStyle::RED, &failure.message);
        }
        if let Some(refused) = self.workspace.refused() {
            self.tell(TextStyle::RED, &review::told_refused(&refused));
        }
        if let Some(line) = self.transcript.turn_line() {
            self.note(&line);
        }
        self.turn = RunReport::new(&self.key, self.mode);
        for text in mem::take(&mut self.queued) {
            let shown = brief(&text, QUEUED);
            self.note(&format!("not read yet, and goes with what you say next: {shown}"));
            // Whole, since `is_read` looks for the text that the agent has read.
            self.queued.push_back(text);
        }
        if self.state != ConversationState::Leaving {
            self.state = ConversationState::Idle;
            self.turns.notify_one();
        }
    }

    /// Shows an error.
    pub(super) fn complain(&mut self, why: &str) {
        // The undo of a rewind was refused: a later one is another matter.
        self.rewinds = false;
        self.tell(TextStyle::RED, why);
        self.draw();
    }

    /// Shows a warning, after the answer if a question is open.
    pub(super) fn warn(&mut self, line: &str) {
        self.transcript.out().wait(true);
        self.tell(TextStyle::YELLOW, line);
        self.transcript.out().wait(false);
    }

    /// Lets time pass: for keys that may be answers, for the session's answer, and the spinner.
    pub(super) fn tick(&mut self) {
        self.answer_by_key();
        self.show_answers();
        self.spinner.tick();
        self.draw();
    }

    /// Handles a key or another event of the terminal.
    pub(super) fn read(&mut self, key: Key) {
        if self.stop.takes(&key) {
            return;
        }
        let workspace = self.workspace.clone();
        let files = move |part: &str| completion::files(&workspace, part);
        let (models, efforts) = (self.known_models(), self.known_efforts());
        let words = |command: &str| match command {
            "/model" => models.clone(),
            "/effort" => efforts.clone(),
            command => commands::words(command),
        };
        let names = self.known.names();
        let candidates = CompletionSource::new(&names, &files, &words);
        let word = self.composer.read(key, &candidates);
        if self.state == ConversationState::Warned && word != Some(ComposerAction::Interrupt) {
            self.state = ConversationState::Idle;
        }
        match word {
            None => {}
            Some(ComposerAction::Said(text)) => self.said(&text),
            Some(ComposerAction::Key(key)) => self.key_pressed = Some((key, Instant::now())),
            Some(ComposerAction::Escape) => self.interrupt(),
            Some(ComposerAction::Interrupt) => self.interrupt_or_leave(),
            Some(ComposerAction::Suspend) => self.suspend(),
            Some(ComposerAction::Leave) => self.leave(),
            Some(ComposerAction::Redraw) => self.screen.redraw(),
            Some(ComposerAction::Resized(columns, rows)) => self.screen.resize((columns, rows)),
        }
        self.draw();
    }

    /// Leaves, since the terminal is gone.
    pub(super) fn gone(&mut self) {
        self.slot.close();
        self.leave();
    }

    /// Answers the open question with the key that was pressed alone, if it takes keys.
    fn answer_by_key(&mut self) {
        let Some((key, at)) = self.key_pressed.filter(|(_, at)| at.elapsed() >= ALONE) else {
            return;
        };
        self.key_pressed = None;
        let Some((question, since)) = self.slot.question() else { return };
        let is_seen = at.saturating_duration_since(since) >= UNSEEN;
        let text = key.to_string();
        if is_seen && question.takes_key(key) && self.composer.text() == text {
            self.composer.clear();
            self.answer(&question, &text);
        }
    }

    fn answer(&mut self, question: &Question, text: &str) {
        self.tell(TextStyle::DIM, &format!("{}{}", question.prompt, text.trim()));
        self.slot.give(text);
    }

    /// Takes a finished text: as an answer, as a command, or as an input for the agent.
    fn said(&mut self, text: &str) {
        let asked = self.slot.question().map(|(question, _)| question);
        let is_confirmed = self.unanswering.take().is_some_and(|unsure| unsure == text);
        if let Some(question) = asked.as_ref().filter(|question| question.word(text).is_some()) {
            return self.answer(question, text);
        }
        let command = self.known.parse(text);
        if asked.as_ref().is_some_and(|asked| asked.may_mean(text) && !text.trim().is_empty())
            && command.is_none()
            && !is_confirmed
        {
            self.note("that is no answer to the question; Enter again sends it to the agent");
            self.composer.put_back(text);
            self.unanswering = Some(text.to_owned());
            return;
        }
        if let Some(question) = asked.filter(Question::is_open)
            && !matches!(command, Some(Ok(_)))
        {
            return self.answer(&question, text);
        }
        self.composer.remember(text);
        if let Some(command) = command {
            self.echo(text);
            return match command {
                Ok(command) => self.obey(command),
                Err(why) => self.tell(TextStyle::RED, &why),
            };
        }
        self.leave_undecided();
        let text = text.trim();
        if !text.is_empty() {
            self.say(text);
        }
    }

    /// Leaves the question about the agent's changes undecided: a new input while the agent is idle
    /// does that.
    fn leave_undecided(&self) {
        if !self.is_working() {
            self.slot.refuse();
        }
    }

    fn is_working(&self) -> bool {
        matches!(
            self.state,
            ConversationState::Working
                | ConversationState::Compacting
                | ConversationState::Interrupting
        )
    }

    /// Removes a text from the queue, since the agent has read it.
    fn is_read(&mut self, parts: &[Part]) {
        let Some(Part::Text { text, .. }) = parts.first() else { return };
        if let Some(at) = self.queued.iter().position(|queued| queued == text) {
            self.queued.remove(at);
        }
    }

    /// Shows a text that the person has said, and sends it to the agent.
    pub(super) fn say(&mut self, text: &str) {
        self.echo(text);
        self.send(text);
    }

    /// Sends a text to the agent: now, after its current calls, or when it is done.
    fn send(&mut self, text: &str) {
        let (text, waits) = match text.strip_suffix(LATER) {
            Some(text) => (text.trim(), true),
            None => (text, false),
        };
        let mentions = attach::mentions(text, &self.workspace, MentionScope::Anywhere);
        mentions.attached.iter().for_each(|line| self.note(line));
        mentions.missed.iter().for_each(|line| self.tell(TextStyle::YELLOW, line));
        let mut parts = vec![Part::text(text)];
        parts.extend(mem::take(&mut self.attached));
        parts.extend(mentions.parts);
        let is_working = self.is_working();
        // A summary has no calls after which the agent could read it.
        let waits = waits || self.state == ConversationState::Compacting;
        self.commands.send(match (is_working, waits) {
            (false, _) => Command::submit(parts),
            (true, false) => Command::Steer { parts },
            (true, true) => Command::follow_up(parts),
        });
        if is_working {
            self.queued.push_back(text.to_owned());
        }
        match (is_working, waits) {
            (false, _) => self.state = ConversationState::Working,
            (true, false) => self.note("(the agent reads it after its current calls)"),
            (true, true) => self.note("(the agent reads it when it is done)"),
        }
    }

    /// Stops the current activity; if there is none, puts a question off or clears the line.
    fn interrupt(&mut self) {
        match self.state {
            ConversationState::Working | ConversationState::Compacting => {
                self.state = ConversationState::Interrupting;
                self.spinner.set(Some(ActivityLabel::of("stopping")));
                self.commands.send(Command::Interrupt);
            }
            ConversationState::Interrupting => {}
            ConversationState::Idle | ConversationState::Warned | ConversationState::Leaving => {
                if self.composer.is_empty() {
                    self.slot.refuse();
                } else {
                    self.composer.cut();
                }
            }
        }
    }

    /// Does the same; if there is nothing to stop, tells how to leave, and leaves the next time.
    fn interrupt_or_leave(&mut self) {
        let has_nothing = self.composer.is_empty() && self.slot.question().is_none();
        match self.state {
            ConversationState::Idle if has_nothing => {
                self.state = ConversationState::Warned;
                self.note("Ctrl-C again, or Ctrl-D, leaves");
            }
            ConversationState::Warned | ConversationState::Interrupting => self.leave(),
            ConversationState::Leaving if has_nothing => self.hurry.notify_one(),
            ConversationState::Idle
            | ConversationState::Working
            | ConversationState::Compacting
            | ConversationState::Leaving => self.interrupt(),
        }
    }

    fn leave(&mut self) {
        if self.is_working() {
            self.commands.send(Command::Interrupt);
        }
        self.state = ConversationState::Leaving;
        self.slot.refuse();
        self.commands.send(Command::Close);
    }

    /// Suspends the program until the shell continues it.
    fn suspend(&self) {
        let hidden = self.screen.hide();
        let lent = self.stop.reader.lend();
        platform::stand_still();
        drop(lent);
        drop(hidden);
        // The terminal may have another size by now, and no event has told.
        self.screen.resize(size().unwrap_or_default());
    }

    /// Notes that the session is over.
    pub(super) fn over(&mut self) {
        self.state = ConversationState::Leaving;
        self.spinner.set(None);
        self.draw();
    }

    /// Sets the place where changes go after each turn from now on.
    pub(super) const fn set_mode(&mut self, mode: ChangeMode) {
        self.mode = mode;
    }

    /// Returns whether another session is to follow.
    pub(super) const fn wants_another(&self) -> bool {
        self.wants_another
    }

    /// Returns whether the conversation is over, or about to be.
    pub(super) fn is_leaving(&self) -> bool {
        self.state == ConversationState::Leaving
    }

    /// Returns what the review of a turn needs: the workspace, the mode, and the person.
    pub(super) fn unsettled(&self) -> (Workspace, ChangeMode, Option<PersonHandle>) {
        (self.workspace.clone(), self.mode, self.person.clone())
    }

    pub(super) const fn style(&self) -> OutputStyle {
        self.style
    }

    /// Shows the notices about changes, unless the same were shown last.
    pub(super) fn show_notices(&mut self, notices: String) {
        if self.noticed != notices {
            self.write(&notices);
            self.noticed = notices;
        }
    }

    /// Shows the pending changes.
    pub(super) fn show_diff(&mut self) {
        self.obey(SlashCommand::Diff);
    }

    /// Returns the error of the last turn, if the session has ended by itself.
    pub(super) fn failure(&self) -> Option<CliError> {
        self.turn.run_result().err().filter(|_| self.turn.has_begun())
    }
}

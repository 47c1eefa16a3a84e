//! The execution of a conversation's commands. Those that change the session send it a command and
//! take effect from the next call of the model on; those about files work on the overlay here.

use super::{
    super::{
        changes,
        commands::{SlashCommand, help},
    },
    ConversationUi,
};
use crate::{
    args::{ApprovalLevel, ModelArgs},
    arguments::nearest,
    attach, header, model_change,
    review::ChangeMode,
    setup,
    style::{TextStyle, brief},
};
use innerloop_core::{
    input::Command,
    json::{JsonObject, from_str},
    message::Part,
};
use innerloop_driver::{
    EndpointTable, FileUndo, UndoneFile,
    providers::{self, Provider},
};
use serde_json::{Value, json};
use std::{env, io, mem};

/// The levels of effort for models that the catalogue does not know.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The most names that are proposed in place of an unknown one, and the most characters of that.
const NEAR: usize = 6;
const NAME: usize = 80;

/// The notice where steps are undone of whose changes to files nothing is known.
const EARLIER: &str = "what steps of before this conversation was resumed have changed in files \
                       stays as it is: /diff shows what is not applied";

/// The notice where commands run on the machine itself.
const UNWATCHED: &str =
    "what commands of this machine have changed is not known, and stays as it is";

/// The text that the agent reads if its changes were given up.
const GIVEN_UP: &str = "The user has given up those changes to files that were not applied yet: \
                        the files are again what stands in the folder. Read them again before \
                        you change them.";

impl ConversationUi {
    /// Carries out a command.
    pub(super) fn obey(&mut self, command: SlashCommand) {
        match command {
            SlashCommand::Help => {
                let help = help(&self.known, self.screen.width(), self.style);
                self.write(&help);
            }
            SlashCommand::Say(text) => self.say_for_command(&text),
            SlashCommand::Reply(word) => self.reply(word),
            SlashCommand::Stop if self.is_working() => self.interrupt(),
            SlashCommand::Stop => self.note("nothing goes on that could be stopped"),
            SlashCommand::Status => self.ask_status(),
            SlashCommand::Tools => self.ask_tools(),
            SlashCommand::Version => self.note(concat!("innerloop ", env!("CARGO_PKG_VERSION"))),
            SlashCommand::Model(None) => {
                let model = format!("{} ({})", self.model.name, self.provider.name);
                self.note(&model);
            }
            SlashCommand::Model(Some(name)) => self.go_on_with(&name),
            SlashCommand::Effort(None) => {
                let effort = self.model.reasoning_effort.as_deref();
                let told = format!("effort: {}", effort.unwrap_or("as the model has it"));
                self.note(&told);
            }
            SlashCommand::Effort(Some(level)) => self.think(level),
            SlashCommand::Approve(None) => self.note(header::asks(self.asks_about)),
            SlashCommand::Approve(Some(approve)) => self.ask_about(approve),
            SlashCommand::Diff => {
                let diff = changes::difference(&self.workspace, self.style);
                self.write(if diff.is_empty() { "nothing is changed\n" } else { &diff });
            }
            SlashCommand::Apply { over } => {
                // The command also settles an open question about the changes.
                self.slot.refuse();
                if over {
                    // What is in the folder now becomes the base, so that nothing conflicts.
                    self.workspace.rebase();
                }
                self.apply();
            }
            SlashCommand::AskToApply => self.ask_to_apply(),
            SlashCommand::Attach(file) => self.attach(&file),
            SlashCommand::Drop => self.drop_changes(),
            SlashCommand::Undo(steps) => self.commands.send(Command::Undo { steps }),
            SlashCommand::UndoFiles => self.undo_files(),
            SlashCommand::Redo(steps) => self.commands.send(Command::Redo { steps }),
            SlashCommand::Rewind(None) => self.list_steps(),
            SlashCommand::Rewind(Some(steps)) => self.rewind(steps),
            SlashCommand::Clear => self.commands.send(Command::Clear),
            SlashCommand::Compact(_) if self.is_working() => {
                self.note("the agent is at work: Esc stops it, then /compact");
            }
            SlashCommand::Compact(instructions) => {
                self.commands.send(Command::Compact { instructions });
            }
            SlashCommand::Context => self.ask_context(),
            SlashCommand::Cost => {
                let spent = self.all.spent();
                self.note(&spent);
            }
            SlashCommand::New => {
                self.wants_another = true;
                self.leave();
            }
            SlashCommand::Quit => self.leave(),
        }
    }

    /// Sends the text of a custom command.
    fn say_for_command(&mut self, text: &str) {
        if text.trim().is_empty() {
            return self.note("there is nothing to send: the command is empty without arguments");
        }
        self.leave_undecided();
        self.send(text);
    }

    /// Has other calls need a yes from the next one on.
    fn ask_about(&mut self, approve: ApprovalLevel) {
        self.asks_about = approve.asks();
        // A new level is a new decision: what "always" has allowed is asked about again.
        self.judge.forget();
        self.configure(&json!({"approval": {"ask": approve.asked()}}));
        self.note(&format!("from the next call on: {}", header::asks(self.asks_about)));
    }

    /// Answers the open question with a word, if that is one of its answers.
    fn reply(&mut self, word: &'static str) {
        let question = self.slot.question().map(|(question, _)| question);
        match question.filter(|question| question.word(word).is_some()) {
            Some(question) => self.answer(&question, word),
            None => self.note("nothing waits for a yes or a no"),
        }
    }

    /// Has a model of another provider answer from the next call on, with that provider's key.
    fn go_on_at(&mut self, provider: Provider, name: &str) {
        let access = setup::endpoint_of(&provider, &self.access.of(&provider));
        let access = match access {
            Ok(access) => access,
            Err(error) => return self.tell(TextStyle::RED, &error.message),
        };
        let endpoints = EndpointTable::default().with(provider.endpoint(), access.endpoint);
        self.key.change(&provider, access.found);
        let renewal = self.key.renewal(&provider, &self.access.of(&provider));
        self.commands.reach(endpoints, Some(renewal));
        let patch = model_change::elsewhere(name, &provider, &self.catalogue, &self.model);
        let family = patch.get("profile").and_then(Value::as_str).unwrap_or_default();
        self.judge.goes_on_with(family);
        self.configure(&json!({"model": patch}));
        name.clone_into(&mut self.model.name);
        self.model.options.clear();
        self.note(&format!("from the next call on: {name} ({})", provider.name));
        let ModelArgs { fallbacks, cheap_model, .. } = self.access.clone();
        self.access = ModelArgs { fallbacks, cheap_model, ..self.access.of(&provider) };
        self.provider = provider;
    }

    /// Returns the options of the model that answers now.
    pub(in super::super) fn model_args(&self) -> ModelArgs {
        let (provider, model) = (self.provider.name.clone(), self.model.name.clone());
        ModelArgs { provider: Some(provider), model: Some(model), ..self.access.clone() }
    }

    /// Asks again after each turn whether to apply its changes.
    fn ask_to_apply(&mut self) {
        if self.asks_to_apply {
            self.mode = ChangeMode::Ask;
            self.note("you are asked after each turn whether to apply its changes");
        } else {
            self.note("this session began without asking whether to apply changes");
        }
    }

    /// Has another model answer from the next call on.
    fn go_on_with(&mut self, name: &str) {
        // Gateways have slashes in the names of their models: what is no provider's name is a part
        // of the model's.
        if let Some((provider, model)) = name.split_once('/')
            && let Ok(provider) = providers::find(provider)
            && provider != self.provider
            && !model.is_empty()
        {
            return self.go_on_at(provider, model);
        }
        let is_known = self.catalogue.has(&self.provider.name, name);
        let known = if is_known { Vec::new() } else { self.known_models() };
        if let Some(why) = self.doubt(name, &known, "model") {
            return self.tell(TextStyle::YELLOW, &why);
        }
        let changed = model_change::to(name, &self.provider, &self.catalogue, &self.model);
        name.clone_into(&mut self.model.name);
        let family = changed.get("profile").and_then(Value::as_str).unwrap_or_default();
        self.judge.goes_on_with(family);
        self.configure(&json!({"model": changed}));
        self.note(&format!("from the next call on: {name}"));
    }

    /// Sets the model's effort from the next call on.
    fn think(&mut self, level: String) {
        if let Some(why) = self.doubt(&level, &self.known_efforts(), "effort") {
            return self.tell(TextStyle::YELLOW, &why);
        }
        self.configure(&json!({"model": {"reasoning_effort": &level}}));
        self.note(&format!("from the next call on: effort {level}"));
        self.model.reasoning_effort = Some(level);
    }

    /// Returns why an unknown name is not taken; given a second time, it is. Catalogues are never
    /// complete, and a misspelt name would only fail at the next call.
    fn doubt(&mut self, name: &str, known: &[String], what: &str) -> Option<String> {
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        if names.is_empty() || names.contains(&name) || self.doubted.take().as_deref() == Some(name)
        {
            return None;
        }
        self.doubted = Some(name.to_owned());
        let mut near = nearest(name, &names).map_or_else(Vec::new, |nearest| vec![nearest]);
        near.extend(
            names
                .iter()
                .filter(|other| !near.contains(other))
                .take(NEAR)
                .copied()
                .collect::<Vec<_>>(),
        );
        near.truncate(NEAR);
        Some(format!(
            "{} knows no {what} {}; there are {}{}. Said once more, it is taken all the same",
            self.provider.name,
            brief(name, NAME),
            near.join(", "),
            if names.len() > near.len() { " and others" } else { "" },
        ))
    }

    /// Returns the names of the provider's models; none if it serves any model, or those of other
    /// providers under its own names.
    pub(super) fn known_models(&self) -> Vec<String> {
        // A default of the form `vendor/model` is that of a gateway, which serves others' models.
        let is_plain = self.provider.default_model.as_ref().is_some_and(|name| !name.contains('/'));
        if is_plain { self.catalogue.names(&self.provider.name) } else { Vec::new() }
    }

    /// Returns the levels of effort that the model knows.
    pub(super) fn known_efforts(&self) -> Vec<String> {
        let known = self.catalogue.find(&self.provider.name, &self.model.name);
        let mut efforts = known.map(|known| known.efforts).unwrap_or_default();
        if efforts.is_empty() {
            efforts = EFFORTS.map(str::to_owned).to_vec();
        }
        efforts
    }

    /// Attaches a file to the next input.
    fn attach(&mut self, file: &str) {
        let file = file.trim_matches('"');
        let path = match file.strip_prefix("~/") {
            Some(rest) => env::var("HOME").map(|home| format!("{home}/{rest}")).ok(),
            None => None,
        };
        match attach::part(path.as_deref().unwrap_or(file)) {
            Ok(part) => {
                self.attached.push(part);
                self.note(&format!("goes with what you say next: {}", brief(file, NAME)));
            }
            Err(why) => self.tell(TextStyle::RED, &format!("{}: {why}", brief(file, NAME))),
        }
    }

    fn configure(&mut self, patch: &Value) {
        if let Ok(patch) = from_str::<JsonObject>(&patch.to_string()) {
            self.commands.send(Command::Configure { patch });
        }
    }

    /// Undoes the changes of undone steps to files if the person goes back to before an input, or
    /// else tells how to.
    pub(super) fn on_undone(&mut self) {
        if mem::take(&mut self.rewinds) { self.undo_files() } else { self.offer_files() }
    }

    fn offer_files(&mut self) {
        let undone =
            self.steps.undone(&self.firewall, &mut |path| self.workspace.read(path, u64::MAX));
        if !undone.is_empty() {
            let files = changes::files(undone.len());
            self.note(&format!("{files} of undone steps; /undo files takes them back"));
        }
    }

    /// Lists what the person has said, newest first, with the numbers to rewind by.
    fn list_steps(&mut self) {
        let listed = |(number, said)| format!("{number}  {said}");
        let lines: Vec<String> = self.said_steps.newest_first().map(listed).collect();
        if lines.is_empty() {
            return self.note("nothing was said yet that could be taken back");
        }
        lines.iter().for_each(|line| self.note(line));
        self.note("/rewind N goes back to before one of these, with the files");
    }

    /// Goes back to before that many steps, with their changes to files.
    fn rewind(&mut self, steps: u32) {
        if self.is_working() {
            return self.note("the agent is at work: Esc stops it, then /rewind");
        }
        // The files follow when the session has gone back: only then is it known which steps are
        // undone.
        self.rewinds = true;
        self.commands.send(Command::Undo { steps });
    }

    /// Undoes the changes of undone steps to files, and says which files stay and why.
    fn undo_files(&mut self) {
        if self.is_working() {
            return self.note("the agent is at work: Esc stops it, then /undo files");
        }
        let undone =
            self.steps.undone(&self.firewall, &mut |path| self.workspace.read(path, u64::MAX));
        // Whatever happens to each file below, the same steps are not offered again.
        self.steps.settle();
        if self.said_steps.undoes_unheard() {
            self.tell(TextStyle::YELLOW, EARLIER);
        }
        if self.is_local {
            self.tell(TextStyle::YELLOW, UNWATCHED);
        }
        if undone.is_empty() {
            return self.note("no undone step has changed a file, as far as is known");
        }
        for UndoneFile { path, undo } in undone {
            let put = match &undo {
                FileUndo::Write(text) => self.workspace.put(&path, Some(text)),
                FileUndo::Remove => self.workspace.put(&path, None),
                FileUndo::Keep(why) => {
                    self.note(&format!("{path} stays as it is: {why}"));
                    continue;
                }
            };
            match put {
                Ok(()) => self.note(&format!("taken back: {path}")),
                Err(error) => {
                    let why = io::Error::from(error);
                    self.tell(TextStyle::RED, &format!("{path} stays as it is: {why}"));
                }
            }
        }
        if let Err(error) = self.workspace.save() {
            self.tell(TextStyle::RED, &format!("what was taken back is not saved: {error}"));
        }
        // The files that were undone are changes, too: they are reviewed as after a turn.
        self.turns.notify_one();
    }

    /// Drops the pending changes and tells the agent, which would take its files for granted
    /// otherwise.
    pub(in super::super) fn drop_changes(&mut self) {
        let count = changes::changed(&self.workspace);
        match count {
            _ if !self.workspace.is_overlay() => self.note("changes are in the folder already"),
            0 => self.note("nothing is changed"),
            _ if self.is_working() => self.note("the agent is at work: Esc stops it, then /drop"),
            _ => {
                self.slot.refuse();
                self.workspace.give_up();
                self.commands.send(Command::Steer { parts: vec![Part::text(GIVEN_UP)] });
                self.note(&format!("given up: {}", changes::files(count)));
            }
        }
    }
}

//! The composer: turns keys into a text that is being typed, with history and completion, and
//! finished texts and control keys into actions. What an action does is up to the `ConversationUi`.

use super::completion::{Completion, CompletionSource};
use crate::terminal::{History, LineBuffer, RowLayout, laid_out};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The mark before what is typed.
const MARK: &str = "> ";

/// An action that the person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ComposerAction {
    /// To send the finished text.
    Said(String),
    /// A key that may be an answer by itself, since the line was empty before.
    Key(char),
    /// To stop the current activity.
    Escape,
    /// To stop the current activity, or to clear the line, or to leave.
    Interrupt,
    /// To suspend the program until the shell's `fg`.
    Suspend,
    /// To leave.
    Leave,
    /// To redraw the screen.
    Redraw,
    /// The terminal has this many columns and rows now.
    Resized(u16, u16),
}

/// A text that is being typed.
#[derive(Debug)]
pub(super) struct Composer {
    line: LineBuffer,
    history: History,
    completion: Option<Completion>,
}

impl Composer {
    pub(super) const fn new(history: History) -> Self {
        Self { line: LineBuffer::new(), history, completion: None }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Returns what is being typed.
    pub(super) fn text(&self) -> &str {
        self.line.text()
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        drop(self.line.take());
        self.completion = None;
    }

    /// Puts a finished text back into the line.
    pub(super) fn put_back(&mut self, text: &str) {
        self.line.set(text);
    }

    /// Cuts the whole line; Ctrl-Y inserts it again.
    pub(super) fn cut(&mut self) {
        self.line.cut_all();
        self.completion = None;
    }

    /// Adds a text to the history.
    pub(super) fn remember(&mut self, text: &str) {
        self.history.add(text);
    }

    /// Lays the text out in at most that many columns and rows.
    pub(super) fn layout(&self, width: usize, most: usize) -> RowLayout {
        laid_out(MARK, self.line.before(), self.line.behind(), width, most)
    }

    /// Returns the candidates of the current completion, for people.
    pub(super) fn hint(&self) -> Option<String> {
        self.completion.as_ref().and_then(Completion::hint)
    }

    /// Handles an event of the terminal; `candidates` is the source of completions.
    pub(super) fn read(
        &mut self,
        event: Event,
        candidates: &CompletionSource<'_>,
    ) -> Option<ComposerAction> {
        match event {
            // Windows reports the release of a key, too, which would type it twice.
            Event::Key(key) if key.kind != KeyEventKind::Release => self.read_key(key, candidates),
            Event::Paste(text) => {
                self.completion = None;
                // Terminals paste line ends as carriage returns. None of them sends the text.
                self.line.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
                None
            }
            Event::Resize(columns, rows) => Some(ComposerAction::Resized(columns, rows)),
            _ => None,
        }
    }

    fn read_key(
        &mut self,
        key: KeyEvent,
        candidates: &CompletionSource<'_>,
    ) -> Option<ComposerAction> {
        let held = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        if key.code == KeyCode::Tab {
            self.complete(candidates);
            return None;
        }
        // Escape ends a completion first; only the next one stops the agent.
        let was_completing = self.completion.take().is_some();
        if was_completing && key.code == KeyCode::Esc {
            return None;
        }
        match held {
            KeyModifiers::CONTROL => self.read_control(key.code),
            KeyModifiers::ALT => {
                self.read_alt(key.code);
                None
            }
            _ => self.read_plain(key.code, key.modifiers.contains(KeyModifiers::SHIFT)),
        }
    }

    fn read_plain(&mut self, code: KeyCode, is_shifted: bool) -> Option<ComposerAction> {
        match code {
            KeyCode::Enter if is_shifted => self.line.insert("\n"),
            KeyCode::Enter => return self.finish(),
            KeyCode::Char(c) if self.line.is_empty() => {
                self.line.insert(&c.to_string());
                return Some(ComposerAction::Key(c));
            }
            KeyCode::Char(c) => self.line.insert(&c.to_string()),
            KeyCode::Backspace => self.line.backspace(),
            KeyCode::Delete => self.line.delete(),
            KeyCode::Left => self.line.left(),
            KeyCode::Right => self.line.right(),
            KeyCode::Home => self.line.home(),
            KeyCode::End => self.line.end(),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            KeyCode::Esc => return Some(ComposerAction::Escape),
            _ => {}
        }
        None
    }

    fn read_control(&mut self, code: KeyCode) -> Option<ComposerAction> {
        match code {
            KeyCode::Char('c') => return Some(ComposerAction::Interrupt),
            KeyCode::Char('d') if self.line.is_empty() => return Some(ComposerAction::Leave),
            KeyCode::Char('d') => self.line.delete(),
            KeyCode::Char('l') => return Some(ComposerAction::Redraw),
            KeyCode::Char('z') => return Some(ComposerAction::Suspend),
            KeyCode::Char('j') => self.line.insert("\n"),
            KeyCode::Char('a') => self.line.home(),
            KeyCode::Char('e') => self.line.end(),
            KeyCode::Char('b') => self.line.left(),
            KeyCode::Char('f') => self.line.right(),
            KeyCode::Char('p') => self.up(),
            KeyCode::Char('n') => self.down(),
            // Some terminals send Ctrl-H for Backspace.
            KeyCode::Char('h') => self.line.backspace(),
            KeyCode::Char('w') | KeyCode::Backspace => self.line.cut_word(),
            KeyCode::Char('u') => self.line.cut_to_start(),
            KeyCode::Char('k') => self.line.cut_to_end(),
            KeyCode::Char('y') => self.line.paste_cut(),
            KeyCode::Left => self.line.word_left(),
            KeyCode::Right => self.line.word_right(),
            _ => {}
        }
        None
    }

    fn read_alt(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.line.insert("\n"),
            KeyCode::Char('b') | KeyCode::Left => self.line.word_left(),
            KeyCode::Char('f') | KeyCode::Right => self.line.word_right(),
            KeyCode::Char('d') => self.line.cut_word_right(),
            KeyCode::Backspace => self.line.cut_word(),
            _ => {}
        }
    }

    /// Finishes the text, unless a backslash at its end asks for another line.
    fn finish(&mut self) -> Option<ComposerAction> {
        if self.line.before().ends_with('\\') && self.line.behind().is_empty() {
            self.line.replace_before(1, "\n");
            return None;
        }
        Some(ComposerAction::Said(self.line.take()))
    }

    fn up(&mut self) {
        if !self.line.up()
            && let Some(text) = self.history.back(self.line.text()).map(str::to_owned)
        {
            self.line.set(&text);
        }
    }

    fn down(&mut self) {
        if !self.line.down()
            && let Some(text) = self.history.forth().map(str::to_owned)
        {
            self.line.set(&text);
        }
    }

    /// Completes the word before the cursor, or moves on to the next candidate.
    fn complete(&mut self, candidates: &CompletionSource<'_>) {
        if let Some(completion) = &mut self.completion {
            let (length, text) = completion.next();
            return self.line.replace_before(length, &text);
        }
        if let Some((length, completion)) = candidates.complete(self.line.before()) {
            self.line.replace_before(length, completion.text());
            self.completion = Some(completion);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(composer: &mut Composer, code: KeyCode, held: KeyModifiers) -> Option<ComposerAction> {
        let files = |_: &str| vec!["src/main.rs".to_owned(), "src/map.rs".to_owned()];
        let words = |command: &str| match command {
            "/model" => vec!["claude-haiku-4-5".to_owned(), "claude-sonnet-5-5".to_owned()],
            _ => Vec::new(),
        };
        let candidates = CompletionSource::new(&["/model"], &files, &words);
        composer.read(Event::Key(KeyEvent::new(code, held)), &candidates)
    }

    fn type_in(composer: &mut Composer, text: &str) -> Option<ComposerAction> {
        let mut word = None;
        for c in text.chars() {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            word = press(composer, code, KeyModifiers::NONE);
        }
        word
    }

    #[test]
    fn a_finished_text_is_a_word() {
        let mut composer = Composer::new(History::default());
        assert_eq!(type_in(&mut composer, "h"), Some(ComposerAction::Key('h')));
        assert_eq!(type_in(&mut composer, "i\n"), Some(ComposerAction::Said("hi".into())));
        assert_eq!(type_in(&mut composer, "a\\\nb\n"), Some(ComposerAction::Said("a\nb".into())));
        composer.remember("a\nb");
        let _moved = press(&mut composer, KeyCode::Up, KeyModifiers::NONE);
        let _moved = press(&mut composer, KeyCode::Up, KeyModifiers::NONE);
        assert_eq!(
            type_in(&mut composer, "\n"),
            Some(ComposerAction::Said("a\nb".into())),
            "up in the text"
        );
        let pasted = Event::Paste("x\r\ny".into());
        let none = CompletionSource::new(&[], &|_| Vec::new(), &|_| Vec::new());
        assert_eq!(composer.read(pasted, &none), None);
        assert_eq!(type_in(&mut composer, "\n"), Some(ComposerAction::Said("x\ny".into())));
        let held = KeyModifiers::CONTROL;
        assert_eq!(press(&mut composer, KeyCode::Char('d'), held), Some(ComposerAction::Leave));
        assert_eq!(press(&mut composer, KeyCode::Char('c'), held), Some(ComposerAction::Interrupt));
        let _typed = type_in(&mut composer, "some text");
        composer.cut();
        assert!(composer.is_empty());
        assert_eq!(press(&mut composer, KeyCode::Char('y'), held), None);
        assert_eq!(composer.text(), "some text", "what was taken away comes back");
    }

    #[test]
    fn tab_completes_files_and_commands() {
        let mut composer = Composer::new(History::default());
        let tab = |composer: &mut Composer| {
            assert_eq!(press(composer, KeyCode::Tab, KeyModifiers::NONE), None);
            composer.line.text().to_owned()
        };
        let _typed = type_in(&mut composer, "/mo");
        assert_eq!(tab(&mut composer), "/model ");
        let _typed = type_in(&mut composer, "c");
        assert_eq!(tab(&mut composer), "/model claude-");
        assert_eq!(tab(&mut composer), "/model claude-haiku-4-5");
        assert_eq!(tab(&mut composer), "/model claude-sonnet-5-5");
        composer.clear();
        let _typed = type_in(&mut composer, "see @s");
        assert_eq!(tab(&mut composer), "see @src/ma");
        assert_eq!(composer.hint().as_deref(), Some("src/main.rs  src/map.rs"));
        assert_eq!(tab(&mut composer), "see @src/main.rs");
        assert_eq!(tab(&mut composer), "see @src/map.rs");
        assert_eq!(tab(&mut composer), "see @src/main.rs");
        let _typed = type_in(&mut composer, " and");
        assert_eq!(composer.hint(), None);
        composer.clear();
        let _typed = type_in(&mut composer, "@s");
        assert_eq!(tab(&mut composer), "@src/ma");
        assert_eq!(press(&mut composer, KeyCode::Esc, KeyModifiers::NONE), None, "it ends there");
        assert_eq!(
            press(&mut composer, KeyCode::Esc, KeyModifiers::NONE),
            Some(ComposerAction::Escape)
        );
    }
}

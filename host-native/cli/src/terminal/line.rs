//! The line editor's buffer: a text of several lines, a cursor, and the text that was cut last. The
//! cursor always stands between grapheme clusters, so that no key splits an emoji or an accented
//! letter. Which key does what is the composer's concern.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// A text and a place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineBuffer {
    text: String,
    /// In bytes; between two grapheme clusters.
    cursor: usize,
    /// The text that was cut last.
    cut: String,
}

impl LineBuffer {
    pub(crate) const fn new() -> Self {
        Self { text: String::new(), cursor: 0, cut: String::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// Returns the text after the cursor.
    pub(crate) fn behind(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Sets another text, with the cursor at its end.
    pub(crate) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = text.len();
    }

    /// Cuts the whole text.
    pub(crate) fn cut_all(&mut self) {
        if !self.text.is_empty() {
            self.cut = self.take();
        }
    }

    /// Takes the text and leaves the buffer empty.
    pub(crate) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    pub(crate) fn left(&mut self) {
        self.cursor = self.previous();
    }

    pub(crate) fn right(&mut self) {
        self.cursor = self.next();
    }

    /// Moves to the beginning of the word before the cursor.
    pub(crate) fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    /// Moves to the end of the word that the cursor is in or before.
    pub(crate) fn word_right(&mut self) {
        self.cursor = self.word_end();
    }

    /// Moves to the beginning of the line.
    pub(crate) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    /// Moves to the end of the line.
    pub(crate) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Moves to the line above; returns false if there is none.
    pub(crate) fn up(&mut self) -> bool {
        let start = self.line_start();
        let Some(end_above) = start.checked_sub(1) else { return false };
        let column = self.column();
        let start_above = self.text.get(..end_above).and_then(|it| it.rfind('\n'));
        self.go_to_column(start_above.map_or(0, |at| at + 1), end_above, column);
        true
    }

    /// Moves to the line below; returns false if there is none.
    pub(crate) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = self.column();
        let below = self.text.get(end + 1..).unwrap_or_default();
        let end_below = end + 1 + below.find('\n').unwrap_or(below.len());
        self.go_to_column(end + 1, end_below, column);
        true
    }

    /// Removes the character before the cursor.
    pub(crate) fn backspace(&mut self) {
        self.remove(self.previous(), self.cursor);
    }

    /// Removes the character after the cursor.
    pub(crate) fn delete(&mut self) {
        self.remove(self.cursor, self.next());
    }

    /// Cuts the word before the cursor.
    pub(crate) fn cut_word(&mut self) {
        self.cut_range(self.word_start(), self.cursor);
    }

    /// Cuts the word after the cursor.
    pub(crate) fn cut_word_right(&mut self) {
        self.cut_range(self.cursor, self.word_end());
    }

    /// Cuts the line up to the cursor.
    pub(crate) fn cut_to_start(&mut self) {
        self.cut_range(self.line_start(), self.cursor);
    }

    /// Cuts the line from the cursor on; at its end, joins it with the next one.
    pub(crate) fn cut_to_end(&mut self) {
        let end = self.line_end();
        let end = if end == self.cursor { self.next() } else { end };
        self.cut_range(self.cursor, end);
    }

    /// Inserts the text that was cut last.
    pub(crate) fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    /// Replaces the `length` bytes before the cursor with `text`.
    pub(crate) fn replace_before(&mut self, length: usize, text: &str) {
        self.remove(self.cursor.saturating_sub(length), self.cursor);
        self.insert(text);
    }

    fn remove(&mut self, from: usize, to: usize) {
        if from < to && self.text.get(from..to).is_some() {
            self.text.replace_range(from..to, "");
            self.cursor = from;
        }
    }

    fn cut_range(&mut self, from: usize, to: usize) {
        // Cutting nothing keeps what was cut before.
        if let Some(cut) = self.text.get(from..to).filter(|cut| !cut.is_empty()) {
            self.cut = cut.to_owned();
            self.remove(from, to);
        }
    }

    fn previous(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    fn next(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.cursor + self.behind().find('\n').unwrap_or(self.behind().len())
    }

    fn word_start(&self) -> usize {
        let words = self.before().split_word_bound_indices().rev();
        let mut words = words.skip_while(|(_, word)| word.trim().is_empty());
        words.next().map_or(0, |(at, _)| at)
    }

    fn word_end(&self) -> usize {
        let words = self.behind().split_word_bound_indices();
        let mut words = words.skip_while(|(_, word)| word.trim().is_empty());
        words.next().map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    /// Returns the number of characters of the line before the cursor.
    fn column(&self) -> usize {
        self.text.get(self.line_start()..self.cursor).unwrap_or_default().graphemes(true).count()
    }

    fn go_to_column(&mut self, start: usize, end: usize, column: usize) {
        let line = self.text.get(start..end).unwrap_or_default();
        let at = line.grapheme_indices(true).nth(column).map_or(line.len(), |(at, _)| at);
        self.cursor = start + at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text with `|` for the cursor.
    fn shown(line: &LineBuffer) -> String {
        format!("{}|{}", line.before(), line.behind())
    }

    fn line(text: &str) -> LineBuffer {
        let mut line = LineBuffer::default();
        let (before, behind) = text.split_once('|').unwrap();
        line.set(behind);
        line.cursor = 0;
        line.insert(before);
        line
    }

    #[test]
    fn keys_move_the_cursor_and_change_the_text() {
        type Case = (&'static str, fn(&mut LineBuffer), &'static str);
        let cases: [Case; 22] = [
            ("ab|", LineBuffer::left, "a|b"),
            ("|ab", LineBuffer::left, "|ab"),
            ("e\u{301}|x", LineBuffer::left, "|e\u{301}x"),
            ("👩\u{200d}👧|", LineBuffer::backspace, "|"),
            ("|日本", LineBuffer::delete, "|本"),
            ("one two| three", LineBuffer::word_left, "one |two three"),
            ("one two  | three", LineBuffer::word_left, "one |two   three"),
            ("one| two three", LineBuffer::word_right, "one two| three"),
            ("one two|", LineBuffer::word_right, "one two|"),
            ("one two|", LineBuffer::cut_word, "one |"),
            ("one |two", LineBuffer::cut_word_right, "one |"),
            ("a\nbc|d", LineBuffer::cut_to_start, "a\n|d"),
            ("a\nb|cd\ne", LineBuffer::cut_to_end, "a\nb|\ne"),
            ("a\nb|\ne", LineBuffer::cut_to_end, "a\nb|e"),
            ("ab\ncd|", LineBuffer::home, "ab\n|cd"),
            ("a|b\ncd", LineBuffer::end, "ab|\ncd"),
            ("abc\nd|", |line| assert!(line.up()), "a|bc\nd"),
            ("abc\nd\nef|", |line| assert!(line.up()), "abc\nd|\nef"),
            ("ab|c\nd", |line| assert!(line.down()), "abc\nd|"),
            ("ab|c", |line| assert!(!line.up() && !line.down()), "ab|c"),
            ("see @src/ma|", |line| line.replace_before(6, "src/main.rs"), "see @src/main.rs|"),
            ("|", |line| line.insert("ä\n"), "ä\n|"),
        ];
        for (before, key, after) in cases {
            let mut line = line(before);
            key(&mut line);
            assert_eq!(shown(&line), after, "from {before}");
        }
    }

    #[test]
    fn what_was_cut_can_be_put_elsewhere() {
        let mut line = line("one two|");
        line.cut_word();
        line.home();
        line.paste_cut();
        assert_eq!(shown(&line), "two|one ");
        assert_eq!((line.take(), shown(&line)), ("twoone ".to_owned(), "|".to_owned()));
    }
}

//! The layout of a page's text: words with the gaps between them, lines with their markers, cells
//! of tables. Gaps are written only when something follows, and no output grows much beyond its
//! limit.

/// The gap between the text so far and what comes next; of two the larger one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextGap {
    #[default]
    // The order is that of size: gaps are compared.
    None,
    Space,
    Cell,
    Line,
    Blank,
}

/// The text that is laid out so far.
#[derive(Debug)]
pub(super) struct TextLayout {
    out: String,
    limit: usize,
    gap: TextGap,
    /// The marker that the next line begins with.
    marker: String,
    /// The number of cells of the row so far, and whether the last of them is empty.
    cells: u32,
    is_cell_empty: bool,
}

impl TextLayout {
    pub(super) fn new(limit: usize) -> Self {
        let (out, marker) = (String::new(), String::new());
        Self { out, limit, gap: TextGap::None, marker, cells: 0, is_cell_empty: false }
    }

    /// Returns whether there is more text than fits.
    pub(super) const fn is_full(&self) -> bool {
        // More than the limit, so that a text that just fits does not count as cut.
        self.out.len() > self.limit
    }

    /// Returns the place where the text ends so far.
    pub(super) const fn end(&self) -> usize {
        self.out.len()
    }

    /// Returns the text since that place, without the white space around it.
    pub(super) fn since(&self, place: usize) -> &str {
        self.out.get(place..).unwrap_or_default().trim()
    }

    /// Adds words, with one space for any white space between them.
    pub(super) fn words(&mut self, text: &str) {
        for char in text.chars() {
            if char.is_whitespace() {
                self.space();
            } else if let Some(char) = readable(char) {
                self.fill_gap();
                self.out.push(char);
            }
            if self.is_full() {
                return;
            }
        }
    }

    /// Adds text whose white space counts.
    pub(super) fn verbatim(&mut self, text: &str) {
        for char in text.chars().filter_map(readable) {
            self.fill_gap();
            self.out.push(char);
            if self.is_full() {
                return;
            }
        }
    }

    /// Adds a piece right behind the text, without the gap that is due.
    pub(super) fn append(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Adds a piece behind the gap that is due.
    pub(super) fn piece(&mut self, text: &str) {
        self.fill_gap();
        self.out.push_str(text);
    }

    /// Adds the end of preformatted text, on a line of its own.
    pub(super) fn close_fence(&mut self) {
        // White space inside counts and was written already.
        self.gap = TextGap::None;
        self.piece(if self.out.ends_with('\n') { "```" } else { "\n```" });
        self.gap(TextGap::Blank);
    }

    fn space(&mut self) {
        self.gap = self.gap.max(TextGap::Space);
    }

    /// Makes the gap before what comes next at least this large. At the beginning of a cell or of a
    /// marked line there is no new line.
    pub(super) fn gap(&mut self, gap: TextGap) {
        if !self.is_cell_empty && self.marker.is_empty() {
            self.gap = self.gap.max(gap);
        }
    }

    /// Ends a line, even an empty one: a second break leaves a blank line.
    pub(super) fn break_line(&mut self) {
        let gap = if self.gap >= TextGap::Line { TextGap::Blank } else { TextGap::Line };
        self.gap(gap);
    }

    /// Begins a line with a marker.
    pub(super) fn begin_line(&mut self, gap: TextGap, marker: String) {
        self.gap(gap);
        self.marker = marker;
    }

    /// Ends a line, and drops its marker if it has nothing else.
    pub(super) fn end_line(&mut self, gap: TextGap) {
        self.marker.clear();
        self.gap(gap);
    }

    pub(super) fn begin_row(&mut self) {
        (self.cells, self.is_cell_empty) = (0, false);
        self.gap(TextGap::Line);
    }

    pub(super) fn end_row(&mut self) {
        self.begin_row();
    }

    pub(super) fn begin_cell(&mut self) {
        if self.cells > 0 {
            if self.is_cell_empty {
                // An empty cell keeps its place, so that the columns stay what they are.
                self.piece("");
            }
            self.gap = TextGap::Cell;
        }
        self.cells = self.cells.saturating_add(1);
        self.is_cell_empty = true;
    }

    /// Returns the text, and whether there was more.
    pub(super) fn finish(self) -> (String, bool) {
        let is_cut = self.is_full();
        (cut(self.out, self.limit), is_cut)
    }

    fn fill_gap(&mut self) {
        self.is_cell_empty = false;
        let gap = std::mem::take(&mut self.gap);
        if !self.out.is_empty() {
            self.out.push_str(match gap {
                TextGap::None => "",
                TextGap::Space => " ",
                TextGap::Cell => " | ",
                TextGap::Line => "\n",
                TextGap::Blank => "\n\n",
            });
        }
        self.out.push_str(&self.marker);
        self.marker.clear();
    }
}

/// Returns text that needs no layout, at most `limit` bytes of it, and whether there is more.
pub(super) fn plain(text: &str, limit: usize) -> (String, bool) {
    let text: String = text.replace("\r\n", "\n").chars().filter_map(readable).collect();
    let is_cut = text.len() > limit;
    (cut(text, limit), is_cut)
}

/// Returns the start of a text, without white space at its end.
fn cut(mut text: String, limit: usize) -> String {
    text.truncate(text.floor_char_boundary(limit));
    text.truncate(text.trim_end().len());
    text
}

/// Returns the character, unless it is one that nobody sees or that changes how others are shown.
pub(super) const fn readable(char: char) -> Option<char> {
    match char {
        '\n' | '\t' => Some(char),
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        // Soft hyphens, zero widths, directions, invisible tags: with these a page could tell the
        // model something that no person sees who checks it.
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => None,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => None,
        _ => Some(char),
    }
}

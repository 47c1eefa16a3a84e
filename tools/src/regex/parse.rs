//! The parser of expressions. Each piece becomes steps at once. Where they lead is relative to
//! their own places, so that a repetition can copy them.

use super::{
    assertions::RegexAssertion,
    class::CharClass,
    step::{RegexFlags, RegexInstruction},
};

/// The maximum nesting depth of groups: parsing is recursive.
const MAX_DEPTH: usize = 50;
/// The maximum number of steps of an expression: repetitions of repetitions multiply them.
const MAX_STEPS: usize = 1 << 16;

const TOO_LARGE: &str = "compiled regex exceeded size limit";
const UNCLOSED_GROUP: &str = "found open group without closing ')'";
const UNCLOSED_CLASS: &str = "found unclosed character class";
const NO_CHARACTER: &str = "character class ranges must start and end with a single character";

type ParseResult<T> = Result<T, &'static str>;

/// Returns the steps of an expression, and the classes that they name.
pub(super) fn program(
    pattern: &str,
    flags: RegexFlags,
) -> ParseResult<(Vec<RegexInstruction>, Vec<CharClass>)> {
    let mut parser = Parser { rest: pattern, flags, depth: 0, classes: vec![], names: vec![] };
    let mut steps = parser.alternation()?;
    if !parser.rest.is_empty() {
        return Err("found closing ')' without matching '('");
    }
    steps.push(RegexInstruction::Match);
    Ok((steps, parser.classes))
}

struct Parser<'p> {
    rest: &'p str,
    flags: RegexFlags,
    depth: usize,
    classes: Vec<CharClass>,
    /// The names of groups.
    names: Vec<&'p str>,
}

/// The meaning of an escape.
enum EscapeSequence {
    Char(char),
    Class(CharClass),
    Look(RegexAssertion),
}

impl<'p> Parser<'p> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    fn eat(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Takes the text up to `end`, and `end` itself.
    fn until(&mut self, end: char) -> Option<&'p str> {
        let (text, behind) = self.rest.split_once(end)?;
        self.rest = behind;
        Some(text)
    }

    fn skip_space(&mut self) {
        while self.flags.is_spaced {
            self.rest = self.rest.trim_start();
            if !self.eat("#") {
                return;
            }
            if self.until('\n').is_none() {
                self.rest = "";
            }
        }
    }

    /// Parses up to the end or to the parenthesis that closes the group.
    fn alternation(&mut self) -> ParseResult<Vec<RegexInstruction>> {
        if self.depth > MAX_DEPTH {
            return Err("pattern has too much nesting");
        }
        self.depth += 1;
        let mut branches = vec![self.sequence()?];
        let mut length = branches.iter().map(Vec::len).sum::<usize>();
        while self.eat("|") {
            let branch = self.sequence()?;
            length += branch.len() + 2;
            branches.push(branch);
            if length > MAX_STEPS {
                return Err(TOO_LARGE);
            }
        }
        self.depth -= 1;
        let last = branches.pop().unwrap_or_default();
        let mut steps = Vec::with_capacity(length);
        for branch in branches {
            steps.push(RegexInstruction::Split(1, branch.len().cast_signed() + 2));
            steps.extend(branch);
            steps.push(RegexInstruction::Jump((length - steps.len()).cast_signed()));
        }
        steps.extend(last);
        Ok(steps)
    }

    fn sequence(&mut self) -> ParseResult<Vec<RegexInstruction>> {
        let mut steps = Vec::new();
        // The beginning of the piece that a repetition repeats.
        let mut last = None;
        loop {
            self.skip_space();
            let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) else {
                return Ok(steps);
            };
            self.next();
            let start = steps.len();
            match c {
                '?' => self.repeat(&mut steps, last, 0, Some(1))?,
                '*' => self.repeat(&mut steps, last, 0, None)?,
                '+' => self.repeat(&mut steps, last, 1, None)?,
                '{' => {
                    let (least, most) = self.counts()?;
                    self.repeat(&mut steps, last, least, most)?;
                }
                '(' => {
                    // Flags are not a piece: `a(?i)*` repeats the `a`.
                    let Some(group) = self.group()? else { continue };
                    steps.extend(group);
                    last = Some(start);
                }
                c => {
                    let step = self.single(c)?;
                    steps.push(step);
                    last = Some(start);
                }
            }
            if steps.len() > MAX_STEPS {
                return Err(TOO_LARGE);
            }
        }
    }

    /// Parses what is neither a group nor a repetition and begins with `c`.
    fn single(&mut self, c: char) -> ParseResult<RegexInstruction> {
        let RegexFlags { multi_line, dot_matches_all, is_crlf, .. } = self.flags;
        let look = match (c, multi_line, is_crlf) {
            ('^', false, _) => RegexAssertion::Start,
            ('^', true, false) => RegexAssertion::LineStart,
            ('^', true, true) => RegexAssertion::CrlfStart,
            ('$', false, _) => RegexAssertion::End,
            ('$', true, false) => RegexAssertion::LineEnd,
            ('$', true, true) => RegexAssertion::CrlfEnd,
            ('\\', ..) => match self.escape()? {
                EscapeSequence::Char(c) => return Ok(self.char(c)),
                EscapeSequence::Class(class) => return Ok(self.class(class)),
                EscapeSequence::Look(look) => look,
            },
            ('.', ..) => {
                let mut ends = CharClass::default();
                if !dot_matches_all {
                    ends.add(&CharClass::range('\n', '\n'));
                    if is_crlf {
                        ends.add(&CharClass::range('\r', '\r'));
                    }
                }
                return Ok(self.class(ends.negated()));
            }
            ('[', ..) => {
                let class = self.brackets()?;
                return Ok(self.class(class));
            }
            (c, ..) => return Ok(self.char(c)),
        };
        Ok(RegexInstruction::Look(look))
    }

    fn char(&mut self, c: char) -> RegexInstruction {
        if !(self.flags.ignore_case && c.is_ascii_alphabetic()) {
            return RegexInstruction::Char(c);
        }
        let mut class = CharClass::range(c, c);
        class.fold_case();
        self.class(class)
    }

    fn class(&mut self, class: CharClass) -> RegexInstruction {
        self.classes.push(class);
        RegexInstruction::Class(self.classes.len() - 1)
    }

    /// Repeats the steps from `start` on.
    fn repeat(
        &mut self,
        steps: &mut Vec<RegexInstruction>,
        start: Option<usize>,
        least: usize,
        most: Option<usize>,
    ) -> ParseResult<()> {
        let start = start.ok_or("repetition operator must be applied to a sub-expression")?;
        let is_lazy = self.eat("?") != self.flags.is_lazy;
        let piece = steps.split_off(start);
        let copies = most.unwrap_or(least + 1);
        // Before anything is copied: three nested counts of 1,000 would fill the memory.
        if (piece.len() + 1).saturating_mul(copies) > MAX_STEPS {
            return Err(TOO_LARGE);
        }
        let split = |within, behind| match is_lazy {
            true => RegexInstruction::Split(behind, within),
            false => RegexInstruction::Split(within, behind),
        };
        for _ in 0..least {
            steps.extend(&piece);
        }
        let length = piece.len().cast_signed();
        let Some(most) = most else {
            // `a*` is `(a+)?`, so that the loop is the same as for `a+`.
            if least == 0 {
                steps.push(split(1, length + 2));
                steps.extend(&piece);
            }
            steps.push(split(-length, 1));
            return Ok(());
        };
        // Each optional copy leads behind all that follow it, as in `(a(a)?)?`.
        for left in (1..=(most - least).cast_signed()).rev() {
            steps.push(split(1, left * (length + 1)));
            steps.extend(&piece);
        }
        Ok(())
    }

    /// Parses the numbers between braces.
    fn counts(&mut self) -> ParseResult<(usize, Option<usize>)> {
        let text = self.until('}').ok_or("found unclosed counted repetition operator")?;
        let (least, most) = text.split_once(',').unwrap_or((text, text));
        let (least, most) = (least.trim(), most.trim());
        let least_count = count(least)?;
        let most = if most.is_empty() { None } else { Some(count(most)?) };
        match most {
            Some(most) if most < least_count => {
                Err("found counted repetition with a min bigger than its max")
            }
            most => Ok((least_count, most)),
        }
    }

    /// Parses a group up to its closing parenthesis; `None` for flags, which hold from here on.
    fn group(&mut self) -> ParseResult<Option<Vec<RegexInstruction>>> {
        self.skip_space();
        if ["?=", "?!", "?<=", "?<!"].iter().any(|look| self.rest.starts_with(look)) {
            return Err("look-around is not supported");
        }
        // Flags that are set within a group end with it.
        let outside = self.flags;
        if self.eat("?P<") || self.eat("?<") {
            self.name()?;
        } else if self.eat("?") && self.read_flags()? {
            return Ok(None);
        }
        let steps = self.alternation()?;
        self.flags = outside;
        if self.eat(")") { Ok(Some(steps)) } else { Err(UNCLOSED_GROUP) }
    }

    fn name(&mut self) -> ParseResult<()> {
        let name = self.until('>').ok_or(UNCLOSED_GROUP)?;
        let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let goes_on = |c| begins(c) || matches!(c, '0'..='9' | '.' | '[' | ']');
        if !name.starts_with(begins) || !name.chars().all(goes_on) {
            return Err("invalid group name");
        }
        if self.names.contains(&name) {
            return Err("duplicate capture group name");
        }
        self.names.push(name);
        Ok(())
    }

    /// Parses flags, and returns whether the parenthesis closes behind them.
    fn read_flags(&mut self) -> ParseResult<bool> {
        let (mut is_on, mut seen) = (true, String::new());
        loop {
            let flag = self.next().ok_or(UNCLOSED_GROUP)?;
            if seen.contains(flag) {
                return Err("duplicate inline flag is not allowed");
            }
            match flag {
                'i' => self.flags.ignore_case = is_on,
                'm' => self.flags.multi_line = is_on,
                's' => self.flags.dot_matches_all = is_on,
                'U' => self.flags.is_lazy = is_on,
                'R' => self.flags.is_crlf = is_on,
                'x' => self.flags.is_spaced = is_on,
                // Nothing to set: without it `regex` takes the classes of ASCII, which there are
                // here anyway.
                'u' => {}
                '-' => is_on = false,
                ':' | ')' if seen.ends_with('-') => {
                    return Err("inline flags cannot end with negation directive");
                }
                ':' => return Ok(false),
                ')' if seen.is_empty() => {
                    return Err("empty flag directive '(?)' is not allowed");
                }
                ')' => return Ok(true),
                _ => return Err("unrecognized inline flag"),
            }
            seen.push(flag);
        }
    }

    /// Parses a class behind its opening bracket.
    fn brackets(&mut self) -> ParseResult<CharClass> {
        let mut class = CharClass::default();
        self.skip_space();
        let is_negated = self.eat("^");
        self.skip_space();
        // A dash or a closing bracket at the beginning stands for itself.
        while self.eat("-") {
            class.add(&CharClass::range('-', '-'));
            self.skip_space();
        }
        if class.is_empty() && self.eat("]") {
            class.add(&CharClass::range(']', ']'));
        }
        loop {
            self.skip_space();
            if self.eat("]") {
                break;
            }
            if self.rest.starts_with('[') {
                class.add(&self.posix()?);
            } else if ["&&", "--", "~~"].iter().any(|both| self.rest.starts_with(both)) {
                return Err("operators of character classes are not supported");
            } else {
                self.class_range(&mut class)?;
            }
        }
        // Before the negation: `[^a]` excludes both cases.
        if self.flags.ignore_case {
            class.fold_case();
        }
        Ok(if is_negated { class.negated() } else { class })
    }

    /// Parses a character of a class, a range of them, or an escape that is a class.
    fn class_range(&mut self, class: &mut CharClass) -> ParseResult<()> {
        let first = match self.class_item()? {
            EscapeSequence::Char(c) => c,
            EscapeSequence::Class(named) => {
                class.add(&named);
                self.skip_space();
                return if self.begins_range() { Err(NO_CHARACTER) } else { Ok(()) };
            }
            EscapeSequence::Look(_) => return Err("invalid escape sequence in character class"),
        };
        self.skip_space();
        let mut last = first;
        if self.begins_range() {
            self.next();
            self.skip_space();
            let EscapeSequence::Char(c) = self.class_item()? else { return Err(NO_CHARACTER) };
            last = c;
        }
        if first > last {
            return Err("invalid range in character class");
        }
        class.add(&CharClass::range(first, last));
        Ok(())
    }

    /// Returns whether a dash follows that is neither the last character of the class nor an
    /// operator.
    fn begins_range(&mut self) -> bool {
        let here = self.rest;
        let is_dash = self.eat("-");
        self.skip_space();
        let is_range = is_dash && !matches!(self.peek(), Some(']' | '-'));
        self.rest = here;
        is_range
    }

    fn class_item(&mut self) -> ParseResult<EscapeSequence> {
        match self.next().ok_or(UNCLOSED_CLASS)? {
            '\\' => self.escape(),
            c => Ok(EscapeSequence::Char(c)),
        }
    }

    /// Parses a class such as `[:alpha:]`.
    fn posix(&mut self) -> ParseResult<CharClass> {
        const NESTED: &str = "nested character classes are not supported";
        if !self.eat("[:") {
            return Err(NESTED);
        }
        let is_negated = self.eat("^");
        let class = self.until(':').and_then(CharClass::named).filter(|_| self.eat("]"));
        let class = class.ok_or(NESTED)?;
        Ok(if is_negated { class.negated() } else { class })
    }

    /// Parses what follows a backslash.
    fn escape(&mut self) -> ParseResult<EscapeSequence> {
        let c = self.next().ok_or("the pattern ends with a backslash")?;
        if let Some(class) = CharClass::perl(c) {
            return Ok(EscapeSequence::Class(class));
        }
        Ok(EscapeSequence::Look(match c {
            'A' => RegexAssertion::Start,
            'z' => RegexAssertion::End,
            'b' => self.word_border()?,
            'B' => RegexAssertion::NoWordBorder,
            '<' => RegexAssertion::WordStart,
            '>' => RegexAssertion::WordEnd,
            c => return self.escaped_char(c).map(EscapeSequence::Char),
        }))
    }

    fn escaped_char(&mut self, c: char) -> ParseResult<char> {
        match c {
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            'x' => self.hexadecimal(2),
            'u' => self.hexadecimal(4),
            'U' => self.hexadecimal(8),
            '0'..='9' => Err("backreferences are not supported"),
            'p' | 'P' => Err("Unicode character classes are not supported"),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(c),
            _ => Err("unrecognized escape sequence"),
        }
    }

    /// Parses the number of a character: so many digits, or any between braces.
    fn hexadecimal(&mut self, digits: usize) -> ParseResult<char> {
        const INVALID: &str = "got invalid hexadecimal number";
        let text = if self.eat("{") {
            self.until('}')
        } else {
            let text = self.rest.split_at_checked(digits);
            text.map(|(digits, behind)| {
                self.rest = behind;
                digits
            })
        };
        let text = text.filter(|text| text.chars().all(|c| c.is_ascii_hexdigit()));
        let number = text.and_then(|text| u32::from_str_radix(text, 16).ok());
        number.and_then(char::from_u32).ok_or(INVALID)
    }

    /// Parses what follows `\b`: the kind of border between braces, if there is any.
    fn word_border(&mut self) -> ParseResult<RegexAssertion> {
        let here = self.rest;
        // `\b{2}` is a repetition, so letters must follow the brace.
        let is_kind = self.eat("{") && self.peek().is_some_and(|c| c.is_ascii_alphabetic());
        if !is_kind {
            self.rest = here;
            return Ok(RegexAssertion::WordBorder);
        }
        match self.until('}') {
            Some("start") => Ok(RegexAssertion::WordStart),
            Some("end") => Ok(RegexAssertion::WordEnd),
            Some("start-half") => Ok(RegexAssertion::WordStartHalf),
            Some("end-half") => Ok(RegexAssertion::WordEndHalf),
            _ => Err("special word boundary assertion is unrecognized"),
        }
    }
}

fn count(digits: &str) -> ParseResult<usize> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("got invalid decimal number");
    }
    digits.parse().map_err(|_| "expected decimal number, but found no digits")
}

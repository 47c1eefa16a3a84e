//! The translation of regular expressions for the fast engine, so that they mean what they mean to
//! the tools' small matcher: classes, word boundaries and the case of letters are those of ASCII,
//! while `.` is any character. An expression that has no equal is not translated.

use regex_syntax::{
    ast::{
        self, AssertionKind, Ast, ClassAsciiKind, ClassPerlKind, ClassSet, ClassSetItem, Flag,
        FlagsItemKind, RepetitionKind, RepetitionRange,
    },
    hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition},
};

/// The text that an expression is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchSubject {
    /// One text by itself.
    Text,
    /// Many lines of a text at once; a match stays within one. A line may end with a carriage
    /// return before its line feed.
    Lines,
}

/// The settings that hold where an expression begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TranslationFlags {
    pub(super) ignore_case: bool,
    /// True if `^` and `$` match at the ends of lines, and not of the text.
    pub(super) line_borders: bool,
    /// True if `.` matches a line feed.
    pub(super) any_is_all: bool,
}

/// An expression for the fast engine.
#[derive(Debug)]
pub(super) struct TranslatedExpression {
    pub(super) hir: Hir,
    /// True if it can match U+FFFD, which stands for bytes that are not UTF-8.
    pub(super) matches_replaced: bool,
}

/// Translates an expression that the small matcher accepts.
pub(super) fn translate(
    pattern: &str,
    flags: TranslationFlags,
    subject: MatchSubject,
) -> Option<TranslatedExpression> {
    let ast = ast::parse::Parser::new().parse(pattern).ok()?;
    let mut scope =
        TranslationScope { flags, swaps_greed: false, subject, matches_replaced: false };
    let hir = scope.translate(&ast)?;
    Some(TranslatedExpression { hir, matches_replaced: scope.matches_replaced })
}

/// The settings that hold at the current place of the translation.
struct TranslationScope {
    flags: TranslationFlags,
    swaps_greed: bool,
    subject: MatchSubject,
    matches_replaced: bool,
}

impl TranslationScope {
    fn translate(&mut self, ast: &Ast) -> Option<Hir> {
        match ast {
            Ast::Empty(_) => Some(Hir::empty()),
            Ast::Flags(set) => self.set(&set.flags).map(|()| Hir::empty()),
            Ast::Literal(literal) => Some(self.literal(literal.c)),
            Ast::Dot(_) => {
                let feed = ClassUnicodeRange::new('\n', '\n');
                let mut class = ClassUnicode::new([feed]);
                class.negate();
                if self.flags.any_is_all {
                    class.push(feed);
                }
                Some(self.class(class))
            }
            Ast::Assertion(assertion) => Some(Hir::look(self.look(&assertion.kind))),
            // The small matcher has no tables of Unicode, and refuses `\p` itself.
            Ast::ClassUnicode(_) => None,
            Ast::ClassPerl(class) => {
                let class = negated(perl(&class.kind), class.negated);
                Some(self.class(class))
            }
            Ast::ClassBracketed(bracketed) => {
                let mut class = ClassUnicode::empty();
                let ClassSet::Item(item) = &bracketed.kind else { return None };
                add(item, &mut class)?;
                // Before it is negated: `[^k]` must not match `K` either.
                if self.flags.ignore_case {
                    add_other_case(&mut class);
                }
                Some(self.class(negated(class, bracketed.negated)))
            }
            Ast::Repetition(repetition) => {
                let (min, max) = bounds(&repetition.op.kind);
                let greedy = repetition.greedy != self.swaps_greed;
                let sub = Box::new(self.translate(&repetition.ast)?);
                Some(Hir::repetition(Repetition { min, max, greedy, sub }))
            }
            Ast::Group(group) => self.group(group),
            Ast::Alternation(all) => {
                let all = all.asts.iter().map(|ast| self.translate(ast));
                all.collect::<Option<_>>().map(Hir::alternation)
            }
            Ast::Concat(all) => {
                let all = all.asts.iter().map(|ast| self.translate(ast));
                all.collect::<Option<_>>().map(Hir::concat)
            }
        }
    }

    /// Translates a group; settings within it hold to its end. It captures nothing.
    fn group(&mut self, group: &ast::Group) -> Option<Hir> {
        let (flags, swaps_greed) = (self.flags, self.swaps_greed);
        if let Some(set) = group.flags() {
            self.set(set)?;
        }
        let inside = self.translate(&group.ast);
        (self.flags, self.swaps_greed) = (flags, swaps_greed);
        inside
    }

    fn set(&mut self, flags: &ast::Flags) -> Option<()> {
        let mut on = true;
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Negation => on = false,
                FlagsItemKind::Flag(Flag::CaseInsensitive) => self.flags.ignore_case = on,
                FlagsItemKind::Flag(Flag::MultiLine) => self.flags.line_borders = on,
                FlagsItemKind::Flag(Flag::DotMatchesNewLine) => self.flags.any_is_all = on,
                FlagsItemKind::Flag(Flag::SwapGreed) => self.swaps_greed = on,
                // The small matcher ignores `u`, and the parser has applied `x` already.
                FlagsItemKind::Flag(Flag::Unicode | Flag::IgnoreWhitespace) => {}
                FlagsItemKind::Flag(Flag::CRLF) => return None,
            }
        }
        Some(())
    }

    fn literal(&mut self, letter: char) -> Hir {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
        if self.flags.ignore_case {
            add_other_case(&mut class);
        }
        self.class(class)
    }

    fn class(&mut self, mut class: ClassUnicode) -> Hir {
        // There is no line feed within a line, and the fast engine refuses an expression that names
        // its line terminator.
        if self.subject == MatchSubject::Lines {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
        }
        let replaced = char::REPLACEMENT_CHARACTER;
        let has = |range: &ClassUnicodeRange| range.start() <= replaced && replaced <= range.end();
        self.matches_replaced |= class.iter().any(has);
        Hir::class(Class::Unicode(class))
    }

    const fn look(&self, kind: &AssertionKind) -> Look {
        // Among many lines each line is a text of its own, so that `\A` and `^` mean the same.
        let by_line = self.flags.line_borders;
        match (kind, self.subject) {
            (AssertionKind::StartLine | AssertionKind::StartText, MatchSubject::Lines) => {
                Look::StartLF
            }
            (AssertionKind::EndLine | AssertionKind::EndText, MatchSubject::Lines) => Look::EndCRLF,
            (AssertionKind::StartLine, MatchSubject::Text) if by_line => Look::StartLF,
            (AssertionKind::EndLine, MatchSubject::Text) if by_line => Look::EndLF,
            (AssertionKind::StartLine | AssertionKind::StartText, MatchSubject::Text) => {
                Look::Start
            }
            (AssertionKind::EndLine | AssertionKind::EndText, MatchSubject::Text) => Look::End,
            (AssertionKind::WordBoundary, _) => Look::WordAscii,
            (AssertionKind::NotWordBoundary, _) => Look::WordAsciiNegate,
            (AssertionKind::WordBoundaryStart | AssertionKind::WordBoundaryStartAngle, _) => {
                Look::WordStartAscii
            }
            (AssertionKind::WordBoundaryEnd | AssertionKind::WordBoundaryEndAngle, _) => {
                Look::WordEndAscii
            }
            (AssertionKind::WordBoundaryStartHalf, _) => Look::WordStartHalfAscii,
            (AssertionKind::WordBoundaryEndHalf, _) => Look::WordEndHalfAscii,
        }
    }
}

/// Adds an item of a bracketed class to it; `None` if the small matcher has no such item.
fn add(item: &ClassSetItem, class: &mut ClassUnicode) -> Option<()> {
    match item {
        ClassSetItem::Empty(_) => {}
        ClassSetItem::Literal(literal) => class.push(ClassUnicodeRange::new(literal.c, literal.c)),
        ClassSetItem::Range(range) => {
            class.push(ClassUnicodeRange::new(range.start.c, range.end.c));
        }
        ClassSetItem::Ascii(named) => class.union(&negated(ascii(&named.kind), named.negated)),
        ClassSetItem::Perl(named) => class.union(&negated(perl(&named.kind), named.negated)),
        ClassSetItem::Union(all) => {
            for item in &all.items {
                add(item, class)?;
            }
        }
        ClassSetItem::Unicode(_) | ClassSetItem::Bracketed(_) => return None,
    }
    Some(())
}

fn negated(mut class: ClassUnicode, negated: bool) -> ClassUnicode {
    if negated {
        class.negate();
    }
    class
}

fn of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)))
}

fn perl(kind: &ClassPerlKind) -> ClassUnicode {
    match kind {
        ClassPerlKind::Digit => ascii(&ClassAsciiKind::Digit),
        ClassPerlKind::Space => ascii(&ClassAsciiKind::Space),
        ClassPerlKind::Word => ascii(&ClassAsciiKind::Word),
    }
}

fn ascii(kind: &ClassAsciiKind) -> ClassUnicode {
    match kind {
        ClassAsciiKind::Alnum => of(&[('0', '9'), ('A', 'Z'), ('a', 'z')]),
        ClassAsciiKind::Alpha => of(&[('A', 'Z'), ('a', 'z')]),
        ClassAsciiKind::Ascii => of(&[('\0', '\x7f')]),
        ClassAsciiKind::Blank => of(&[('\t', '\t'), (' ', ' ')]),
        ClassAsciiKind::Cntrl => of(&[('\0', '\x1f'), ('\x7f', '\x7f')]),
        ClassAsciiKind::Digit => of(&[('0', '9')]),
        ClassAsciiKind::Graph => of(&[('!', '~')]),
        ClassAsciiKind::Lower => of(&[('a', 'z')]),
        ClassAsciiKind::Print => of(&[(' ', '~')]),
        ClassAsciiKind::Punct => of(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        ClassAsciiKind::Space => of(&[('\t', '\r'), (' ', ' ')]),
        ClassAsciiKind::Upper => of(&[('A', 'Z')]),
        ClassAsciiKind::Word => of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        ClassAsciiKind::Xdigit => of(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
    }
}

/// Adds the other case of each ASCII letter in the class.
fn add_other_case(class: &mut ClassUnicode) {
    let mut others = ClassUnicode::empty();
    for (all, distance) in [(('a', 'z'), -32_i32), (('A', 'Z'), 32)] {
        let mut letters = class.clone();
        letters.intersect(&of(&[all]));
        for range in letters.iter() {
            let other = |letter: char| {
                let code = u32::from(letter).checked_add_signed(distance);
                code.and_then(char::from_u32).unwrap_or(letter)
            };
            others.push(ClassUnicodeRange::new(other(range.start()), other(range.end())));
        }
    }
    class.union(&others);
}

const fn bounds(kind: &RepetitionKind) -> (u32, Option<u32>) {
    match kind {
        RepetitionKind::ZeroOrOne => (0, Some(1)),
        RepetitionKind::ZeroOrMore => (0, None),
        RepetitionKind::OneOrMore => (1, None),
        RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
        RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
        RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, Some(*most)),
    }
}

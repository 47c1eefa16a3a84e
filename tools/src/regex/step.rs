//! The steps that an expression is made of, and the flags by which it is read.

use super::assertions::RegexAssertion;

/// The flags by which an expression is read, unless it says otherwise itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RegexFlags {
    /// `i`: letters match in either case.
    pub(crate) ignore_case: bool,
    /// `m`: `^` and `$` match at line ends, too.
    pub(crate) multi_line: bool,
    /// `s`: `.` matches a line feed, too.
    pub(crate) dot_matches_all: bool,
    /// `U`: repetitions are lazy, and those with a `?` are not.
    pub(crate) is_lazy: bool,
    /// `R`: a carriage return belongs to the line end.
    pub(crate) is_crlf: bool,
    /// `x`: white space and comments mean nothing.
    pub(crate) is_spaced: bool,
}

/// A step of an expression. The places that it leads to are relative to its own, so that steps can
/// be copied.
#[derive(Clone, Copy, Debug)]
pub(super) enum RegexInstruction {
    Char(char),
    /// A character of the class at that place.
    Class(usize),
    Look(RegexAssertion),
    Jump(isize),
    /// Two ways to go on, of which the first is preferred.
    Split(isize, isize),
    Match,
}

//! The closest place for lines that are not in a file, so that the model sees what it got wrong. It
//! is only looked for after a patch has failed, and still costs no more than one pass.

use crate::numbers::LineInterner;
use std::{borrow::Cow, cmp::Reverse};

/// The maximum number of occurrences of one text among the wanted lines that are considered.
const MAX_SAME: usize = 4;
/// The maximum number of bytes of a line that are compared.
const MAX_COMPARED_BYTES: usize = 400;

/// A line of a file that is almost a wanted one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NearestLine<'a> {
    /// Its number, counted from 1.
    pub(crate) line: usize,
    /// Its text; `None` after the last line.
    pub(crate) there: Option<&'a str>,
    /// The text that was looked for.
    pub(crate) wanted: &'a str,
}

/// Returns the first difference at the place that has most of the wanted lines, or else the line
/// that is most similar to one of them.
pub(crate) fn nearest<'a>(lines: &[&'a str], wanted: &[&'a str]) -> Option<NearestLine<'a>> {
    difference(lines, wanted).or_else(|| {
        let wanted = wanted.iter().find(|line| !line.trim().is_empty())?;
        let similar = most_similar(lines, wanted);
        let (at, there) = similar.filter(|(_, there)| there.trim() != wanted.trim())?;
        Some(NearestLine { line: at + 1, there: Some(there), wanted })
    })
}

fn difference<'a>(lines: &[&'a str], wanted: &[&'a str]) -> Option<NearestLine<'a>> {
    let mut numbers = LineInterner::new();
    // The offsets at which each number occurs among the wanted lines.
    let mut offsets = vec![Vec::new(); wanted.len()];
    for (offset, line) in wanted.iter().enumerate() {
        let line = line.trim();
        if !line.is_empty()
            && let Some(offsets) = offsets.get_mut(numbers.add(Cow::Borrowed(line)) as usize)
            && offsets.len() < MAX_SAME
        {
            offsets.push(offset);
        }
    }
    // For each line of the file, the number of wanted lines that are in place if the first one is
    // there.
    let mut votes = vec![0_usize; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let number = numbers.of(line.trim());
        for offset in offsets.get(number as usize).map_or(&[][..], Vec::as_slice) {
            if let Some(votes) = at.checked_sub(*offset).and_then(|start| votes.get_mut(start)) {
                *votes += 1;
            }
        }
    }
    let most = votes.iter().copied().max().filter(|most| *most > 0)?;
    let start = votes.iter().position(|votes| *votes == most)?;
    let there = |offset: usize| lines.get(start + offset).copied();
    let (offset, wanted) = wanted
        .iter()
        .enumerate()
        .find(|(offset, line)| there(*offset).map(str::trim) != Some(line.trim()))?;
    Some(NearestLine { line: start + offset + 1, there: there(offset), wanted })
}

/// Returns the line that shares most pairs of letters with `wanted`, if they are more than half.
pub(crate) fn most_similar<'a>(lines: &[&'a str], wanted: &str) -> Option<(usize, &'a str)> {
    let mut pairs = vec![false; 1 << 16];
    let mut count = 0_usize;
    for pair in pairs_of(wanted) {
        if let Some(known) = pairs.get_mut(pair) {
            *known = true;
            count += 1;
        }
    }
    let score = |line: &str| {
        let (mut shared, mut all) = (0_usize, count);
        for pair in pairs_of(line) {
            shared += usize::from(pairs.get(pair).copied().unwrap_or_default());
            all += 1;
        }
        (2 * shared.min(count) * 1000).checked_div(all).unwrap_or(0)
    };
    let scored = lines.iter().enumerate().map(|(at, line)| (score(line), at, *line));
    let (score, at, line) = scored.max_by_key(|(score, at, _)| (*score, Reverse(*at)))?;
    (score > 500).then_some((at, line))
}

fn pairs_of(line: &str) -> impl Iterator<Item = usize> {
    let bytes = line.trim().as_bytes();
    let bytes = bytes.get(..MAX_COMPARED_BYTES).unwrap_or(bytes);
    bytes.iter().zip(bytes.iter().skip(1)).map(|(a, b)| usize::from(*a) << 8 | usize::from(*b))
}

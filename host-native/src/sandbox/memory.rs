//! Reading a guest's memory, and memory of our own for the calls that we make ourselves.

use super::errno;
use wasmtime::{Result, bail};
use wiggle::GuestMemory;

/// A text in the guest's memory, or an error number.
pub(super) fn text(memory: &GuestMemory<'_>, at: i32, len: i32) -> Result<String, i32> {
    let bytes = bytes(memory, at, len)?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| errno::ILSEQ)
}

/// A word that a call has written as its result.
pub(super) fn read_u32(memory: &GuestMemory<'_>, at: i32) -> Result<u32> {
    match bytes(memory, at, 4).map(<[u8]>::first_chunk) {
        Ok(Some(word)) => Ok(u32::from_le_bytes(*word)),
        _ => bail!("the program's memory ends before the result"),
    }
}

/// The length of the first non-empty buffer: the only one that a call writes.
pub(super) fn first_length(memory: &GuestMemory<'_>, buffers: i32, count: i32) -> Result<u32, i32> {
    let list = bytes(memory, buffers, count.checked_mul(8).ok_or(errno::FAULT)?)?;
    let lengths = list.chunks_exact(8).filter_map(<[u8]>::last_chunk::<4>);
    Ok(lengths.map(|len| u32::from_le_bytes(*len)).find(|&len| len > 0).unwrap_or(0))
}

/// Copies as much of `from` as fits into the guest's buffer and writes how much that is to
/// `result`; gives an error number.
pub(super) fn fill(
    memory: &mut GuestMemory<'_>,
    (at, len): (i32, i32),
    from: &[u8],
    result: i32,
) -> i32 {
    let GuestMemory::Unshared(memory) = memory else { return errno::FAULT };
    let Some(buffer) = range(at, len).and_then(|range| memory.get_mut(range)) else {
        return errno::FAULT;
    };
    let fits = from.len().min(buffer.len());
    for (to, from) in buffer.iter_mut().zip(from) {
        *to = *from;
    }
    let word = range(result, 4).and_then(|range| memory.get_mut(range));
    let (Some(word), Ok(fits)) = (word, u32::try_from(fits)) else { return errno::FAULT };
    word.copy_from_slice(&fits.to_le_bytes());
    errno::SUCCESS
}

fn bytes<'m>(memory: &'m GuestMemory<'_>, at: i32, len: i32) -> Result<&'m [u8], i32> {
    let GuestMemory::Unshared(memory) = memory else { return Err(errno::FAULT) };
    range(at, len).and_then(|range| memory.get(range)).ok_or(errno::FAULT)
}

fn range(at: i32, len: i32) -> Option<std::ops::Range<usize>> {
    let at = at.cast_unsigned() as usize;
    Some(at..at.checked_add(len.cast_unsigned() as usize)?)
}

/// Memory of our own in place of the guest's: eight bytes for a result, then some for data, both
/// aligned as they would be in a guest.
pub(super) struct Scratch {
    bytes: Vec<u8>,
    start: usize,
    /// How much of the data comes before the text.
    before_text: usize,
}

const WORD: usize = 8;

impl Scratch {
    /// With room for `len` bytes of data.
    pub(super) fn new(len: usize) -> Self {
        let bytes = vec![0; len + 2 * WORD];
        let start = bytes.as_ptr().align_offset(WORD).min(WORD);
        Self { bytes, start, before_text: len }
    }

    /// With room for `len` bytes of data, and `text` after them.
    pub(super) fn with_text(len: usize, text: &str) -> Self {
        let mut own = Self::new(len + text.len());
        own.before_text = len;
        let place = own.bytes.iter_mut().skip(own.start + WORD + len);
        for (to, from) in place.zip(text.as_bytes()) {
            *to = *from;
        }
        own
    }

    pub(super) const fn memory(&mut self) -> GuestMemory<'_> {
        GuestMemory::Unshared(self.bytes.as_mut_slice())
    }

    /// Where the result is.
    pub(super) const fn result(&self) -> i32 {
        address(self.start)
    }

    /// Where the data is.
    pub(super) const fn data(&self) -> i32 {
        address(self.start + WORD)
    }

    /// Where the text is; there is one after few bytes of data only.
    pub(super) const fn text(&self) -> i32 {
        address(self.start + WORD + self.before_text)
    }

    /// The result.
    pub(super) fn result_u64(&self) -> u64 {
        self.bytes.get(self.start..).map_or(0, first_u64)
    }

    /// The word at `at` of the data.
    pub(super) fn data_u64(&self, at: usize) -> u64 {
        self.bytes.get(self.start + WORD + at..).map_or(0, first_u64)
    }

    /// The first `len` bytes of the data.
    pub(super) fn into_data(mut self, len: usize) -> Vec<u8> {
        self.bytes.drain(..self.start + WORD);
        self.bytes.truncate(len);
        self.bytes.shrink_to_fit();
        self.bytes
    }
}

fn first_u64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

#[expect(clippy::cast_possible_truncation, reason = "only a text stands behind few bytes")]
const fn address(at: usize) -> i32 {
    (at as u32).cast_signed()
}

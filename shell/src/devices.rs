//! The devices that scripts expect, `/dev/null` and its like, which WASI does not have.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The number of bytes of an endless device that a command gets if it reads a file whole, unless it
/// asks for more.
const PIECE: usize = 1 << 20;

/// The same for random bytes, which commands for text are slow to read.
const RANDOM_PIECE: usize = 64 << 10;

/// The largest number of bytes that a command gets.
const MOST: usize = 192 << 20;

/// The number of bytes that the next command wants.
// A file system is asked for whole files, so that the count of `head -c` or `dd` has to get here on
// another way. Only the next read uses it.
static WANTED: AtomicUsize = AtomicUsize::new(PIECE);

/// The devices by their names in `/dev`.
pub(crate) const ALL: [(&str, Device); 4] = [
    ("null", Device::Null),
    ("random", Device::Random),
    ("urandom", Device::Random),
    ("zero", Device::Zero),
];

/// Sets the number of bytes of an endless device that the next command wants.
pub(crate) fn expect(bytes: Option<usize>) {
    WANTED.store(bytes.unwrap_or(PIECE).clamp(PIECE, MOST), Ordering::Relaxed);
}

/// A device, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Random,
}

impl Device {
    /// Returns the device at that path, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let name = path.to_str()?.strip_prefix("/dev/")?;
        ALL.into_iter().find(|(known, _)| *known == name).map(|(_, device)| device)
    }

    /// Returns the bytes that a command reads.
    pub(crate) fn read(self) -> Vec<u8> {
        match self {
            Self::Null => Vec::new(),
            Self::Zero => vec![0; WANTED.swap(PIECE, Ordering::Relaxed)],
            Self::Random => match WANTED.swap(PIECE, Ordering::Relaxed) {
                PIECE => random(RANDOM_PIECE),
                wanted => random(wanted),
            },
        }
    }

    /// Returns whether there is always more to read.
    pub(crate) fn is_endless(self) -> bool {
        self != Self::Null
    }
}

/// Returns random bytes of the host.
fn random(len: usize) -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    // Each state has keys of its own, of which the first are random numbers of the host.
    let states = (0..len.div_ceil(8)).map(|number| RandomState::new().hash_one(number));
    states.flat_map(u64::to_le_bytes).take(len).collect()
}

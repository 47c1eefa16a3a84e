//! The devices that scripts know: `/dev/null` and its like, which no host has.

use std::path::Path;

/// How much of an endless device a command that reads a file whole is given.
const PIECE: usize = 1 << 20;

/// A device, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Random,
}

impl Device {
    /// The device at that path, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        match path.to_str()? {
            "/dev/null" => Some(Self::Null),
            "/dev/zero" => Some(Self::Zero),
            "/dev/random" | "/dev/urandom" => Some(Self::Random),
            _ => None,
        }
    }

    /// What it holds.
    pub(crate) fn read(self) -> Vec<u8> {
        match self {
            Self::Null => Vec::new(),
            Self::Zero => vec![0; PIECE],
            Self::Random => random(PIECE),
        }
    }
}

/// Random bytes of the host.
fn random(len: usize) -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    // Each state has keys of its own, of which the first comes from the host.
    let states = (0..len.div_ceil(8)).map(|number| RandomState::new().hash_one(number));
    states.flat_map(u64::to_le_bytes).take(len).collect()
}

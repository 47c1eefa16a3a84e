//! The signature of artefacts: an HMAC-SHA-256 over the artefact's name and code, by a random key
//! that stands in a file of its own beside them. A key that is gone, or that somebody else may
//! know, is replaced by a new one, which costs no more than compiling again.

use crate::private;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::{fs, io, path::Path};

/// The file of the key.
const KEY: &str = "key";

/// Bytes of the key, and of a signature.
const BYTES: usize = 32;

/// Signs artefacts, and opens those that are signed.
pub(super) struct Seal(Hmac<Sha256>);

impl Seal {
    /// With the key of this folder, which is private.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(KEY);
        let key = match private::read(&path) {
            Ok(key) if key.len() == BYTES => key,
            _ => made(&path)?,
        };
        Hmac::new_from_slice(&key).map(Self).map_err(io::Error::other)
    }

    /// The signature of an artefact, which comes before its code.
    pub(super) fn sign(&self, name: &str, code: &[u8]) -> [u8; BYTES] {
        self.over(name, code).finalize().into_bytes().into()
    }

    /// The code of an artefact that was signed under this name.
    pub(super) fn open<'a>(&self, name: &str, signed: &'a [u8]) -> Option<&'a [u8]> {
        let (signature, code) = signed.split_first_chunk::<BYTES>()?;
        self.over(name, code).verify_slice(signature).ok()?;
        Some(code)
    }

    fn over(&self, name: &str, code: &[u8]) -> Hmac<Sha256> {
        // No name holds a NUL.
        self.0.clone().chain_update(name).chain_update([0]).chain_update(code)
    }
}

/// A new key. Of two programs that make one at a time, the later one's stays.
fn made(path: &Path) -> io::Result<Vec<u8>> {
    // What stands there is removed, not what it may lead to.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    private::write(path, &[&private::random::<BYTES>()?])?;
    private::read(path)
}

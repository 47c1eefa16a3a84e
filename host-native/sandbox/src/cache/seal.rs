//! The signature of artefacts: a keyed BLAKE3 hash over the artefact's name and code, by a random
//! key that stands in a file of its own beside them. A key that is gone, or that somebody else may
//! know, is replaced by a new one, which costs no more than compiling again.

use blake3::{Hash, Hasher};
use innerloop_workspace::private_files;
use std::{
    fs,
    io::{self, Read},
    path::Path,
};

/// The file of the key.
const KEY: &str = "key";

/// Bytes of the key, and of a signature.
const BYTES: usize = 32;

/// Signs artefacts, and verifies those that are signed.
pub(super) struct ArtefactSigner([u8; BYTES]);

impl ArtefactSigner {
    /// With the key of this folder, which is private.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(KEY);
        let key = private_files::read(&path).ok().and_then(|key| <[u8; BYTES]>::try_from(key).ok());
        key.map_or_else(|| made(&path), Ok).map(Self)
    }

    /// The signature of an artefact of this name.
    pub(super) fn sign(&self, name: &str, code: impl Read) -> io::Result<[u8; BYTES]> {
        self.over(name, code).map(|hash| *hash.as_bytes())
    }

    /// Returns whether this is the signature of an artefact of this name.
    pub(super) fn verify(&self, name: &str, code: impl Read, signature: &[u8]) -> bool {
        let signature = Hash::from_slice(signature);
        // In constant time.
        self.over(name, code).is_ok_and(|hash| signature.is_ok_and(|signed| signed == hash))
    }

    fn over(&self, name: &str, code: impl Read) -> io::Result<Hash> {
        let mut hasher = Hasher::new_keyed(&self.0);
        // No name holds a NUL.
        hasher.update(name.as_bytes()).update(&[0]).update_reader(code)?;
        Ok(hasher.finalize())
    }
}

/// A new key. Of two programs that make one at a time, the later one's stays.
fn made(path: &Path) -> io::Result<[u8; BYTES]> {
    // What stands there is removed, not what it may lead to.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    private_files::write(path, &private_files::random::<BYTES>()?)?;
    let key = private_files::read(path)?;
    key.try_into().map_err(|_| io::Error::other(format!("{} is no key", path.display())))
}

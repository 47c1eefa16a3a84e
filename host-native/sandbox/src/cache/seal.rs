//! The signatures of artefacts: keyed BLAKE3 hashes over an artefact's name and code, by a random
//! key in a file beside the artefacts. A key that is gone, or that somebody else may know, is
//! replaced by a new one, which costs no more than compiling again.

use blake3::{Hash, Hasher};
use innerloop_workspace::private_files;
use std::{
    fs,
    io::{self, Read},
    path::Path,
};

/// The file of the key.
const KEY: &str = "key";

/// The length in bytes of the key and of a signature.
const BYTES: usize = 32;

/// The key that signs artefacts and verifies their signatures.
pub(super) struct ArtefactSigner([u8; BYTES]);

impl ArtefactSigner {
    /// The signer with the key of this folder, which is private. A key is made if there is none.
    ///
    /// # Errors
    /// The error of the system if a new key can't be written.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let path = folder.join(KEY);
        // Read only with mode 0400, which no guest can give a file: a folder that a guest has put
        // in the place of this one has no key that counts.
        let key = private_files::read(&path).ok().and_then(|key| <[u8; BYTES]>::try_from(key).ok());
        key.map_or_else(|| made(&path), Ok).map(Self)
    }

    /// The signature of an artefact with this name.
    pub(super) fn sign(&self, name: &str, code: impl Read) -> io::Result<[u8; BYTES]> {
        self.over(name, code).map(|hash| *hash.as_bytes())
    }

    /// Returns whether this is the signature of an artefact with this name.
    pub(super) fn verify(&self, name: &str, code: impl Read, signature: &[u8]) -> bool {
        let signature = Hash::from_slice(signature);
        // `Hash` compares in constant time, so that no signature can be found byte by byte.
        self.over(name, code).is_ok_and(|hash| signature.is_ok_and(|signed| signed == hash))
    }

    fn over(&self, name: &str, code: impl Read) -> io::Result<Hash> {
        let mut hasher = Hasher::new_keyed(&self.0);
        // The name is signed as well, so that no artefact can be renamed to another module's. The
        // NUL, which no name has, keeps name and code apart.
        hasher.update(name.as_bytes()).update(&[0]).update_reader(code)?;
        Ok(hasher.finalize())
    }
}

/// Makes a new key and returns the one that is in the file.
fn made(path: &Path) -> io::Result<[u8; BYTES]> {
    // A link at this place is removed, not what it leads to.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Another program may have made a key at the same time: the one that is in the file counts.
    private_files::write(path, &private_files::random::<BYTES>()?)?;
    let key = private_files::read(path)?;
    key.try_into().map_err(|_| io::Error::other(format!("{} is no key", path.display())))
}

//! The modules that are embedded in this program, compressed: the guest tools program, the shell
//! and QuickJS. Their digests are constants of the build, so that none is unpacked before it has to
//! be compiled, which the cache of compiled modules makes rare.

use flate2::read::DeflateDecoder;
use innerloop_workspace::digest::Digest;
use std::io::Read as _;

// The build script generates `TOOLS`, `BASH` and `QJS`.
include!(concat!(env!("OUT_DIR"), "/embedded_modules.rs"));

/// The embedded modules that are programs of the registry.
pub(super) static PROGRAMS: [&EmbeddedModule; 2] = [&BASH, &QJS];

/// A module that is embedded in this program.
pub(crate) struct EmbeddedModule {
    /// The module's name as a program, or for messages.
    pub(super) name: &'static str,
    /// The digest of the unpacked bytes.
    pub(super) digest: Digest,
    /// The number of the unpacked bytes.
    size: usize,
    packed: &'static [u8],
}

/// The error that an embedded module is damaged.
#[derive(Debug, thiserror::Error)]
#[error("{0}, which this program carries, is damaged; install innerloop again")]
pub struct EmbeddedModuleError(&'static str);

impl EmbeddedModule {
    /// Unpacks the module's bytes.
    ///
    /// # Errors
    /// [`EmbeddedModuleError`] if this program's file is not as it was built.
    pub(super) fn unpacked(&self) -> Result<Vec<u8>, EmbeddedModuleError> {
        let damaged = || EmbeddedModuleError(self.name);
        let mut bytes = Vec::with_capacity(self.size);
        let most = u64::try_from(self.size).map_err(|_| damaged())?;
        // Bounded, since a damaged stream may unpack to anything; the digest finds what is cut off.
        let read = DeflateDecoder::new(self.packed).take(most).read_to_end(&mut bytes);
        if read.is_err() || Digest::of(&bytes) != self.digest {
            return Err(damaged());
        }
        Ok(bytes)
    }
}

impl std::fmt::Debug for EmbeddedModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedModule").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_unpacked_as_it_was_or_called_damaged() {
        for carried in PROGRAMS.into_iter().chain([&TOOLS]) {
            let bytes = carried.unpacked().unwrap();
            assert_eq!((bytes.len(), Digest::of(&bytes)), (carried.size, carried.digest));
            let EmbeddedModule { name, digest, size, packed } = *carried;
            let cut = packed.get(..packed.len() / 2).unwrap();
            for (size, packed) in [(size, cut), (size - 1, packed), (size, &[0xff; 9])] {
                let other = EmbeddedModule { name, digest, size, packed };
                let error = other.unpacked().unwrap_err().to_string();
                assert!(error.contains(name) && error.contains("install innerloop again"));
            }
        }
    }
}

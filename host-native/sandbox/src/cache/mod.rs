//! The cache of compiled modules on disk. An artefact is machine code, so it is only loaded from a
//! folder that belongs to the user alone, only with a signature by a key of that folder, and never
//! where a guest could have written it. A verified artefact is mapped, not copied. Whatever is
//! wrong with one, its module is compiled again.

mod seal;

use innerloop_workspace::{
    app_dirs::{self, meets},
    digest::Digest,
    private_files,
};
use seal::ArtefactSigner;
use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{Read as _, Seek as _},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};
use wasmtime::{Engine, Module};

/// A function that receives a line for the user when something takes long or has failed.
pub type OnProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// The artefacts' folder within the cache folder. No guest can change a folder of this name,
/// whatever its workspace is.
const FOLDER: &str = ".innerloop";

/// The cache, whose folder is opened when it is first needed.
pub(super) struct ArtefactCache {
    wanted: Option<PathBuf>,
    kept: OnceLock<Option<CacheFolder>>,
    exposed: AtomicBool,
    on_progress: OnProgress,
}

/// A folder that can be used, with the key that signs its artefacts.
struct CacheFolder {
    folder: PathBuf,
    seal: ArtefactSigner,
}

impl std::fmt::Debug for ArtefactCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArtefactCache").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl ArtefactCache {
    pub(super) fn new(dir: Option<PathBuf>, on_progress: OnProgress) -> Self {
        let wanted = dir.or_else(app_dirs::cache);
        Self { wanted, kept: OnceLock::new(), exposed: AtomicBool::new(false), on_progress }
    }

    /// Stops using the folder if guests over the workspace `root` could reach it.
    pub(super) fn keep_from(&self, root: &Path) {
        let Some(wanted) = &self.wanted else { return };
        if meets(wanted, root) && !self.exposed.swap(true, Ordering::AcqRel) {
            (self.on_progress)(&format!(
                "compiled modules are not kept, because {} and the workspace overlap",
                wanted.display()
            ));
        }
    }

    /// Returns whether there is an artefact for the bytes of this digest, sound or not.
    pub(super) fn has(&self, engine: &Engine, digest: &Digest) -> bool {
        let name = name(engine, digest);
        let is_there = |folder: &Path, name: &str| folder.join(name).is_file();
        self.kept().is_some_and(|CacheFolder { folder, .. }| {
            is_there(folder, &name) && is_there(folder, &signature_of(&name))
        })
    }

    /// The module that was compiled from the bytes of this digest; `None` if there is no artefact
    /// or it is not intact.
    pub(super) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Module> {
        let CacheFolder { folder, seal } = self.kept()?;
        let name = name(engine, digest);
        let signature = private_files::read(&folder.join(signature_of(&name))).ok()?;
        let code = private_files::opened(&folder.join(&name)).ok()?;
        // The file that is verified is the one that is loaded, by the same handle: another file may
        // take its name in between.
        seal.verify(&name, &code, &signature).then(|| load_artefact(engine, code))?
    }

    /// Keeps a compiled module. A failure is reported, and otherwise ignored.
    pub(super) fn store(&self, engine: &Engine, digest: &Digest, module: &Module) {
        let Some(CacheFolder { folder, seal }) = self.kept() else { return };
        let Ok(code) = module.serialize() else { return };
        let name = name(engine, digest);
        let path = folder.join(&name);
        // Two programs may write at the same time, or be killed between the two files. A signature
        // that then stands beside other code does not verify it, and the module is compiled again.
        let kept = seal.sign(&name, &*code).and_then(|signature| {
            private_files::write(&path, &code)?;
            private_files::write(&folder.join(signature_of(&name)), &signature)
        });
        if let Err(error) = kept {
            (self.on_progress)(&format!(
                "can't keep a compiled module in {}: {error}",
                path.display()
            ));
        }
    }

    fn kept(&self) -> Option<&CacheFolder> {
        // Asked each time, even if the folder is open already: another executor of the process may
        // have a workspace that reaches it.
        if self.exposed.load(Ordering::Acquire) {
            return None;
        }
        self.kept.get_or_init(|| self.look()).as_ref()
    }

    fn look(&self) -> Option<CacheFolder> {
        let Some(wanted) = &self.wanted else {
            (self.on_progress)(
                "no folder for compiled modules: set INNERLOOP_CACHE_DIR to keep them",
            );
            return None;
        };
        let folder = wanted.join(FOLDER);
        match private_files::folder(&folder).and_then(|()| ArtefactSigner::of(&folder)) {
            Ok(seal) => {
                private_files::sweep(&folder);
                Some(CacheFolder { folder, seal })
            }
            Err(error) => {
                (self.on_progress)(&format!(
                    "compiled modules are not kept, because {} can't be used: {error}",
                    folder.display()
                ));
                None
            }
        }
    }
}

/// The artefact's file name: what it was compiled from, and for which engine and machine.
fn name(engine: &Engine, digest: &Digest) -> String {
    // Nothing relies on this hash being unique, or the same in another version of Rust: a name that
    // differs costs a compilation, and wasmtime refuses an artefact of another engine.
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{digest}-{:016x}.cwasm", hasher.finish())
}

/// The file name of an artefact's signature.
fn signature_of(name: &str) -> String {
    format!("{name}.signature")
}

/// Loads machine code that this program has written to a file and has verified. It is mapped, so
/// that processes share it, or copied where files can't be mapped as code.
#[expect(unsafe_code, reason = "wasmtime offers no safe way to load a compiled module")]
fn load_artefact(engine: &Engine, mut file: File) -> Option<Module> {
    let again = file.try_clone().ok()?;
    // SAFETY: the bytes come from `Module::serialize` of this program: they are signed for this
    // name with a key that only this user can read, and stand in a folder that only this user can
    // write to, in a file that is only ever replaced. wasmtime itself refuses artefacts of another
    // version, setting or processor.
    if let Ok(module) = unsafe { Module::deserialize_open_file(engine, again) } {
        return Some(module);
    }
    // Verifying has read the file to its end.
    let mut code = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut code)).ok()?;
    load_compiled(engine, &code)
}

/// Loads machine code that this program has compiled.
#[expect(unsafe_code, reason = "wasmtime offers no safe way to load a compiled module")]
pub(super) fn load_compiled(engine: &Engine, code: &[u8]) -> Option<Module> {
    // SAFETY: as above, or the bytes come from a process of this program, by a pipe.
    unsafe { Module::deserialize(engine, code) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use wasmtime::{Config, ModuleVersionStrategy};

    const WASM: &[u8] = b"\0asm\x01\0\0\0";

    fn cache(name: &str) -> (ArtefactCache, PathBuf) {
        let folder = format!("innerloop-cache-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        (ArtefactCache::new(Some(folder.clone()), Arc::new(|_: &str| ())), folder)
    }

    /// Puts code under the name and signature of another, as only this program could.
    fn put(cache: &ArtefactCache, name: &str, code: &[u8]) {
        let CacheFolder { folder, seal } = cache.kept().unwrap();
        private_files::write(&folder.join(name), code).unwrap();
        let signature = seal.sign(name, code).unwrap();
        private_files::write(&folder.join(signature_of(name)), &signature).unwrap();
    }

    /// Their names differ; should they ever be equal, wasmtime still looks.
    #[test]
    fn what_another_version_or_other_settings_have_compiled_is_not_loaded() {
        let (cache, folder) = cache("version");
        let digest = Digest::of(WASM);
        let mut config = Config::new();
        let own = Engine::new(config.epoch_interruption(true)).unwrap();
        let version = ModuleVersionStrategy::Custom("0.1.0".to_owned());
        let older = Engine::new(config.clone().module_version(version).unwrap()).unwrap();
        let code = |engine| Module::new(&engine, WASM).unwrap().serialize().unwrap();
        let ours = name(&own, &digest);
        for other in [older, Engine::default()] {
            assert_ne!(name(&other, &digest), ours);
            put(&cache, &ours, &code(other));
            assert!(cache.has(&own, &digest) && cache.load(&own, &digest).is_none());
        }
        put(&cache, &ours, &code(own.clone()));
        assert!(cache.load(&own, &digest).is_some());
        fs::remove_dir_all(folder).unwrap();
    }
}

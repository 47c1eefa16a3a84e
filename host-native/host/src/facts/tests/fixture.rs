//! Repositories as git would leave them, made of files.

use crate::facts::collect;
use gix_hash::{Kind as Hash, ObjectId};
use gix_index::{
    State,
    entry::{Flags, Mode, Stat, stat::Time},
};
use gix_object::{Kind, bstr::ByteSlice as _, compute_hash, encode::loose_header};
use gix_zlib::{Compression, stream::deflate};
use innerloop_core::config::{EnvironmentFacts, GitFacts, ProfileKind};
use innerloop_workspace::Workspace;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A folder of the test's own.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let temp = env::temp_dir().canonicalize().unwrap();
        let folder = temp.join(format!("innerloop-facts-{}-{name}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.0.join(below)
    }

    /// A repository in the folder, without any commit.
    pub(super) fn repository(&self, below: &str) -> Repository {
        Repository::init(self.path(below), self.path(below).join(".git"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A repository that a test makes.
pub(super) struct Repository {
    pub(super) root: PathBuf,
    pub(super) git: PathBuf,
    objects: RefCell<BTreeMap<ObjectId, (Kind, Vec<u8>)>>,
}

impl Repository {
    pub(super) fn init(root: PathBuf, git: PathBuf) -> Self {
        for folder in ["objects/pack", "objects/info", "refs/heads", "info"] {
            fs::create_dir_all(git.join(folder)).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        let new = Self { root, git, objects: RefCell::default() };
        new.set("HEAD", "ref: refs/heads/main\n");
        new
    }

    /// Writes a file of the repository itself.
    pub(super) fn set(&self, name: &str, text: &str) {
        write(&self.git.join(name), text);
    }

    /// Writes a file, long ago.
    pub(super) fn file(&self, path: &str, text: &str) {
        let place = self.root.join(path);
        write(&place, text);
        let long_ago = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let file = fs::File::options().write(true).open(place).unwrap();
        file.set_modified(long_ago).unwrap();
    }

    /// Commits and adds these files, with their contents, to what is checked out.
    pub(super) fn checkout(&self, files: &[(&str, &str)]) -> ObjectId {
        for (path, text) in files {
            self.file(path, text);
        }
        self.add(files);
        let commit = self.commit(files, "The start", 1_700_000_000, &[]);
        self.set("refs/heads/main", &format!("{commit}\n"));
        commit
    }

    /// A commit of these files.
    pub(super) fn commit(
        &self,
        files: &[(&str, &str)],
        message: &str,
        time: u64,
        parents: &[ObjectId],
    ) -> ObjectId {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let tree = self.tree(&files, "");
        let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
        let who = format!("A <a@example.com> {time} +0000");
        let head = format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n");
        self.object(Kind::Commit, (head + message).as_bytes())
    }

    /// Commits without files, ten seconds apart; the last one is checked out.
    pub(super) fn history(&self, messages: &[&str]) -> ObjectId {
        let mut last: Option<ObjectId> = None;
        for (message, time) in messages.iter().zip((1_700_000_000..).step_by(10)) {
            last = Some(self.commit(&[], message, time, last.as_slice()));
        }
        let tip = last.unwrap();
        self.set("refs/heads/main", &tip.to_string());
        tip
    }

    fn tree(&self, files: &BTreeMap<&str, &str>, below: &str) -> ObjectId {
        // Git sorts a folder as if its name ended with a slash.
        let mut entries = BTreeMap::new();
        for (path, text) in files {
            let Some(rest) = path.strip_prefix(below) else { continue };
            match rest.split_once('/') {
                None => {
                    let id = self.object(Kind::Blob, text.as_bytes());
                    entries.insert(rest.to_owned(), ("100644", id));
                }
                Some((name, _)) if !entries.contains_key(&format!("{name}/")) => {
                    let id = self.tree(files, &format!("{below}{name}/"));
                    entries.insert(format!("{name}/"), ("40000", id));
                }
                Some(_) => {}
            }
        }
        let mut bytes = Vec::new();
        for (name, (mode, id)) in &entries {
            bytes.extend(format!("{mode} {}\0", name.trim_end_matches('/')).bytes());
            bytes.extend_from_slice(id.as_slice());
        }
        self.object(Kind::Tree, &bytes)
    }

    pub(super) fn object(&self, kind: Kind, bytes: &[u8]) -> ObjectId {
        let id = compute_hash(Hash::Sha1, kind, bytes).unwrap();
        let place = self.git.join("objects").join(loose(&id));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let whole = [&loose_header(kind, bytes.len() as u64)[..], bytes].concat();
        fs::write(place, deflated(&whole)).unwrap();
        self.objects.borrow_mut().insert(id, (kind, bytes.to_vec()));
        id
    }

    /// Moves all objects into one pack.
    pub(super) fn pack(&self) {
        let objects = self.objects.borrow();
        let mut pack = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &number(objects.len())].concat();
        let (mut names, mut offsets, mut fan) = (Vec::new(), Vec::new(), [0_usize; 256]);
        for (id, (kind, bytes)) in &*objects {
            let kind = match kind {
                Kind::Commit => 1,
                Kind::Tree => 2,
                Kind::Blob => 3,
                Kind::Tag => 4,
            };
            offsets.extend(number(pack.len()));
            names.extend_from_slice(id.as_slice());
            for byte in fan.iter_mut().skip(usize::from(id.first_byte())) {
                *byte += 1;
            }
            entry(&mut pack, kind, bytes);
            fs::remove_file(self.git.join("objects").join(loose(id))).unwrap();
        }
        pack.extend([0; 20]);
        let fan: Vec<u8> = fan.into_iter().flat_map(number).collect();
        let sums = vec![0; 4 * objects.len()];
        let index = [&[0xff, b't', b'O', b'c', 0, 0, 0, 2], &fan[..], &names, &sums, &offsets];
        fs::write(self.git.join("objects/pack/all.pack"), pack).unwrap();
        let index = [index.concat(), vec![0; 40]].concat();
        fs::write(self.git.join("objects/pack/all.idx"), index).unwrap();
    }

    /// Writes an index of these files, with their contents, as of now.
    pub(super) fn add(&self, files: &[(&str, &str)]) {
        let mut index = State::new(Hash::Sha1);
        for (path, text) in files {
            let found = fs::symlink_metadata(self.root.join(path)).unwrap();
            let modified = found.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
            let mtime = Time {
                secs: u32::try_from(modified.as_secs()).unwrap(),
                nsecs: modified.subsec_nanos(),
            };
            let size = u32::try_from(found.len()).unwrap();
            let stat = Stat { mtime, size, ..Stat::default() };
            let id = compute_hash(Hash::Sha1, Kind::Blob, text.as_bytes()).unwrap();
            let path = path.as_bytes().as_bstr();
            index.dangerously_push_entry(stat, id, Flags::empty(), Mode::FILE, path);
        }
        index.sort_entries();
        let mut bytes = Vec::new();
        index.write_to(&mut bytes, gix_index::write::Options::default()).unwrap();
        // Git may leave the checksum out.
        bytes.extend_from_slice(&[0; 20]);
        fs::write(self.git.join("index"), bytes).unwrap();
    }

    pub(super) fn facts(&self) -> GitFacts {
        facts(&self.root).git.unwrap()
    }

    /// Returns how many files are modified, and how many untracked.
    pub(super) fn counts(&self) -> (Option<u32>, Option<u32>) {
        let facts = self.facts();
        (facts.modified, facts.untracked)
    }
}

/// Returns what is told of a folder.
pub(super) fn facts(workspace: &Path) -> EnvironmentFacts {
    let workspace = Workspace::open(workspace).unwrap();
    collect(&workspace, Vec::new(), ProfileKind::Anthropic)
}

/// The instruction files that are read for a folder, by path and text.
pub(super) fn documents(workspace: &Path) -> Vec<(String, String)> {
    let found = facts(workspace).project_docs.into_iter();
    found.map(|doc| (doc.path, doc.text)).collect()
}

pub(super) fn write(place: &Path, text: &str) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

pub(super) fn link(target: impl AsRef<Path>, place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, place).unwrap();
}

/// That time as seconds since 1970.
pub(super) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Returns where a loose object stands below the folder of objects.
pub(super) fn loose(id: &ObjectId) -> PathBuf {
    let hex = id.to_string();
    let (folder, name) = hex.split_at(2);
    Path::new(folder).join(name)
}

fn number(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_be_bytes()
}

/// Appends an object as a pack holds it: its kind and length, seven bits at a time, and its bytes.
fn entry(pack: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    let mut rest = bytes.len() >> 4;
    let mut byte = (kind << 4) | u8::try_from(bytes.len() & 15).unwrap();
    while rest > 0 {
        pack.push(byte | 0x80);
        byte = u8::try_from(rest & 0x7f).unwrap();
        rest >>= 7;
    }
    pack.push(byte);
    pack.extend(deflated(bytes));
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut deflate = deflate::Write::new(Vec::new(), Compression::BEST_SPEED);
    deflate.write_all(bytes).unwrap();
    deflate.flush().unwrap();
    deflate.into_inner()
}

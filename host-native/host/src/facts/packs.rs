//! The packs of a repository: many objects in one file, and beside it where each of them begins.

use super::plain_files::FolderHandle;
use gix_hash::{Kind as Hash, oid};
use gix_object::Kind;
use gix_pack::{Bundle, cache::Never, data, index};
use gix_zlib::Inflate;
use innerloop_workspace::{EntryKind as Thing, platform::path_of};
use std::{cell::OnceCell, cmp::Reverse};

/// Most packs and files beside them.
const MOST: usize = 4_096;

/// Those of a repository, the newest first.
pub(super) struct PackStore {
    folder: Option<FolderHandle>,
    all: Vec<PackFile>,
    most_bytes: usize,
}

/// A pack, opened when it is first needed.
struct PackFile {
    /// Its name, without what tells the two files apart.
    name: String,
    opened: OnceCell<Option<Bundle>>,
}

impl PackStore {
    /// Those in a folder of objects, of which none may have more than `most_bytes`; `None` if there
    /// is anything but plain files.
    pub(super) fn open(objects: &FolderHandle, most_bytes: usize) -> Option<Self> {
        if objects.stat("pack").is_none() {
            return Some(Self { folder: None, all: Vec::new(), most_bytes });
        }
        // A link of this name would be no folder.
        let folder = objects.folder("pack")?;
        let found = folder.list("")?;
        if found.len() > MOST || found.iter().any(|file| file.kind != Thing::File) {
            return None;
        }
        let names = found.iter().filter_map(|file| file.name.to_str()?.strip_suffix(".idx"));
        let mut dated: Vec<_> = names
            .map(|name| {
                let found = folder.stat(format!("{name}.pack"));
                (Reverse(found.map_or(0, |found| found.modified)), name.to_owned())
            })
            .collect();
        dated.sort_unstable();
        let all = dated.into_iter().map(|(_, name)| PackFile { name, opened: OnceCell::new() });
        Some(Self { folder: Some(folder), all: all.collect(), most_bytes })
    }

    /// The object with its kind, if one of them has it.
    pub(super) fn find(&self, id: &oid, out: &mut Vec<u8>) -> Option<Kind> {
        let folder = self.folder.as_ref()?;
        self.all.iter().find_map(|PackFile { name, opened }| {
            let pack = opened.get_or_init(|| open(folder, name, self.most_bytes)).as_ref()?;
            let found = pack.find(id, out, &mut Inflate::default(), &mut Never).ok()??;
            Some(found.0.kind)
        })
    }
}

fn open(folder: &FolderHandle, name: &str, most_bytes: usize) -> Option<Bundle> {
    let file = |suffix: &str| folder.file(format!("{name}.{suffix}"));
    let (entries, objects) = (file("idx")?, file("pack")?);
    let index = index::File::at(path_of(&entries)?, Hash::Sha1).ok()?;
    let pack = data::File::at(path_of(&objects)?, Hash::Sha1).ok()?;
    Some(Bundle { pack: pack.with_alloc_limit_bytes(Some(most_bytes)), index })
}

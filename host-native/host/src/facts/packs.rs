//! The packs of a repository, each a file with many objects and an index of where each of them
//! begins. They are opened by handle, and only when an object is looked for.

use super::plain_files::FolderHandle;
use gix_hash::{Kind as Hash, oid};
use gix_object::Kind;
use gix_pack::{Bundle, cache::Never, data, index};
use gix_zlib::Inflate;
use innerloop_workspace::{EntryKind as Thing, platform::path_of};
use std::{cell::OnceCell, cmp::Reverse};

/// The largest number of files in the folder of packs.
const MOST: usize = 4_096;

/// The packs of a repository, the newest first.
pub(super) struct PackStore {
    folder: Option<FolderHandle>,
    all: Vec<PackFile>,
    most_bytes: usize,
}

/// A pack, opened when it is first needed.
struct PackFile {
    /// The name of its two files, without their endings.
    name: String,
    opened: OnceCell<Option<Bundle>>,
}

impl PackStore {
    /// Returns the packs in a folder of objects, of which no object may have more than
    /// `most_bytes`; `None` if there is anything but plain files.
    pub(super) fn open(objects: &FolderHandle, most_bytes: usize) -> Option<Self> {
        if objects.stat("pack").is_none() {
            return Some(Self { folder: None, all: Vec::new(), most_bytes });
        }
        // A link of this name is not a folder here, and the store is not read.
        let folder = objects.folder("pack")?;
        let found = folder.list("")?;
        if found.len() > MOST || found.iter().any(|file| file.kind != Thing::File) {
            return None;
        }
        let names = found.iter().filter_map(|file| file.name.to_str()?.strip_suffix(".idx"));
        // Newest first: the commits and trees that are asked for are recent ones. By name they
        // would come in no order, since names are digests.
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

    /// Returns the kind of the object, whose bytes are in `out`, if one of the packs has it.
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
    // The library takes only paths. These name the open files, so that a file that was swapped
    // meanwhile is not read instead.
    let index = index::File::at(path_of(&entries)?, Hash::Sha1).ok()?;
    let pack = data::File::at(path_of(&objects)?, Hash::Sha1).ok()?;
    // A pack may declare any size for an object; without the limit, so much would be allocated at
    // once.
    Some(Bundle { pack: pack.with_alloc_limit_bytes(Some(most_bytes)), index })
}

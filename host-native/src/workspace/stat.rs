//! What the system says of a file, a folder or a link.

pub(crate) use innerloop_tools::Kind;
use rustix::fs::FileType;

/// What stands at a path. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    /// Who may do what with it, as bits.
    pub(crate) mode: u32,
    /// How many names it has.
    pub(crate) links: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) accessed: u64,
    /// When its content was written last, as far as whoever may set that says.
    pub(crate) modified: u64,
    /// When anything of it changed last, which nobody can set.
    pub(crate) changed: u64,
}

impl Stat {
    pub(crate) fn of(found: &rustix::fs::Stat) -> Self {
        Self {
            kind: kind(FileType::from_raw_mode(found.st_mode)),
            size: number(found.st_size),
            mode: number(found.st_mode).try_into().unwrap_or(0),
            links: number(found.st_nlink),
            device: number(found.st_dev),
            inode: number(found.st_ino),
            accessed: nanoseconds(found.st_atime, found.st_atime_nsec),
            modified: nanoseconds(found.st_mtime, found.st_mtime_nsec),
            changed: nanoseconds(found.st_ctime, found.st_ctime_nsec),
        }
    }

    /// Whether nothing of it has changed since it was looked at.
    pub(crate) const fn is_still(&self, earlier: &Self) -> bool {
        self.inode == earlier.inode && self.changed == earlier.changed && self.size == earlier.size
    }
}

pub(crate) const fn kind(found: FileType) -> Kind {
    match found {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The systems give these numbers in types of their own.
fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn nanoseconds(seconds: impl TryInto<u64>, rest: impl TryInto<u64>) -> u64 {
    number(seconds).saturating_mul(1_000_000_000).saturating_add(number(rest))
}

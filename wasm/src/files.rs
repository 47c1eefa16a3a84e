//! The workspace in memory as JavaScript sees it.

use crate::{host::bytes_of, misuse::Misuse};
use innerloop_core::action::{Change, ChangeKind};
use innerloop_tools::{FileError, Files, Memory, WorkspacePath};
use js_sys::{Array, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::JsValue;

/// Larger texts are left out of a change.
const SHOWN: usize = 256 << 10;

/// Reads the path of a file.
///
/// # Errors
/// `bad_path` with what is wrong with it.
pub(crate) fn path_of(text: &str) -> Result<WorkspacePath, Misuse> {
    WorkspacePath::parse_file(text)
        .map_err(|error| Misuse::new("bad_path", format!("{text:?}: {error}")))
}

/// Writes a file.
///
/// # Errors
/// `bad_path` where a folder stands, or where a file stands in place of a folder above it.
pub(crate) fn write(files: &mut Memory, path: &str, bytes: Vec<u8>) -> Result<(), Misuse> {
    files
        .write(&path_of(path)?, bytes)
        .map_err(|error| Misuse::new("bad_path", format!("{path:?} cannot be written: {error}")))
}

/// Removes a file; whether there was one.
///
/// # Errors
/// `bad_path` where a folder stands.
pub(crate) fn remove(files: &mut Memory, path: &str) -> Result<bool, Misuse> {
    match files.remove(&path_of(path)?) {
        Ok(()) => Ok(true),
        Err(FileError::IsFolder) => {
            Err(Misuse::new("bad_path", format!("{path:?} is a folder: remove its files")))
        }
        Err(_) => Ok(false),
    }
}

/// A copy of all files: `[path, bytes]` each.
pub(crate) fn copy_out(files: &RefCell<Memory>) -> Array {
    let copies: Vec<(String, Vec<u8>)> =
        files.borrow().iter().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect();
    let pair = |(path, bytes): (String, Vec<u8>)| {
        JsValue::from(Array::of2(&path.into(), &Uint8Array::from(&*bytes).into()))
    };
    copies.into_iter().map(pair).collect()
}

/// Takes over what a program wrote, `[path, bytes]` each, and removed; says what changed, sorted
/// by path.
pub(crate) fn take_over(files: &RefCell<Memory>, written: &Array, removed: &Array) -> Vec<Change> {
    let removals = removed.iter().map(|path| (path, None));
    let writes = written.iter().map(|pair| {
        let pair = Array::from(&pair);
        (pair.get(0), Some(bytes_of(&pair.get(1))))
    });
    let named = removals.chain(writes).filter_map(|(path, after)| {
        Some((WorkspacePath::parse_file(&path.as_string()?).ok()?, after))
    });
    let left: Vec<(WorkspacePath, Option<Vec<u8>>)> = named.collect();
    let mut files = files.borrow_mut();
    let taken =
        left.into_iter().filter_map(|(path, after)| take_over_one(&mut files, &path, after));
    let mut changes: Vec<Change> = taken.collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

fn take_over_one(
    files: &mut Memory,
    path: &WorkspacePath,
    after: Option<Vec<u8>>,
) -> Option<Change> {
    let before = files.bytes(path).map(<[u8]>::to_vec);
    if before == after {
        return None;
    }
    let kind = match (&before, &after) {
        (None, _) => ChangeKind::Created,
        (Some(_), Some(_)) => ChangeKind::Modified,
        (Some(_), None) => ChangeKind::Deleted,
    };
    let (before, shown) = (shown(before.as_deref()), shown(after.as_deref()));
    let done = match after {
        Some(bytes) => files.write(path, bytes),
        None => files.remove(path),
    };
    // A file that the user has meanwhile put in the way of a folder wins over the program's.
    done.ok().map(|()| Change { path: path.to_string(), kind, before, after: shown })
}

fn shown(bytes: Option<&[u8]>) -> Option<String> {
    let bytes = bytes.filter(|bytes| bytes.len() <= SHOWN)?;
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

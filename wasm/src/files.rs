//! The workspace in memory: the class that the package's TypeScript holds, and the way of files to
//! a program's worker and back. Agents share it, so that it may change while a program runs.

use crate::{js::bytes_of, misuse::CallerError};
use innerloop_core::action::{Action, ChangeKind, Outcome, ReportedChange};
use innerloop_json::{IntoList, quoted};
use innerloop_tools::{FileError, InMemoryFiles, WorkspaceFiles, WorkspacePath, change_text};
use js_sys::{Array, Uint8Array};
use std::{cell::RefCell, rc::Rc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// A workspace in memory, which its agents share.
#[wasm_bindgen]
pub struct RawFiles {
    memory: Rc<RefCell<InMemoryFiles>>,
    /// True if the files are a copy of others that the package keeps elsewhere.
    pub(crate) is_copy: bool,
}

#[wasm_bindgen]
impl RawFiles {
    /// Makes an empty workspace. `fits_pictures` is true if the package makes pictures smaller
    /// before a model sees them.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(is_copy: bool, fits_pictures: bool) -> Self {
        Self { memory: Rc::new(InMemoryFiles::fitting_pictures(fits_pictures).into()), is_copy }
    }

    /// Returns a copy of a file's bytes; `undefined` if there is no such file.
    ///
    /// # Errors
    /// `bad_path`.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, JsValue> {
        let path = path_of(path)?;
        Ok(self.memory.borrow().bytes(&path).map(<[u8]>::to_vec))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// `bad_path` if the path is that of a folder, or if a folder above it is a file.
    pub fn write(&self, path: &str, bytes: Vec<u8>) -> Result<(), JsValue> {
        let written = self.memory.borrow_mut().write(&path_of(path)?, bytes);
        Ok(written
            .map_err(|error| bad_path(&format!("{} cannot be written: {error}", quoted(path))))?)
    }

    /// Removes a file and returns whether there was one.
    ///
    /// # Errors
    /// `bad_path` if the path is that of a folder.
    pub fn remove(&self, path: &str) -> Result<bool, JsValue> {
        match self.memory.borrow_mut().remove(&path_of(path)?) {
            Ok(()) => Ok(true),
            Err(FileError::IsFolder) => {
                Err(bad_path(&format!("{} is a folder: remove its files", quoted(path))).into())
            }
            Err(_) => Ok(false),
        }
    }

    /// Returns the paths of all files, sorted.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        self.memory.borrow().iter().map(|(path, _)| path.to_owned()).into_list()
    }

    /// Carries out an action of a built-in tool, as JSON, for an agent in `folder`, and returns its
    /// outcome as JSON. What the model knows of the files is a list in JSON, or `null`.
    ///
    /// # Errors
    /// `bad_option` if the JSON is not an action; `unsupported` for a program, which needs an
    /// agent.
    pub fn perform(&self, action: &str, folder: &str, known: &str) -> Result<String, JsValue> {
        let known: Option<Vec<Option<String>>> =
            innerloop_json::from_str(known).map_err(CallerError::from)?;
        let action: Action = innerloop_json::from_str(action).map_err(CallerError::from)?;
        if matches!(action, Action::RunProgram { .. } | Action::Shell { .. }) {
            let message = "programs run in a worker, which only an agent starts";
            return Err(CallerError::new("unsupported", message).into());
        }
        Ok(innerloop_json::to_string(&perform(&self.memory, folder, &action, known.as_deref())))
    }
}

impl RawFiles {
    /// Returns the files themselves, shared and not copied.
    pub(crate) fn memory(&self) -> Rc<RefCell<InMemoryFiles>> {
        Rc::clone(&self.memory)
    }
}

/// Carries out an action of a built-in tool for an agent in `folder`, whose model knows so much of
/// the files.
pub(crate) fn perform(
    files: &RefCell<InMemoryFiles>,
    folder: &str,
    action: &Action,
    known: Option<&[Option<String>]>,
) -> Outcome {
    if !cfg!(feature = "tools") {
        return no_tools();
    }
    innerloop_tools::perform_known(&mut *files.borrow_mut(), folder, action, known)
}

/// Returns the outcome of a built-in tool in a module that was built without them.
pub(crate) fn no_tools() -> Outcome {
    let message = "this build of innerloop has no built-in tools";
    Outcome::error(innerloop_core::action::ToolError::UnknownTool, message)
}

fn path_of(text: &str) -> Result<WorkspacePath, CallerError> {
    WorkspacePath::parse_file(text).map_err(|error| bad_path(&format!("{}: {error}", quoted(text))))
}

fn bad_path(message: &str) -> CallerError {
    CallerError::new("bad_path", message)
}

/// Copies all files of a folder: `[path in it, bytes]` each.
pub(crate) fn copy_out(files: &RefCell<InMemoryFiles>, folder: &str) -> Array {
    let top = prefix(folder);
    let files = files.borrow();
    let copy =
        |(path, bytes): (&str, &[u8])| Some((path.strip_prefix(&top)?.to_owned(), bytes.to_vec()));
    let copies: Vec<(String, Vec<u8>)> = files.iter().filter_map(copy).into_list();
    let pair = |(path, bytes): (String, Vec<u8>)| {
        JsValue::from(Array::of2(&path.into(), &Uint8Array::from(&*bytes).into()))
    };
    copies.into_iter().map(pair).collect()
}

/// Returns the beginning that the paths of all files of a folder share.
fn prefix(folder: &str) -> String {
    // With the slash: the folder `a` does not hold `ab/c`.
    if folder.is_empty() { String::new() } else { format!("{folder}/") }
}

/// Takes over the files that a program wrote in a folder, `[path in it, bytes]` each, and those
/// that it removed. Returns the changes, sorted by path.
pub(crate) fn take_over(
    files: &RefCell<InMemoryFiles>,
    folder: &str,
    written: &Array,
    removed: &Array,
) -> Vec<ReportedChange> {
    let top = prefix(folder);
    let mut left = Vec::new();
    let mut enter = |path: &JsValue, after: Option<Vec<u8>>| {
        let path = path.as_string().map(|path| WorkspacePath::parse_file(&(top.clone() + &path)));
        if let Some(Ok(path)) = path {
            left.push((path, after));
        }
    };
    // Removals first: where a program has put a file in place of a folder, or the reverse, the new
    // one could not be written while the old one is there.
    removed.iter().for_each(|path| enter(&path, None));
    for pair in written.iter() {
        let pair = Array::from(&pair);
        enter(&pair.get(0), Some(bytes_of(&pair.get(1))));
    }
    let mut files = files.borrow_mut();
    let mut changes = Vec::new();
    for (path, after) in left {
        changes.extend(take_over_one(&mut files, &path, after));
    }
    innerloop_json::sort(&mut changes, |a, b| a.path.cmp(&b.path));
    changes
}

fn take_over_one(
    files: &mut InMemoryFiles,
    path: &WorkspacePath,
    after: Option<Vec<u8>>,
) -> Option<ReportedChange> {
    let before = files.bytes(path).map(<[u8]>::to_vec);
    // Programs write files anew that stay the same. Such a file is no change, of which the user is
    // told and which undo would have to know.
    if before == after {
        return None;
    }
    let kind = match (&before, &after) {
        (None, _) => ChangeKind::Created,
        (Some(_), Some(_)) => ChangeKind::Modified,
        (Some(_), None) => ChangeKind::Deleted,
    };
    let [before, shown] = [&before, &after].map(|bytes| change_text(bytes.as_deref()?));
    let done = match after {
        Some(bytes) => files.write(path, bytes),
        None => files.remove(path),
    };
    // Where the user has meanwhile put a file in place of a folder, the write fails, and the user's
    // file wins: what was not written is no change.
    done.ok().map(|()| ReportedChange { path: path.to_string(), kind, before, after: shown })
}

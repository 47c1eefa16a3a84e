//! Files that fail on purpose, for tests of what the tools do then. They stand in front of any
//! other files and count operations, so that a test can let each one fail in turn.

use crate::{
    files::{FileError, FileStat, FolderEntry, WorkspaceFiles},
    path::WorkspacePath,
};
use std::{borrow::Cow, cell::Cell};

/// Files that pass each operation on, except for those that are to fail.
#[derive(Clone, Debug)]
pub struct FaultyFiles<F> {
    inner: F,
    fault: FileError,
    when: FaultTrigger,
    operations: Cell<u64>,
}

#[derive(Clone, Debug)]
enum FaultTrigger {
    Operation(u64),
    Path(String),
    Writes,
}

impl<F: WorkspaceFiles> FaultyFiles<F> {
    /// Lets the `n`th operation fail, counted from 1, and no other.
    pub fn operation(inner: F, n: u64, fault: FileError) -> Self {
        Self { inner, fault, when: FaultTrigger::Operation(n), operations: Cell::new(0) }
    }

    /// Lets every operation on `path` fail.
    pub fn path(inner: F, path: &WorkspacePath, fault: FileError) -> Self {
        let when = FaultTrigger::Path(path.as_str().to_owned());
        Self { inner, fault, when, operations: Cell::new(0) }
    }

    /// Lets every write and every removal fail.
    pub fn writes(inner: F, fault: FileError) -> Self {
        Self { inner, fault, when: FaultTrigger::Writes, operations: Cell::new(0) }
    }

    /// Returns how many operations there were, those that failed included.
    pub fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// Returns the files behind these.
    pub fn into_inner(self) -> F {
        self.inner
    }

    fn pass(&self, path: &WorkspacePath, writes: bool) -> Result<(), FileError> {
        let operation = self.operations.get().saturating_add(1);
        self.operations.set(operation);
        let fails = match &self.when {
            FaultTrigger::Operation(n) => *n == operation,
            FaultTrigger::Path(failing) => failing == path.as_str(),
            FaultTrigger::Writes => writes,
        };
        if fails { Err(self.fault.clone()) } else { Ok(()) }
    }
}

impl<F: WorkspaceFiles> WorkspaceFiles for FaultyFiles<F> {
    // `move_to` stays the trait's: a write and a removal, each of which can fail by itself.
    fn read(&self, path: &WorkspacePath) -> Result<Cow<'_, [u8]>, FileError> {
        self.pass(path, false)?;
        self.inner.read(path)
    }

    fn write(&mut self, path: &WorkspacePath, bytes: Vec<u8>) -> Result<(), FileError> {
        self.pass(path, true)?;
        self.inner.write(path, bytes)
    }

    fn remove(&mut self, path: &WorkspacePath) -> Result<(), FileError> {
        self.pass(path, true)?;
        self.inner.remove(path)
    }

    fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileError> {
        self.pass(path, false)?;
        self.inner.stat(path)
    }

    fn list(&self, path: &WorkspacePath) -> Result<Vec<FolderEntry>, FileError> {
        self.pass(path, false)?;
        self.inner.list(path)
    }
}

//! The limits of one run, and of all runs of a session together. They are counted in
//! [`quota`](super::quota).

/// The limits of one run. The guests of a command line share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Bytes of linear memory.
    pub memory_bytes: usize,
    /// Elements of a table (functions that can be called by reference).
    pub table_elements: usize,
    /// Files, folders and streams that are open at the same time.
    pub open_files: usize,
    /// Bytes of standard output and standard error together. Going beyond ends the run.
    pub output_bytes: u64,
    /// Bytes of each output that are kept: half from the start, half from the end.
    pub kept_output_bytes: usize,
    /// Bytes written to files, counting gaps that a seek leaves, 4 KiB for each new entry, and the
    /// lengths of new and moved paths. Going beyond ends the run.
    pub disk_bytes: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            // CPython and clang need more than 10,000.
            table_elements: 200_000,
            open_files: 512,
            output_bytes: 64 << 20,
            kept_output_bytes: 2 << 20,
            disk_bytes: 256 << 20,
        }
    }
}

/// The limits of all runs of one session together. Without them, many runs at once, or one after
/// the other, would add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Bytes of linear memory at the same time.
    pub memory_bytes: usize,
    /// Bytes of folder listings that are held at the same time.
    pub listing_bytes: usize,
    /// Bytes of output. Going beyond ends the run that prints.
    pub output_bytes: u64,
    /// Bytes written, counted as those of one run. Going beyond ends the run that writes.
    pub disk_bytes: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 << 30,
            listing_bytes: 64 << 20,
            output_bytes: 1 << 30,
            disk_bytes: 4 << 30,
        }
    }
}

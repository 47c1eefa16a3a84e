//! What one run may use at most, and the limiter that wasmtime asks before a memory or table
//! grows.

use wasmtime::{ResourceLimiter, Result};

/// The most that one run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of linear memory.
    pub memory_bytes: usize,
    /// Elements of a table (functions that can be called by reference).
    pub table_elements: usize,
    /// Files, folders and streams that are open at the same time.
    pub open_files: usize,
    /// Bytes of standard output and standard error together; more end the run.
    pub output_bytes: u64,
    /// Bytes of each of the two outputs that are kept: half from the start, half from the end.
    pub kept_output_bytes: usize,
    /// Bytes written to files, counting gaps that a seek leaves and 4 KiB for each new entry;
    /// more end the run.
    pub disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            table_elements: 200_000,
            open_files: 512,
            output_bytes: 64 << 20,
            kept_output_bytes: 2 << 20,
            disk_bytes: 256 << 20,
        }
    }
}

/// Counts one run's memory and tables.
#[derive(Debug)]
pub(super) struct RunLimiter {
    memory_bytes: usize,
    table_elements: usize,
    /// Whether the run asked for more memory than it may have. It may have coped with the
    /// refusal, so this only explains a failure that follows.
    pub(super) refused_memory: bool,
}

impl RunLimiter {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: limits.memory_bytes,
            table_elements: limits.table_elements,
            refused_memory: false,
        }
    }
}

impl ResourceLimiter for RunLimiter {
    fn memory_growing(&mut self, _now: usize, wanted: usize, _max: Option<usize>) -> Result<bool> {
        let fits = wanted <= self.memory_bytes;
        self.refused_memory |= !fits;
        Ok(fits)
    }

    fn table_growing(&mut self, _now: usize, wanted: usize, _max: Option<usize>) -> Result<bool> {
        Ok(wanted <= self.table_elements)
    }

    fn instances(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        8
    }
}

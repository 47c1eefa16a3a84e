//! A count of the bytes that readers look at. Only this project's own tests use it, to compare the
//! work of reading with the length of the text: measured time would depend on the machine.

/// Counts bytes that are looked at; does nothing outside tests.
#[cfg(not(feature = "seams"))]
// An empty function instead of a `cfg` at each caller: the compiler removes the call.
pub const fn count(_bytes: usize) {}

#[cfg(feature = "seams")]
pub use counted::count;
#[cfg(feature = "seams")]
pub use counted::taken;

#[cfg(feature = "seams")]
mod counted {
    use core::cell::Cell;

    // Tests run side by side in threads, and each counts only its own work.
    std::thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts bytes that are looked at.
    pub fn count(bytes: usize) {
        BYTES.with(|all| all.set(all.get().saturating_add(bytes)));
    }

    /// Returns the number of bytes that this thread has looked at since the last call, and resets
    /// it.
    #[must_use]
    pub fn taken() -> usize {
        BYTES.with(Cell::take)
    }
}

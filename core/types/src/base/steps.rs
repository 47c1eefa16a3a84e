//! The work of reading a text, in bytes that are looked at. It is counted only for this project's
//! own tests, which hold it against the text's length: time would say as much of the machine.

/// So many bytes are looked at.
#[cfg(not(feature = "seams"))]
pub const fn count(_bytes: usize) {}

#[cfg(feature = "seams")]
pub use counted::count;
#[cfg(feature = "seams")]
pub use counted::taken;

#[cfg(feature = "seams")]
mod counted {
    use core::cell::Cell;

    std::thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    /// So many bytes are looked at.
    pub fn count(bytes: usize) {
        BYTES.with(|all| all.set(all.get().saturating_add(bytes)));
    }

    /// Returns how many bytes this thread has looked at since it was asked last.
    #[must_use]
    pub fn taken() -> usize {
        BYTES.with(Cell::take)
    }
}

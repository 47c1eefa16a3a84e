//! Our implementations beside other crates, which are too large for the product.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect is to fail at once"
)]

mod lines;
mod schema;

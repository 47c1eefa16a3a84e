//! The scanner of secrets: it finds the keys and passwords of common providers in text, puts masks
//! in their places, and puts them back into text that is written to the file they came from. A mask
//! names the kind of its secret and a digest, so that equal secrets have equal masks and nothing
//! has to be remembered: the file has the secret.
//!
//! Everything that enters a session is scanned, whoever wrote it: time and memory grow with the
//! length of the text and with nothing else.

mod assignment;
mod cursor;
mod digest;
mod kinds;
mod mask;
mod pem;
mod restore;
mod scan;
mod scanner;
mod shape;
mod stream;
mod url;

#[cfg(feature = "seams")]
pub use kinds::all_lines;
pub use mask::{has_mask, mask_key, without_digests};
pub use restore::FileSecrets;
pub use scanner::SecretScanner;
pub use stream::SecretStream;

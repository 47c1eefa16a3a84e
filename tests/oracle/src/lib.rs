//! Nothing lives here: this package is its test, which holds our schema checker beside the crate
//! `jsonschema`.

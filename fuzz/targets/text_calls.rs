//! Calls and thinking in a model's text.
#![no_main]

use innerloop_tests::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzzing::text_calls(data));

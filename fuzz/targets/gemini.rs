//! The decoder of Gemini.
#![no_main]

use innerloop_tests::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzzing::gemini(data));

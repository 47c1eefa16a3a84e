//! The decoder of OpenAI Chat Completions.
#![no_main]

use innerloop_tests::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fuzzing::openai_chat(data));

//! Small random changes of an input: what the tests do without a fuzzer.

use crate::simulator::rng::Rng;

/// Pieces that inputs of all kinds consist of.
const TOKENS: [&str; 24] = [
    "\n", "\r\n", "\n\n", "data: ", "{", "}", "[", "]", "\"", "\\", "\\u", "\\ud83d", ",", ":",
    "null", "-1", "1e99", "\u{feff}", "é", "😀", "```", "<", "|>", "*** ",
];

/// One of the inputs with up to four changes; the same for the same seed.
///
/// # Panics
/// If there are no inputs.
#[must_use]
pub fn changed(inputs: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut data = inputs[rng.index(inputs.len())].clone();
    // The setting and the seed of the cuts are chosen anew.
    for byte in data.iter_mut().take(3) {
        *byte = u8::try_from(rng.below(256)).unwrap();
    }
    for _ in 0..rng.between(1, 4) {
        change(&mut data, inputs, &mut rng);
    }
    data
}

fn change(data: &mut Vec<u8>, inputs: &[Vec<u8>], rng: &mut Rng) {
    let from = 3.min(data.len()) + rng.index(data.len().saturating_sub(3) + 1);
    let to = (from + rng.index(64)).min(data.len());
    match rng.below(6) {
        0 => drop(data.drain(from..to)),
        1 => data.truncate(from),
        2 => {
            let again = data[from..to].to_vec();
            drop(data.splice(from..from, again));
        }
        3 => {
            let other = &inputs[rng.index(inputs.len())];
            let begin = rng.index(other.len());
            let end = (begin + rng.index(200)).min(other.len());
            drop(data.splice(from..to, other[begin..end].iter().copied()));
        }
        4 if from < data.len() => data[from] = u8::try_from(rng.below(256)).unwrap(),
        _ => drop(data.splice(from..from, rng.pick(&TOKENS).bytes())),
    }
}

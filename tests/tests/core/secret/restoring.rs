//! Masks are put back into the file that they came from, and nowhere else.

use super::{GITHUB, OTHER_GITHUB, masked, scanner, unmasked};
use innerloop_core::secret::mask_key;
use innerloop_tests::{made_secrets, simulator::rng::Rng};
use std::collections::HashMap;

#[test]
fn n24_what_was_masked_is_put_back_to_the_byte() {
    let scanner = scanner(8);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let file = match seed % 2 {
            0 => made_secrets::text(&mut rng),
            _ => made_secrets::pieces(&mut rng),
        };
        // Masks that stand in the file itself stand for nothing.
        let file = file.replace("‹secret:", "");
        let shown = masked(&scanner, &file);
        assert_eq!(unmasked(&scanner, &shown, &file), (file.clone(), 0), "{seed}");
        let edited = format!("first line\n{shown}\nlast line");
        let expected = format!("first line\n{file}\nlast line");
        assert_eq!(unmasked(&scanner, &edited, &file), (expected, 0), "{seed}");
    }
}

#[test]
fn n24_masks_of_another_file_stay_and_are_counted() {
    let scanner = scanner(9);
    let one = format!("A={GITHUB}\n");
    let both = format!("{one}B={OTHER_GITHUB}\n");
    let shown = masked(&scanner, &both);
    let mask = masked(&scanner, OTHER_GITHUB);
    assert_eq!(unmasked(&scanner, &shown, &one), (format!("{one}B={mask}\n"), 1));
    // Those of another session stay, too.
    assert_eq!(unmasked(&super::scanner(10), &shown, &both), (shown, 2));
}

#[test]
fn n24_keys_without_a_shape_are_found_by_length_and_digest() {
    let scanner = scanner(11);
    let keys = ["abcdefgh", "some key of twenty-four!", "höher-weiter-schneller"];
    let file = format!("x {} y {} z {} {}", keys[0], keys[1], keys[2], keys[1]);
    let mask = |text: String, key: &&str| text.replace(*key, &mask_key(key.as_bytes()));
    let shown = keys.iter().fold(file.clone(), mask);
    assert_eq!(unmasked(&scanner, &shown, &file), (file, 0));
    assert_eq!(unmasked(&scanner, &shown, "short"), (shown.clone(), 3));
    // Lengths that no key has.
    for len in [7, 513] {
        let key = "k".repeat(len);
        assert_eq!(unmasked(&scanner, &mask_key(key.as_bytes()), &key).1, 1);
    }
}

#[test]
fn n24_a_mask_of_two_secrets_is_not_put_back() {
    let scanner = scanner(12);
    // Of so many keys, two have the same 24 bits.
    let mut masks = HashMap::new();
    let key = |number: u64| format!("ghp_{number:036}");
    let (one, other) = (0..)
        .find_map(|number| {
            let one = masks.insert(masked(&scanner, &key(number)), number)?;
            Some((key(one), key(number)))
        })
        .unwrap();
    let file = format!("{one}\n{other}\n");
    let shown = masked(&scanner, &file);
    assert_eq!(unmasked(&scanner, &shown, &file), (shown, 1));
}

#[test]
fn what_only_looks_like_a_mask_stays() {
    let file = format!("A={GITHUB}");
    for text in [
        "‹secret:",
        "‹secret:github",
        "‹secret:github:3f9a2c",
        "‹secret:github:3f9a2›",
        "‹secret:GitHub:3f9a2c›",
        "‹secret::3f9a2c›",
        "‹secret:‹secret:github:3F9A2C›",
    ] {
        assert_eq!(unmasked(&scanner(13), text, &file), (text.to_owned(), 0));
    }
}

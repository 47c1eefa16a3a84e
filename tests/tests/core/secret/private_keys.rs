//! Private keys: each line has a mask of its own, whatever a tool puts before it, so that a text
//! keeps its lines.

use super::{masked, scanner, streamed, unmasked};
use innerloop_core::secret::without_digests;
use innerloop_tests::{made_secrets::MadeSecret, simulator::rng::Rng};

/// No piece of a line as long as this is seen.
const PIECE: usize = 12;

fn body(lines: &str, rng: &mut Rng) -> MadeSecret {
    MadeSecret::by_shape(("pem", lines), rng)
}

/// A file with a key between other lines, as tools number lines.
fn numbered(file: &str) -> [String; 6] {
    let by = |shown: &dyn Fn(usize, &str) -> String| {
        (1..).zip(file.lines()).map(|(number, line)| shown(number, line) + "\n").collect()
    };
    [
        by(&|number, line| format!("{number:6}\t{line}")),
        by(&|number, line| format!("{number} | {line}")),
        by(&|number, line| format!("{number:>5}| {line}")),
        by(&|number, line| format!("file:{number}:{line}")),
        by(&|number, line| format!("keys/a-key.pem-{}-{line}", number + 1_000)),
        by(&|_, line| format!("+{line}")),
    ]
}

#[test]
fn n24_a_private_key_in_numbered_lines_is_masked_and_put_back() {
    let mut rng = Rng::new(20);
    for (name, lines) in [
        ("RSA PRIVATE KEY", "{b64}\n{b64}\n{b64}\n{b64}\n{b30}=="),
        ("PRIVATE KEY", "{b64}\n{b64}\n{b14}=="),
        ("OPENSSH PRIVATE KEY", "{b70}\n{b70}\n{b70}\n{b9}"),
    ] {
        let (made, scanner) = (body(lines, &mut rng), scanner(21));
        let key = made.text();
        let file = format!("a = 1\n-----BEGIN {name}-----\n{key}\n-----END {name}-----\nb = 2\n");
        for text in numbered(&file) {
            let shown = masked(&scanner, &text);
            assert!(!made.leaks(&shown, PIECE), "{shown}");
            assert_eq!(shown.lines().count(), text.lines().count(), "{shown}");
            assert_eq!(unmasked(&scanner, &shown, &file), (text.clone(), 0), "{shown}");
            for max in [1, 7, 80] {
                assert_eq!(streamed(&scanner, &text, &mut rng, max), shown);
            }
        }
    }
}

#[test]
fn j19_a_private_key_without_an_end_is_masked_to_its_last_line() {
    let mut rng = Rng::new(22);
    let key = body("{b64}\n{b64}\n{b64}\n{b22}==", &mut rng).text();
    let file = format!("-----BEGIN EC PRIVATE KEY-----\n{key}\n\nThen comes text, of some words.");
    let (masks, rest) = ("‹secret:pem›\n".repeat(4), "\nThen comes text, of some words.");
    let expected = format!("-----BEGIN EC PRIVATE KEY-----\n{masks}{rest}");
    let numbered = |text: &str| {
        (1..).zip(text.lines()).map(|(number, line)| format!("{number}\t{line}\n")).collect()
    };
    for number in [str::to_owned, numbered as fn(&str) -> String] {
        let shown = masked(&scanner(0), &number(&file));
        assert_eq!(without_digests(&shown), number(&expected));
    }
}

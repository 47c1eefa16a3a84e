//! A stream is masked as the whole text is, however it is cut.

use super::{GITHUB, masked, scanner, streamed};
use innerloop_core::secret::{SecretScanner, SecretStream};
use innerloop_tests::{made_secrets, simulator::rng::Rng};

#[test]
fn j19_a_stream_is_masked_as_the_whole_text_however_it_is_cut() {
    let scanner = scanner(5);
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let text = match seed % 2 {
            0 => made_secrets::text(&mut rng),
            _ => made_secrets::pieces(&mut rng),
        };
        let whole = masked(&scanner, &text);
        for max in [1, 2, 7, 40, 300, 5_000] {
            assert_eq!(streamed(&scanner, &text, &mut rng, max), whole, "{seed} {max}: {text:?}");
        }
    }
}

#[test]
fn ordinary_text_goes_through_at_once() {
    let text = "Some words of a text, with a = 1; b: 2 and https://example.com/path?x=1 - so on.\n";
    let mut stream = SecretStream::new(&scanner(0));
    let (mut given, mut got) = (0, 0);
    for piece in text.repeat(20).as_bytes().chunks(3) {
        given += piece.len();
        got += stream.push(piece.to_vec()).len();
        assert!(given - got <= 24, "{} held", given - got);
    }
    // Where nothing is held, not even a copy is made.
    let mut stream = SecretStream::new(&scanner(0));
    let piece = text.as_bytes().to_vec();
    let place = piece.as_ptr();
    let out = stream.push(piece);
    assert_eq!(out.as_ptr(), place);
}

#[test]
fn k16_a_stream_lets_through_what_is_allowed() {
    let text = format!("{GITHUB} {GITHUB}");
    let scanner = SecretScanner::new(1, &["9abc".to_owned()]);
    assert_eq!(streamed(&scanner, &text, &mut Rng::new(6), 9), text);
}

#[test]
fn a_stream_without_settings_goes_through() {
    let mut stream = SecretStream::default();
    assert_eq!(stream.push(GITHUB.into()), GITHUB.as_bytes());
    assert!(stream.end().is_empty());
}

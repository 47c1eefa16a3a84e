//! Made secrets are masked whole, and what looks like them is left alone.

use super::{GITHUB, OTHER_GITHUB, masked, scanner};
use innerloop_core::secret::{SecretScanner, all_lines, has_mask, mask_key, without_digests};
use innerloop_tests::{
    made_secrets::{MadeSecret, SHAPES},
    simulator::rng::Rng,
};
use std::borrow::Cow;

/// How many secrets are made by the scanner's own table, and how many by independent shapes.
const MADE: usize = 5_000;

/// Each of the secrets is masked from its first to its last character, with all else in its place,
/// but for one in a hundred: a run may end as a shape of another kind begins, or with a sign that
/// its place continues.
#[track_caller]
fn check(from: &[(&str, MadeSecret)], rng: &mut Rng) {
    let scanner = scanner(7);
    let mut missed = Vec::new();
    for (from, made) in from {
        let text = made.placed(rng);
        let masked = masked(&scanner, &text);
        let mask = format!("‹secret:{}›", made.kind);
        let expected =
            made.masked_parts().iter().fold(text.clone(), |text, part| text.replace(part, &mask));
        if without_digests(&masked) != expected {
            missed.push(format!("{from}\n  {text:?}\n  {masked:?}"));
        }
    }
    assert!(missed.len() * 100 <= from.len(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn j19_keys_made_by_the_table_are_masked_whole() {
    let mut rng = Rng::new(1);
    let lines: Vec<&str> = all_lines().collect();
    let made = (0..MADE).map(|number| {
        let line = lines[number % lines.len()];
        (line, MadeSecret::by_line(line, &mut rng))
    });
    let made: Vec<_> = made.collect();
    check(&made, &mut rng);
}

#[test]
fn j19_keys_of_published_shapes_are_masked_whole() {
    let mut rng = Rng::new(2);
    let made = (0..MADE).map(|number| {
        let shape = SHAPES[number % SHAPES.len()];
        (shape.1, MadeSecret::by_shape(shape, &mut rng))
    });
    let made: Vec<_> = made.collect();
    check(&made, &mut rng);
}

#[test]
fn k16_every_kind_is_named_in_every_place() {
    let mut rng = Rng::new(3);
    let scanner = scanner(0);
    let mut lines: Vec<_> = all_lines().collect();
    assert!(lines.len() >= 81);
    lines.dedup();
    for line in lines {
        let named = (0..32).filter(|_| {
            let made = MadeSecret::by_line(line, &mut rng);
            let mut kinds = Vec::new();
            let _masked = scanner.masked(&made.placed(&mut rng), &mut kinds);
            kinds.contains(&made.kind.as_str())
        });
        let named = named.count();
        assert!(named >= 29, "{line}: {named} of 32");
    }
}

/// Code, settings and addresses without secrets.
const ORDINARY: [&str; 28] = [
    "",
    "sk-",
    "task-01234567890123456789012345678901234567890123",
    "key = some_function_name_1(a, b)",
    "const token = process.env.SOME_TOKEN_NAME_2 || undefined",
    "publicKeyToken=31bf3856ad364e35",
    "\"integrity\": \"sha512-8Ypn2v0dr5Y0Ig0x0G2cT0Q4LwQ0p5M1h0oGqg==\"",
    "cache_key: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "\"key\": \"550e8400-e29b-41d4-a716-446655440000\"",
    "TOKEN=‹secret:github:3f9a2c›",
    "postgres://user:‹secret:url-password:3f9a2c›@host/db",
    "postgres://user:password@host/db",
    "postgres://user:${DB_PASSWORD}@host/db",
    "postgres://$USER:$PASS_WORD@host/db",
    "https://user:{password}@host",
    "https://user:<password>@host",
    "https://user:%(password)s@host",
    "https://user:xxxxxxxx@host",
    "https://user:********@host",
    "https://user:abc@host",
    "http://localhost:8080/a@b",
    "ssh://git@github.com:owner/repo",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\n\
     MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n\
     4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0/IzW7yWR7QkrmBL7jTKEn5u\n\
     -----END PUBLIC KEY-----",
    "if line == \"-----BEGIN RSA PRIVATE KEY-----\" { parse_the_body_of_the_key(line, rest); }",
    "monkey: aVeryLongIdentifierOfSomething",
    "SECRET_KEY_PATH_TOKEN=/usr/share/lib1/a2/b3/config.json",
    "API_KEY=your-api-key-goes-here-1234567890",
];

#[test]
fn ordinary_text_is_left_alone() {
    let scanner = scanner(0);
    for text in ORDINARY {
        let masked = scanner.masked(text, &mut Vec::new());
        assert!(matches!(masked, Cow::Borrowed(_)), "{text}: {masked}");
    }
}

#[test]
fn k16_a_mask_names_the_kind_and_depends_on_salt_and_secret() {
    let one = scanner(1);
    let mask = masked(&one, GITHUB);
    assert!(mask.starts_with("‹secret:github:") && mask.ends_with('›') && has_mask(&mask));
    assert_eq!(mask.len(), "‹secret:github:3f9a2c›".len());
    assert_eq!(without_digests(&mask), "‹secret:github›");
    let mut kinds = Vec::new();
    let text = one.masked(&format!("a {GITHUB} b {GITHUB}\n"), &mut kinds).into_owned();
    assert_eq!(text, format!("a {mask} b {mask}\n"));
    assert_eq!(kinds, ["github"]);
    assert_ne!(masked(&scanner(2), GITHUB), mask);
    assert_ne!(masked(&one, OTHER_GITHUB), mask);
    assert!(mask_key(&[b'x'; 32]).starts_with("‹secret:key32:"));
    // Whoever has the salt can try texts until one has the mask's digest.
    assert_eq!(format!("{:?}", scanner(77_777)), "SecretScanner");
}

#[test]
fn masked_text_is_not_masked_again() {
    let mut rng = Rng::new(9);
    let scanner = scanner(3);
    for _ in 0..1_000 {
        let text = MadeSecret::any(&mut rng).placed(&mut rng);
        let once = masked(&scanner, &text);
        assert_eq!(masked(&scanner, &once), once, "{text}");
    }
}

#[test]
fn k16_what_is_allowed_is_left_alone() {
    let scanner = SecretScanner::new(1, &[String::new(), "6789abcdefghijABC".to_owned()]);
    let mask = masked(&scanner, OTHER_GITHUB);
    assert!(has_mask(&mask));
    let text = format!("{GITHUB} {OTHER_GITHUB}");
    assert_eq!(masked(&scanner, &text), format!("{GITHUB} {mask}"));
}

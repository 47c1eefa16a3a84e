//! Reading and writing side by side with `serde_json`, over values and texts from a seeded
//! generator.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect is to fail at once"
)]

use innerloop_json::{Json, MAX_DEPTH, Reader, Value, ValueKind, from_str, to_string};

/// xorshift: the same values on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 16] = [
            'a', 'Z', '0', ' ', '"', '\\', '/', '\n', '\t', '\u{8}', '\u{c}', '\u{1}', 'é',
            '\u{7f}', '🦀', '\u{2028}',
        ];
        let len = self.below(24);
        (0..len).map(|_| CHARS[self.below(16) as usize]).collect()
    }

    fn number(&mut self) -> serde_json::Value {
        match self.below(5) {
            0 => self.below(1000).into(),
            1 => self.next().into(),
            2 => (self.next() as i64).into(),
            3 => (self.below(2000) as f64 / 8.0).into(),
            _ => serde_json::Number::from_f64(f64::from_bits(self.next()))
                .map_or(serde_json::Value::Null, Into::into),
        }
    }

    fn value(&mut self, depth: u32) -> serde_json::Value {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => serde_json::Value::Null,
            1 => (self.below(2) == 0).into(),
            2 => self.number(),
            3 => self.text().into(),
            4 => {
                let len = self.below(4);
                (0..len).map(|_| self.value(depth - 1)).collect::<Vec<_>>().into()
            }
            _ => {
                let len = self.below(4);
                let fields = (0..len).map(|_| (self.text(), self.value(depth - 1)));
                serde_json::Value::Object(fields.collect())
            }
        }
    }
}

#[test]
fn what_is_written_is_what_serde_json_writes() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4000 {
        let theirs = random.value(4);
        let json = serde_json::to_string(&theirs).unwrap();
        let ours: Value = from_str(&json).unwrap();
        assert_eq!(to_string(&ours), json);
        let pretty = serde_json::to_string_pretty(&theirs).unwrap();
        assert_eq!(from_str::<Value>(&pretty).unwrap(), ours);
    }
}

#[test]
fn what_is_refused_is_what_serde_json_refuses() {
    const BITS: [&str; 30] = [
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\\", "\\u", "d800", "\\udc00", "00", "1",
        "-", "0", ".", "e", "+", "5", "true", "null", "fals", " ", "\n", "\u{0}", "é", "\"b\":",
        "1e5", "[]",
    ];
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..60_000 {
        let len = 1 + random.below(7);
        let text: String = (0..len).map(|_| BITS[random.below(30) as usize]).collect();
        check(&text);
        let mut bytes = serde_json::to_vec(&random.value(3)).unwrap();
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = b"{}[],:\"\\x0 "[random.below(11) as usize];
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check(text);
        }
    }
}

#[track_caller]
fn check(text: &str) {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    let ours = from_str::<Value>(text);
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} {theirs:?}");
    let raw = serde_json::from_str::<Box<serde_json::value::RawValue>>(text);
    let json = Json::parse(text);
    assert_eq!(json.is_ok(), raw.is_ok(), "{text:?}: {json:?} {raw:?}");
    // Of floating numbers `serde_json` reads a neighbour, now and then.
    if let (Ok(ours), Ok(theirs)) = (ours, theirs)
        && !text.contains(['.', 'e'])
    {
        assert_eq!(to_string(&ours), theirs.to_string());
    }
}

#[test]
fn numbers_are_kept_as_serde_json_keeps_them() {
    for text in [
        "0",
        "-0",
        "-1",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1.0",
        "1e3",
        "1E-7",
        "0.1",
        "123456789012345680",
        "1e21",
        "1e300",
        "5e-324",
        "1.7976931348623157e308",
        "2.5e-7",
    ] {
        let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
        let ours: Value = from_str(text).unwrap();
        assert_eq!(to_string(&ours), theirs.to_string());
        assert_eq!(ours.as_u64(), theirs.as_u64());
        assert_eq!(ours.as_i64(), theirs.as_i64());
        assert_eq!(ours.as_f64(), theirs.as_f64());
    }
    for text in ["1e400", "-1e999", "01", "1.", ".5", "+1", "1e", "--1", "NaN", "0x1"] {
        assert!(from_str::<Value>(text).is_err(), "{text}");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
    }
}

#[test]
fn lone_surrogates_are_kept_raw_refused_as_text_and_replaced_on_demand() {
    let json = r#""a\ud800\u0041\udc00\ud83e\udd80""#;
    assert_eq!(Json::parse(json).unwrap().text(), json);
    assert!(from_str::<String>(json).is_err());
    assert_eq!(Reader::new(json).string_lossy().unwrap(), "a\u{fffd}A\u{fffd}🦀");
}

#[test]
fn nesting_is_bounded_and_the_stack_is_safe() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let most = usize::from(MAX_DEPTH);
    for depth in [most, most + 1, 1_000_000] {
        let text = nested(depth);
        assert_eq!(from_str::<Value>(&text).is_ok(), depth <= most);
        assert_eq!(Json::parse(&text).is_ok(), depth <= most);
    }
    assert!(serde_json::from_str::<serde_json::Value>(&nested(most)).is_ok());
    assert!(serde_json::from_str::<serde_json::Value>(&nested(most + 1)).is_err());
}

#[test]
fn a_reader_walks_objects_and_arrays_by_hand() {
    let mut reader = Reader::new(r#" {"a" : [1, "x"], "b":{"c":null}, "d":2.50} tail"#);
    assert_eq!(reader.kind().unwrap(), ValueKind::Object);
    reader.object().unwrap();
    assert_eq!(reader.key().unwrap().as_deref(), Some("a"));
    reader.array().unwrap();
    assert!(reader.element().unwrap());
    assert_eq!(reader.number().unwrap().as_u64(), Some(1));
    assert!(reader.element().unwrap());
    assert_eq!(reader.string().unwrap(), "x");
    assert!(!reader.element().unwrap());
    assert_eq!(reader.key().unwrap().as_deref(), Some("b"));
    assert_eq!(reader.raw().unwrap(), r#"{"c":null}"#);
    assert_eq!(reader.key().unwrap().as_deref(), Some("d"));
    assert_eq!(reader.number_text().unwrap(), "2.50");
    assert_eq!(reader.key().unwrap(), None);
    assert_eq!(reader.end().unwrap_err().to_string(), "trailing characters at line 1 column 45");
}

//! The schema checker of the core beside the crate `jsonschema`, on random schemas.

use innerloop_core::{json, schema::violations};
use serde_json::{Value, json};

/// A small source of chance: the same seed gives the same schemas.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(4)),
            3 => json!([0.5, 1.0, 2.0, 2.5][self.below(4)]),
            4 => json!(["", "a", "bb", "é"][self.below(4)]),
            5 => json!(-1),
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let names = ["a", "b", "c"];
                let field = |chance: &mut Self| {
                    (names[chance.below(3)].to_owned(), chance.value(depth - 1))
                };
                Value::Object((0..self.below(3)).map(|_| field(self)).collect())
            }
        }
    }

    fn schema(&mut self, depth: u32) -> Value {
        let mut schema = json!({});
        for _ in 0..=self.below(3) {
            let deeper = |chance: &mut Self| chance.schema(depth.saturating_sub(1));
            match self.below(if depth == 0 { 7 } else { 12 }) {
                0 => {
                    let types =
                        ["null", "boolean", "integer", "number", "string", "array", "object"];
                    schema["type"] = json!(types[self.below(7)]);
                }
                1 => schema["type"] = json!(["string", "integer"]),
                2 => schema["enum"] = json!([self.value(0), self.value(0)]),
                3 => schema["const"] = self.value(1),
                4 => schema["minimum"] = json!(self.below(3)),
                5 => schema["exclusiveMaximum"] = json!(self.below(3)),
                6 => schema["minLength"] = json!(self.below(3)),
                7 => schema["items"] = deeper(self),
                8 => schema["properties"] = json!({"a": deeper(self), "b": deeper(self)}),
                9 => schema["required"] = json!(["a"]),
                10 => schema["additionalProperties"] = json!(self.below(2) == 0),
                _ => {
                    let key = ["anyOf", "oneOf", "allOf"][self.below(3)];
                    schema[key] = json!([deeper(self), deeper(self)]);
                }
            }
        }
        schema
    }
}

/// The crate `jsonschema` is the oracle: what it accepts we accept, and the other way round.
#[test]
fn c21_the_checker_agrees_with_the_oracle_on_random_schemas() {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut valid = 0;
    for _ in 0..4_000 {
        let (schema, instance) = (chance.schema(2), chance.value(2));
        let oracle = jsonschema::validator_for(&schema).expect("a schema that the oracle reads");
        let ours = violations(&own(&schema), &own(&instance));
        assert_eq!(ours.is_empty(), oracle.is_valid(&instance), "{schema} {instance}: {ours:?}");
        valid += usize::from(ours.is_empty());
    }
    assert!((400..3_600).contains(&valid), "both ways are tried: {valid} valid");
}

/// The same value, as the core reads it.
fn own(value: &Value) -> json::Value {
    json::from_str(&value.to_string()).expect("JSON is JSON")
}

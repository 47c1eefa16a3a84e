//! The schema checker, a table of what it says.

use innerloop_core::{json, schema::violations};
use serde_json::{Value, json};

fn check(schema: &Value, instance: &Value, expected: &[&str]) {
    assert_eq!(violations(&own(schema), &own(instance)), expected, "{schema} {instance}");
}

fn own(value: &Value) -> json::Value {
    json::from_str(&value.to_string()).unwrap()
}

#[test]
fn c21_a_schema_tells_what_is_wrong_and_where() {
    let string = json!({"type": "string", "minLength": 2, "maxLength": 3});
    check(&string, &json!("ab"), &[]);
    check(&string, &json!("é"), &["the arguments is too short: 1, at least 2"]);
    check(&string, &json!("abcd"), &["the arguments is too long: 4, at most 3"]);
    let object = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
            "e": {"enum": ["a", 1, null]},
            "c": {"const": 2},
            "l": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "boolean"}},
            "o": {"type": "object", "required": ["x"], "additionalProperties": {"type": "null"}},
            "u": {"type": ["string", "null"]},
            "v": {"type": "string", "nullable": true},
            "any": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "one": {"oneOf": [{"minimum": 0}, {"maximum": 10}]},
        },
    });
    check(&object, &json!({"n": 2.0, "e": null, "c": 2.0, "l": [true], "u": null}), &[]);
    check(&object, &json!({"n": 1.5}), &["`n` must be integer, not number"]);
    check(&object, &json!({"n": 0}), &["`n` must be at least 1, not 0"]);
    check(&object, &json!({"n": 10}), &["`n` must be less than 10, not 10"]);
    check(&object, &json!({"e": "b"}), &["`e` must be one of \"a\", 1, null"]);
    check(&object, &json!({"c": 3}), &["`c` must be 2"]);
    check(&object, &json!({"l": []}), &["`l` is too short: 0, at least 1"]);
    check(&object, &json!({"l": [true, 1]}), &["`l[1]` must be boolean, not number"]);
    check(
        &object,
        &json!({"o": {"y": 1}}),
        &["`o.x` is required", "`o.y` must be null, not number"],
    );
    check(&object, &json!({"v": null}), &[]);
    check(&object, &json!({"u": 1}), &["`u` must be string or null, not number"]);
    check(&object, &json!({"any": true}), &["`any` fits none of the allowed forms"]);
    check(&object, &json!({"one": 5}), &["`one` fits more than one of the allowed forms"]);
    check(&json!(false), &json!(1), &["the arguments is not allowed"]);
    check(&json!(true), &json!(1), &[]);
}

#[test]
fn c21_violations_are_bounded() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let numbers: Vec<u32> = (0..10_000).collect();
    assert_eq!(violations(&own(&schema), &own(&json!(numbers))).len(), 8);
}

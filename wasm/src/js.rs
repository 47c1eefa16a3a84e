//! The conversion of JavaScript's values: bytes, and plain objects.

use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::JsValue;

/// Returns a copy of the bytes of a typed array.
pub(crate) fn bytes_of(array: &JsValue) -> Vec<u8> {
    Uint8Array::new(array).to_vec()
}

/// Returns a field of an object; `undefined` if it has none of that name.
pub(crate) fn field(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

/// Makes a plain object with these fields.
pub(crate) fn object(fields: &[(&str, &JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a new plain object cannot fail.
        let _set = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

//! Values of JavaScript: bytes, and plain objects.

use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::JsValue;

/// The bytes of a typed array.
pub(crate) fn bytes_of(array: &JsValue) -> Vec<u8> {
    Uint8Array::new(array).to_vec()
}

/// A field of an object; `undefined` where there is none.
pub(crate) fn field(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

/// A plain object with these fields.
pub(crate) fn object(fields: &[(&str, &JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a new plain object cannot fail.
        let _set = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

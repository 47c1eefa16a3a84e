//! The order of a module's functions. It means nothing to who runs them and much to who compresses
//! them: side by side with what begins alike, a function takes fewer bytes.

use crate::module::{self, WasmModule};

/// The module with a name for each function, so that the functions in the order of their names
/// stand beside those of the same type that begin alike; `None` if it is no module.
pub(crate) fn named_by_likeness(bytes: &[u8]) -> Option<Vec<u8>> {
    let module = WasmModule::read(bytes)?;
    let mut numbered: Vec<_> = (module.imported..).zip(&module.functions).collect();
    numbered.sort_by_key(|(_, function)| (function.signature, function.body));
    let ranked = (0..).zip(numbered);
    let mut names: Vec<_> =
        ranked.map(|(rank, (number, _))| (number, format!("{rank:08}"))).collect();
    names.sort_unstable();
    Some(module::with_names(bytes, &names))
}

#[cfg(test)]
mod tests {
    use super::named_by_likeness;
    use crate::module::WasmModule;

    #[test]
    fn functions_are_ranked_by_type_and_then_by_body() {
        // Four functions of the types 1, 0, 1 and 0.
        let module = b"\0asm\x01\0\0\0\x03\x05\x04\x01\0\x01\0\
            \x0a\x11\x04\x02\0\x0b\x04\0\x41\x01\x0b\x03\0\x00\x0b\x03\0\x01\x0b";
        let named = named_by_likeness(module).unwrap_or_default();
        let names = WasmModule::read(&named).map(|module| {
            module.functions.into_iter().map(|function| function.name).collect::<Vec<_>>()
        });
        let expected = ["00000003", "00000001", "00000002", "00000000"];
        assert_eq!(names.as_deref(), Some(&expected.map(str::to_owned)[..]));
        assert_eq!(named_by_likeness(b"no module"), None);
    }
}

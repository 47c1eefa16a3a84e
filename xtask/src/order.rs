//! The order of a module's functions. It means nothing to who runs them and much to who compresses
//! them: side by side with what begins alike, a function takes fewer bytes.

use crate::instruction::WasmBody;
use crate::module::{self, WasmFunction, WasmModule};

/// The opcode of a call, and that of a number of 32 bits.
const CALL: u8 = 0x10;
const I32_CONST: u8 = 0x41;
/// The bytes that an address in the data has at least with its opcode.
const ADDRESS: usize = 5;

/// The module with a name for each function, so that the functions in the order of their names
/// stand beside those of the same type that begin alike; `None` if it is no module, or has
/// instructions that are not known.
pub(crate) fn named_by_likeness(bytes: &[u8]) -> Option<Vec<u8>> {
    let module = WasmModule::read(bytes)?;
    let mut numbered = Vec::new();
    for (number, function) in (module.imported..).zip(&module.functions) {
        numbered.push((function.signature, outline(function)?, function.body, number));
    }
    numbered.sort_unstable();
    let ranked = (0..).zip(numbered);
    let mut names: Vec<_> =
        ranked.map(|(rank, (.., number))| (number, format!("{rank:08}"))).collect();
    names.sort_unstable();
    Some(module::with_names(bytes, &names))
}

/// A body without what functions differ in that do the same to something else: the functions that
/// it calls, and the addresses of its texts.
fn outline(function: &WasmFunction<'_>) -> Option<Vec<u8>> {
    let body = WasmBody::read(function)?;
    let mut outline = body.declared.to_vec();
    for instruction in body.instructions {
        match instruction.opcode {
            CALL => outline.push(CALL),
            I32_CONST if instruction.bytes.len() >= ADDRESS => outline.push(I32_CONST),
            _ => outline.extend_from_slice(instruction.bytes),
        }
    }
    Some(outline)
}

#[cfg(test)]
mod tests {
    use super::named_by_likeness;
    use crate::module::WasmModule;

    fn names(module: &[u8]) -> Vec<String> {
        let named = named_by_likeness(module).unwrap();
        let functions = WasmModule::read(&named).unwrap().functions;
        functions.into_iter().map(|function| function.name).collect()
    }

    #[test]
    fn functions_are_ranked_by_type_and_then_by_body() {
        // Four functions of the types 1, 0, 1 and 0.
        let module = b"\0asm\x01\0\0\0\x03\x05\x04\x01\0\x01\0\
            \x0a\x11\x04\x02\0\x0b\x04\0\x41\x01\x0b\x03\0\x00\x0b\x03\0\x01\x0b";
        assert_eq!(names(module), ["00000003", "00000001", "00000002", "00000000"]);
        assert_eq!(named_by_likeness(b"no module"), None);
    }

    #[test]
    fn functions_that_do_the_same_to_something_else_are_alike() {
        // Three functions that call 0, 1 and 2; behind that the first and the last are alike.
        let module = b"\0asm\x01\0\0\0\x03\x04\x03\0\0\0\
            \x0a\x13\x03\x05\0\x10\0\x00\x0b\x05\0\x10\x01\x01\x0b\x05\0\x10\x02\x00\x0b";
        assert_eq!(names(module), ["00000000", "00000002", "00000001"]);
    }
}

//! The order of a module's functions. It means nothing to who runs them and much to who compresses
//! them: side by side with what begins alike, a function takes fewer bytes.

use crate::module::Module;

/// The module with a name for each function, so that the functions in the order of their names
/// stand beside those of the same type that begin alike; `None` if it is no module.
pub(crate) fn named_by_likeness(bytes: &[u8]) -> Option<Vec<u8>> {
    let module = Module::read(bytes)?;
    let mut numbered: Vec<_> = (module.imported..).zip(&module.functions).collect();
    numbered.sort_by_key(|(_, function)| (function.signature, function.body));
    let mut names = Vec::new();
    push_number(&mut names, numbered.len());
    let mut ranked: Vec<_> =
        (0..).zip(numbered).map(|(rank, (number, _))| (number, rank)).collect();
    ranked.sort_unstable();
    for (number, rank) in ranked {
        push_number(&mut names, number);
        push_sized(&mut names, format!("{rank:08}").as_bytes());
    }
    // The part of the section that names functions has the number 1.
    let mut section = Vec::new();
    push_sized(&mut section, b"name");
    section.push(1);
    push_sized(&mut section, &names);
    let mut named = [bytes, &[0]].concat();
    push_sized(&mut named, &section);
    Some(named)
}

fn push_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends an unsigned number in LEB128.
fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(0x80 | u8::try_from(number & 0x7f).unwrap_or_default());
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::named_by_likeness;
    use crate::module::Module;

    #[test]
    fn functions_are_ranked_by_type_and_then_by_body() {
        // Four functions of the types 1, 0, 1 and 0.
        let module = b"\0asm\x01\0\0\0\x03\x05\x04\x01\0\x01\0\
            \x0a\x11\x04\x02\0\x0b\x04\0\x41\x01\x0b\x03\0\x00\x0b\x03\0\x01\x0b";
        let named = named_by_likeness(module).unwrap_or_default();
        let names = Module::read(&named).map(|module| {
            module.functions.into_iter().map(|function| function.name).collect::<Vec<_>>()
        });
        let expected = ["00000003", "00000001", "00000002", "00000000"];
        assert_eq!(names.as_deref(), Some(&expected.map(str::to_owned)[..]));
        assert_eq!(named_by_likeness(b"no module"), None);
    }
}

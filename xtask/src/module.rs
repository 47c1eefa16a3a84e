//! Reads a wasm module: its functions, and how much the other sections take; writes parts of one.
//! A module that is cut or bent gives `None`.

use std::collections::BTreeMap;

/// The contents of a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WasmModule<'a> {
    /// The number of imported functions: they come first in the numbering.
    pub(crate) imported: usize,
    pub(crate) functions: Vec<WasmFunction<'a>>,
    /// The number of parameters of each type.
    pub(crate) parameters: Vec<usize>,
    /// The data segments: texts and tables, in bytes.
    pub(crate) data: usize,
    /// Types, imports, exports and the like, in bytes.
    pub(crate) rest: usize,
}

/// A function of a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WasmFunction<'a> {
    /// Its symbol, empty if it has none.
    pub(crate) name: String,
    /// The number of its type.
    pub(crate) signature: usize,
    /// Its locals and its instructions.
    pub(crate) body: &'a [u8],
}

const CUSTOM: u8 = 0;
const TYPE: u8 = 1;
const IMPORT: u8 = 2;
const FUNCTION: u8 = 3;
const EXPORT: u8 = 7;
const CODE: u8 = 10;
const DATA: u8 = 11;
/// The bytes that a module begins with: the mark of the format, and its version.
const HEAD: &[u8] = b"\0asm\x01\0\0\0";
/// The byte that the type of a function begins with.
const FUNCTION_TYPE: u8 = 0x60;
/// The part of the custom section `name` that names functions.
const FUNCTION_NAMES: u8 = 1;

impl<'a> WasmModule<'a> {
    /// Reads a whole module. Custom sections do not count: they are not shipped.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (mut signatures, mut bodies, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut module = Self::default();
        for (id, content) in sections(bytes)? {
            let mut section = ByteReader(content);
            match id {
                CUSTOM if section.text()? == "name" => names = section.function_names()?,
                CUSTOM => {}
                CODE => bodies = section.bodies()?,
                DATA => module.data += content.len(),
                _ => module.rest += content.len(),
            }
            match id {
                TYPE => module.parameters = section.parameters()?,
                IMPORT => module.imported = section.imported_functions()?,
                FUNCTION => signatures = section.numbers()?,
                _ => {}
            }
        }
        let mut signatures = signatures.into_iter();
        for (number, body) in (module.imported..).zip(bodies) {
            let name = names.remove(&number).unwrap_or_default();
            module.functions.push(WasmFunction { name, signature: signatures.next()?, body });
        }
        Some(module)
    }
}

/// The sections of a module, each with its kind.
fn sections(bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut reader = ByteReader(bytes.strip_prefix(HEAD)?);
    let mut sections = Vec::new();
    while !reader.0.is_empty() {
        let id = reader.byte()?;
        let length = reader.number()?;
        sections.push((id, reader.take(length)?));
    }
    Some(sections)
}

/// A module that exports nothing but these, and has no word for linkers.
pub(crate) fn exporting(bytes: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    let mut out = HEAD.to_vec();
    for (id, content) in sections(bytes)? {
        match id {
            EXPORT => push_section(&mut out, id, &ByteReader(content).exports_of(names)?),
            CUSTOM if !matches!(ByteReader(content).text()?, "name" | "target_features") => {}
            _ => push_section(&mut out, id, content),
        }
    }
    Some(out)
}

/// A module whose functions have these bodies.
pub(crate) fn with_bodies(bytes: &[u8], bodies: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut code = Vec::new();
    push_number(&mut code, bodies.len());
    bodies.iter().for_each(|body| push_sized(&mut code, body));
    let mut out = HEAD.to_vec();
    for (id, content) in sections(bytes)? {
        push_section(&mut out, id, if id == CODE { &code } else { content });
    }
    Some(out)
}

/// A module that ends with a section which names its functions, in the order of their numbers.
pub(crate) fn with_names(bytes: &[u8], names: &[(usize, String)]) -> Vec<u8> {
    let mut map = Vec::new();
    push_number(&mut map, names.len());
    for (number, name) in names {
        push_number(&mut map, *number);
        push_sized(&mut map, name.as_bytes());
    }
    let mut section = Vec::new();
    push_sized(&mut section, b"name");
    push_section(&mut section, FUNCTION_NAMES, &map);
    let mut named = bytes.to_vec();
    push_section(&mut named, CUSTOM, &section);
    named
}

fn push_section(out: &mut Vec<u8>, id: u8, content: &[u8]) {
    out.push(id);
    push_sized(out, content);
}

fn push_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends an unsigned number in LEB128.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(0x80 | u8::try_from(number & 0x7f).unwrap_or_default());
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

/// The bytes that are left to read.
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// An unsigned number of 32 bits in LEB128.
    pub(crate) fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Passes over numbers of any length, with a sign or without.
    pub(crate) fn skip_numbers(&mut self, count: usize) -> Option<()> {
        for _ in 0..count {
            while self.byte()? & 0x80 != 0 {}
        }
        Some(())
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// An export section with those exports of this one that have one of these names.
    fn exports_of(&mut self, names: &[&str]) -> Option<Vec<u8>> {
        let (mut count, mut kept) = (0, Vec::new());
        for _ in 0..self.number()? {
            let export = self.0;
            let is_kept = names.contains(&self.text()?);
            self.byte()?;
            self.number()?;
            if is_kept {
                count += 1;
                kept.extend_from_slice(export.get(..export.len() - self.0.len())?);
            }
        }
        let mut section = Vec::new();
        push_number(&mut section, count);
        section.extend(kept);
        Some(section)
    }

    /// The number of parameters of each type, if all are functions' and have types of one byte.
    fn parameters(&mut self) -> Option<Vec<usize>> {
        let mut counts = Vec::new();
        for _ in 0..self.number()? {
            (self.byte()? == FUNCTION_TYPE).then_some(())?;
            let parameters = self.number()?;
            self.take(parameters)?;
            let results = self.number()?;
            self.take(results)?;
            counts.push(parameters);
        }
        Some(counts)
    }

    fn numbers(&mut self) -> Option<Vec<usize>> {
        (0..self.number()?).map(|_| self.number()).collect()
    }

    fn bodies(&mut self) -> Option<Vec<&'a [u8]>> {
        let count = self.number()?;
        let mut bodies = Vec::new();
        for _ in 0..count {
            let length = self.number()?;
            bodies.push(self.take(length)?);
        }
        Some(bodies)
    }

    /// Names by the function's number.
    fn function_names(&mut self) -> Option<BTreeMap<usize, String>> {
        let mut names = BTreeMap::new();
        while !self.0.is_empty() {
            let kind = self.byte()?;
            let length = self.number()?;
            let mut part = ByteReader(self.take(length)?);
            if kind != FUNCTION_NAMES {
                continue;
            }
            for _ in 0..part.number()? {
                let index = part.number()?;
                names.insert(index, part.text()?.to_owned());
            }
        }
        Some(names)
    }

    /// Returns how many of the imports are functions: they come first in the numbering.
    fn imported_functions(&mut self) -> Option<usize> {
        let mut functions = 0;
        for _ in 0..self.number()? {
            self.text()?;
            self.text()?;
            match self.byte()? {
                0 => {
                    functions += 1;
                    self.number()?;
                }
                1 => {
                    self.byte()?;
                    self.limits()?;
                }
                2 => self.limits()?,
                _ => _ = self.take(2)?,
            }
        }
        Some(functions)
    }

    /// The size of a table or a memory: a lower bound, and an upper one if the first bit says so.
    fn limits(&mut self) -> Option<()> {
        let has_most = self.byte()? & 1 == 1;
        self.number()?;
        if has_most {
            self.number()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{WasmFunction, WasmModule, exporting};

    /// Imports a function and a memory, and has functions of two and three bytes.
    const SAMPLE: &[u8] = b"\0asm\x01\0\0\0\
        \x01\x04\x01\x60\0\0\
        \x02\x0c\x02\x01a\x01b\0\0\0\0\x02\0\x01\
        \x03\x03\x02\0\0\
        \x0a\x08\x02\x02\0\x0b\x03\0\x01\x0b\
        \0\x0e\x04name\x01\x07\x02\x01\x01f\x02\x01g";

    #[test]
    fn functions_have_their_names_and_bodies() {
        let function =
            |name: &str, body| WasmFunction { name: name.to_owned(), signature: 0, body };
        let functions = vec![function("f", b"\0\x0b"), function("g", b"\0\x01\x0b")];
        let expected =
            WasmModule { imported: 1, functions, parameters: vec![0], data: 0, rest: 4 + 12 + 3 };
        assert_eq!(WasmModule::read(SAMPLE), Some(expected));
    }

    #[test]
    fn a_module_exports_what_it_is_told_to_and_nothing_else() {
        // Exports a memory and two functions, and has a word for linkers.
        let module = b"\0asm\x01\0\0\0\x07\x0d\x03\x01m\x02\0\x01f\0\0\x01g\0\x01\
            \0\x09\x07linking\x02";
        let expected = b"\0asm\x01\0\0\0\x07\x09\x02\x01m\x02\0\x01g\0\x01";
        assert_eq!(exporting(module, &["g", "m"]).as_deref(), Some(&expected[..]));
        assert_eq!(exporting(b"no module", &[]), None);
    }

    #[test]
    fn a_module_that_is_cut_within_a_section_is_none() {
        let ends = [8, 14, 28, 33, 43, SAMPLE.len()];
        for end in 0..=SAMPLE.len() {
            let module = SAMPLE.get(..end).and_then(WasmModule::read);
            assert_eq!(module.is_some(), ends.contains(&end), "{end}: {module:?}");
        }
    }
}

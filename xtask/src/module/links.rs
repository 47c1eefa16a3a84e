//! What of a module is still reached when some of its functions do nothing any more. The linker
//! leaves word of what refers to what, if it is asked: the sections `linking` and `reloc.*` of
//! WebAssembly's tool conventions.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{CODE, CUSTOM, DATA, EXPORT, HEAD, Module, Reader, push_section, sections};

/// The part of the section `linking` that lists the symbols.
const SYMBOLS: u8 = 8;
/// Flags of a symbol: it is defined elsewhere; it has a name nevertheless.
const UNDEFINED: usize = 0x10;
const NAMED: usize = 0x40;

/// What the linker has left word of.
struct Links {
    symbols: Vec<Symbol>,
    /// Where in the section the body of each function stands, behind the imported ones.
    bodies: Vec<Range<usize>>,
    in_code: Vec<Reference>,
    in_data: Vec<Reference>,
}

/// What can be referred to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Symbol {
    /// A function, by its number.
    Function(usize),
    /// Data, by where in the section it stands.
    Data(usize, usize),
    /// What is of no interest here.
    Other,
}

/// A place in a section that refers to a symbol.
#[derive(Clone, Copy, Debug)]
struct Reference {
    at: usize,
    symbol: usize,
}

/// The module with zeros for the data to which nothing leads from its exports, where the functions
/// at the places `idle` lead nowhere; and without the linker's word. `None` if it is no module, or
/// the linker has left no word.
pub(crate) fn without_unreached(bytes: &[u8], idle: &BTreeSet<usize>) -> Option<Vec<u8>> {
    let sections = sections(bytes)?;
    let links = Links::read(&sections)?;
    let exported = Reader(content(&sections, EXPORT)?).exported_functions()?;
    let imported = Module::read(bytes)?.imported;
    let idle = idle.iter().map(|place| place + imported).collect();
    let reached = links.reached(exported, imported, &idle);

    let mut data = content(&sections, DATA)?.to_vec();
    let mut is_kept = vec![true; data.len()];
    for is_reached in [false, true] {
        for symbol in links.symbols.iter().filter(|symbol| reached.contains(symbol) == is_reached) {
            if let Symbol::Data(start, end) = *symbol {
                is_kept.get_mut(start..end)?.fill(is_reached);
            }
        }
    }
    data.iter_mut().zip(is_kept).filter(|(_, is_kept)| !is_kept).for_each(|(byte, _)| *byte = 0);

    let mut out = HEAD.to_vec();
    for (id, content) in sections {
        let name = if id == CUSTOM { Reader(content).text()? } else { "" };
        if name != "linking" && !name.starts_with("reloc.") {
            push_section(&mut out, id, if id == DATA { &data } else { content });
        }
    }
    Some(out)
}

/// The places of the functions that refer to one of these. `None` as above.
pub(crate) fn callers(bytes: &[u8], functions: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
    let links = Links::read(&sections(bytes)?)?;
    let imported = Module::read(bytes)?.imported;
    let is_one = |symbol: &Symbol| match symbol {
        Symbol::Function(number) => {
            number.checked_sub(imported).is_some_and(|place| functions.contains(&place))
        }
        Symbol::Data(..) | Symbol::Other => false,
    };
    let bodies = links.bodies.iter().enumerate();
    let callers = bodies.filter(|(_, body)| {
        Links::within(&links.in_code, body)
            .filter_map(|reference| links.symbols.get(reference.symbol))
            .any(is_one)
    });
    Some(callers.map(|(place, _)| place).collect())
}

fn content<'a>(sections: &[(u8, &'a [u8])], wanted: u8) -> Option<&'a [u8]> {
    sections.iter().find(|(id, _)| *id == wanted).map(|(_, content)| *content)
}

fn custom<'a>(sections: &[(u8, &'a [u8])], wanted: &str) -> Option<Reader<'a>> {
    sections.iter().filter(|(id, _)| *id == CUSTOM).find_map(|(_, content)| {
        let mut reader = Reader(content);
        (reader.text()? == wanted).then_some(reader)
    })
}

impl Links {
    fn read(sections: &[(u8, &[u8])]) -> Option<Self> {
        let segments = Reader(content(sections, DATA)?).segments()?;
        let starts: Vec<_> = segments.iter().map(|segment| segment.place).collect();
        Some(Self {
            symbols: custom(sections, "linking")?.symbols(&starts)?,
            bodies: Reader(content(sections, CODE)?).body_places()?,
            in_code: custom(sections, "reloc.CODE")?.references()?,
            in_data: custom(sections, "reloc.DATA")?.references()?,
        })
    }

    /// What can be reached from these functions.
    fn reached(
        &self,
        functions: Vec<usize>,
        imported: usize,
        idle: &BTreeSet<usize>,
    ) -> BTreeSet<Symbol> {
        let mut next: Vec<Symbol> = functions.into_iter().map(Symbol::Function).collect();
        let mut reached: BTreeSet<Symbol> = next.iter().cloned().collect();
        while let Some(symbol) = next.pop() {
            let (references, place) = match symbol {
                Symbol::Function(number) if !idle.contains(&number) => {
                    let body = number.checked_sub(imported).and_then(|at| self.bodies.get(at));
                    (&self.in_code, body.cloned().unwrap_or_default())
                }
                Symbol::Data(start, end) => (&self.in_data, start..end),
                Symbol::Function(_) | Symbol::Other => continue,
            };
            let own = Self::within(references, &place);
            let found = own.filter_map(|reference| self.symbols.get(reference.symbol));
            next.extend(found.filter(|symbol| reached.insert((*symbol).clone())).cloned());
        }
        reached
    }

    /// Those of the references that stand at that place.
    fn within<'a>(
        references: &'a [Reference],
        place: &Range<usize>,
    ) -> impl Iterator<Item = &'a Reference> {
        let first = references.partition_point(|reference| reference.at < place.start);
        let behind = references.partition_point(|reference| reference.at < place.end);
        references.get(first..behind).unwrap_or_default().iter()
    }
}

impl Reader<'_> {
    /// The numbers of the functions among a module's exports.
    fn exported_functions(&mut self) -> Option<Vec<usize>> {
        let mut functions = Vec::new();
        for _ in 0..self.number()? {
            self.text()?;
            let is_function = self.byte()? == 0;
            let number = self.number()?;
            functions.extend(is_function.then_some(number));
        }
        Some(functions)
    }

    /// Where in the section each body stands.
    fn body_places(&mut self) -> Option<Vec<Range<usize>>> {
        let whole = self.0.len();
        let mut places = Vec::new();
        for _ in 0..self.number()? {
            let length = self.number()?;
            let start = whole - self.0.len();
            self.take(length)?;
            places.push(start..start + length);
        }
        Some(places)
    }

    /// The symbols of a section `linking`, where the segments of data begin at `starts`.
    fn symbols(&mut self, starts: &[usize]) -> Option<Vec<Symbol>> {
        let _version = self.number()?;
        loop {
            let kind = self.byte()?;
            let length = self.number()?;
            let mut part = Reader(self.take(length)?);
            if kind == SYMBOLS {
                return (0..part.number()?).map(|_| part.symbol(starts)).collect();
            }
        }
    }

    fn symbol(&mut self, starts: &[usize]) -> Option<Symbol> {
        let (kind, flags) = (self.byte()?, self.number()?);
        let is_defined = flags & UNDEFINED == 0;
        match kind {
            1 => {
                self.text()?;
                if !is_defined {
                    return Some(Symbol::Other);
                }
                let segment = *starts.get(self.number()?)?;
                let (offset, length) = (self.number()?, self.number()?);
                Some(Symbol::Data(segment + offset, segment + offset + length))
            }
            3 => self.number().map(|_| Symbol::Other),
            _ => {
                let number = self.number()?;
                if is_defined || flags & NAMED != 0 {
                    self.text()?;
                }
                Some(if kind == 0 { Symbol::Function(number) } else { Symbol::Other })
            }
        }
    }

    /// What a section `reloc.*` lists, in the order of the places.
    fn references(&mut self) -> Option<Vec<Reference>> {
        let _section = self.number()?;
        let mut references = Vec::new();
        for _ in 0..self.number()? {
            let (kind, at, symbol) = (self.byte()?, self.number()?, self.number()?);
            match kind {
                // A type, which is no symbol.
                6 => continue,
                // Functions, globals, tags and tables.
                0..=2 | 7 | 10 | 13 | 20 => {}
                // Addresses, with what is added to them.
                3..=5 => _ = self.number()?,
                _ => return None,
            }
            references.push(Reference { at, symbol });
        }
        Some(references)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HEAD, push_section, push_sized};
    use super::{callers, without_unreached};
    use std::collections::BTreeSet;

    /// Three functions behind an imported one, of which the first is exported and calls the second.
    /// Each reads an address, of the data `aaa`, `bbb` and `cc`; `aaa` leads to `dd`, and `d` is a
    /// symbol, too.
    fn linked() -> Vec<u8> {
        let custom = |name: &[u8], content: &[u8]| {
            let mut section = Vec::new();
            push_sized(&mut section, name);
            section.extend_from_slice(content);
            section
        };
        let symbols = b"\x08\0\0\x01\x01f\0\0\x02\x01g\0\0\x03\x01h\
            \x01\0\x01a\0\0\x03\x01\0\x01b\0\x03\x03\x01\0\x01c\0\x06\x02\x01\0\x01d\0\x09\x02\
            \x01\0\x01e\0\x09\x01";
        let mut linking = b"\x02".to_vec();
        linking.push(8);
        push_sized(&mut linking, symbols);
        let sections: [(u8, Vec<u8>); 8] = [
            (1, b"\x01\x60\0\0".to_vec()),
            (2, b"\x01\x01a\x01b\0\0".to_vec()),
            (3, b"\x03\0\0\0".to_vec()),
            (7, b"\x01\x01f\0\x01".to_vec()),
            (10, b"\x03\x03\0\x01\x0b\x03\0\x01\x0b\x03\0\x01\x0b".to_vec()),
            (11, b"\x01\0\x41\x80\x08\x0b\x0caaabbbcc.dd.".to_vec()),
            (0, custom(b"linking", &linking)),
            // In the first body: the address of `aaa`, and a call; in the others an address each.
            (
                0,
                custom(
                    b"reloc.CODE",
                    b"\x04\x04\x04\x02\x03\0\0\x03\x01\x04\x08\x04\0\x04\x0c\x05\0",
                ),
            ),
        ];
        let mut module = HEAD.to_vec();
        for (id, content) in &sections {
            push_section(&mut module, *id, content);
        }
        push_section(&mut module, 0, &custom(b"reloc.DATA", b"\x05\x01\x05\x07\x06\0"));
        module
    }

    #[test]
    fn data_to_which_nothing_leads_is_blank() {
        let left = |idle: &[usize]| {
            let left = without_unreached(&linked(), &idle.iter().copied().collect::<BTreeSet<_>>());
            let left = left.unwrap_or_default();
            let data = left.get(left.len().saturating_sub(12)..).unwrap_or_default();
            (String::from_utf8_lossy(data).into_owned(), left)
        };
        // What no symbol names stays, and so does what is also a part of something else.
        assert_eq!(left(&[]).0, "aaabbb\0\0.dd.");
        assert_eq!(left(&[1]).0, "aaa\0\0\0\0\0.dd.");
        assert_eq!(left(&[0]).0, "\0\0\0\0\0\0\0\0.\0\0.");
        assert!(!left(&[]).1.windows(5).any(|name| name == b"reloc"));
        let module = linked();
        assert_eq!(callers(&module, &BTreeSet::from([1])), Some(BTreeSet::from([0])));
        assert_eq!(without_unreached(&module[..module.len() - 1], &BTreeSet::new()), None);
        assert_eq!(without_unreached(HEAD, &BTreeSet::new()), None);
    }
}

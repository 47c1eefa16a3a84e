//! The instructions of a function's body: where each ends, and which local it is about. What no
//! module of ours has (threads, vectors, several memories, exceptions) gives `None`.

use crate::module::{ByteReader, WasmFunction};

/// An instruction of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WasmInstruction<'a> {
    /// The first byte.
    pub(crate) opcode: u8,
    /// The number of the local that it reads or writes.
    pub(crate) local: Option<usize>,
    /// All its bytes.
    pub(crate) bytes: &'a [u8],
}

/// A body, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WasmBody<'a> {
    /// The types of the locals that are no parameters, by their numbers.
    pub(crate) types: Vec<u8>,
    /// The bytes that declare them.
    pub(crate) declared: &'a [u8],
    pub(crate) instructions: Vec<WasmInstruction<'a>>,
}

/// Most locals of a function, as browsers have it.
const MOST_LOCALS: usize = 50_000;

impl<'a> WasmBody<'a> {
    pub(crate) fn read(function: &WasmFunction<'a>) -> Option<Self> {
        let mut reader = ByteReader(function.body);
        let mut types = Vec::new();
        for _ in 0..reader.number()? {
            let number = types.len() + reader.number()?;
            if number > MOST_LOCALS {
                return None;
            }
            types.resize(number, reader.byte()?);
        }
        let (declared, _) = function.body.split_at_checked(function.body.len() - reader.0.len())?;
        let mut instructions = Vec::new();
        while !reader.0.is_empty() {
            instructions.push(WasmInstruction::read(&mut reader)?);
        }
        Some(Self { types, declared, instructions })
    }
}

impl<'a> WasmInstruction<'a> {
    fn read(reader: &mut ByteReader<'a>) -> Option<Self> {
        let start = reader.0;
        let opcode = reader.byte()?;
        let mut local = None;
        match opcode {
            // local.get, local.set, local.tee
            0x20..=0x22 => local = Some(reader.number()?),
            // br_table and a select with types have lists.
            0x0e => {
                let labels = reader.number()?;
                reader.skip_numbers(labels + 1)?;
            }
            0x1c => {
                let types = reader.number()?;
                reader.take(types)?;
            }
            0x43 => _ = reader.take(4)?,
            0x44 => _ = reader.take(8)?,
            0xfc => {
                let numbers = match reader.number()? {
                    0..=7 => 0,
                    9 | 11 | 13 | 15..=17 => 1,
                    8 | 10 | 12 | 14 => 2,
                    _ => return None,
                };
                reader.skip_numbers(numbers)?;
            }
            _ => reader.skip_numbers(numbers_after(opcode)?)?,
        }
        let (bytes, _) = start.split_at_checked(start.len() - reader.0.len())?;
        Some(Self { opcode, local, bytes })
    }
}

/// Returns how many numbers follow an opcode that no list and no float follows.
fn numbers_after(opcode: u8) -> Option<usize> {
    match opcode {
        // unreachable, nop, else, end, return, drop, select; what calculates; ref.is_null
        0x00 | 0x01 | 0x05 | 0x0b | 0x0f | 0x1a | 0x1b | 0x45..=0xc4 | 0xd1 => Some(0),
        // Blocks, branches, call; globals and tables; memory's size; integers; references
        0x02..=0x04 | 0x0c | 0x0d | 0x10 | 0x23..=0x26 | 0x3f..=0x42 | 0xd0 | 0xd2 => Some(1),
        // call_indirect; loads and stores
        0x11 | 0x28..=0x3e => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::WasmBody;
    use crate::module::WasmFunction;

    fn opcodes(body: &[u8]) -> Option<Vec<(u8, Option<usize>)>> {
        let function = WasmFunction { body, ..WasmFunction::default() };
        let instructions = WasmBody::read(&function)?.instructions;
        Some(instructions.iter().map(|each| (each.opcode, each.local)).collect())
    }

    #[test]
    fn instructions_end_where_their_operands_do() {
        // Two locals of i32; br_table, f64.const, i64.const, memory.copy, i32.load, local.tee.
        let body = b"\x01\x02\x7f\x0e\x01\0\0\x44\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\
            \x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\xfc\x0a\0\0\x28\x02\x80\x01\x22\x01\x0b";
        let expected = [0x0e, 0x44, 0x42, 0xfc, 0x28].map(|opcode| (opcode, None));
        let expected = [&expected[..], &[(0x22, Some(1)), (0x0b, None)]].concat();
        assert_eq!(opcodes(body), Some(expected));
    }

    #[test]
    fn what_is_unknown_or_cut_is_none() {
        assert_eq!(opcodes(b"\0\xfd\0\x0b"), None, "a vector");
        assert_eq!(opcodes(b"\0\x41\x80"), None, "a number without its end");
        assert_eq!(opcodes(b"\x01\xff\xff\xff\xff\x0f\x7f\x0b"), None, "locals without end");
    }
}

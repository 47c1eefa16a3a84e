//! The numbers of a module's locals. They mean nothing to who runs it and much to who compresses
//! it: a number takes fewer bits, the easier it is to guess from the instructions around it.

use std::collections::BTreeMap;

use crate::instruction::WasmBody;
use crate::module::{self, WasmModule};

/// How often all functions are gone through. Beyond that hardly a number changes.
const ROUNDS: usize = 6;
/// The weight of a number's place beside one use of it, in uses: how much is known of a number that
/// was never seen in a place.
const ANYWHERE: u64 = 5;
/// The parts of a bit, or of a use, in which is counted: whole numbers are the same on all
/// machines.
const PARTS: u64 = 256;

/// The place of a use of a local: the opcodes before it, its own and after it.
type UsePlace = [u8; 3];

/// How often numbers stand in places, in the whole module.
#[derive(Default)]
struct NumberCounts {
    by_place: BTreeMap<(UsePlace, usize), u64>,
    anywhere: BTreeMap<usize, u64>,
    all: u64,
}

/// The locals of a function.
struct FunctionLocals<'a> {
    body: WasmBody<'a>,
    /// The number of its parameters, which keep theirs.
    parameters: usize,
    /// The uses of each local in each place, by the numbers that the locals came with.
    uses: Vec<BTreeMap<UsePlace, u64>>,
    /// The numbers that they get.
    numbers: Vec<usize>,
}

/// The module with its locals numbered so that like instructions are about like numbers; `None` if
/// it is no module, or has instructions that are not known. A local changes its number with one of
/// the same type, so that the declarations stay as they are.
pub(crate) fn renumbered(bytes: &[u8]) -> Option<Vec<u8>> {
    let module = WasmModule::read(bytes)?;
    let mut functions = Vec::new();
    for function in &module.functions {
        let parameters = *module.parameters.get(function.signature)?;
        functions.push(FunctionLocals::new(WasmBody::read(function)?, parameters)?);
    }
    let mut counts = NumberCounts::default();
    functions.iter().for_each(|function| counts.add(function));
    for _ in 0..ROUNDS {
        for function in &mut functions {
            // A function is no witness in its own case.
            counts.remove(function);
            function.renumber(&counts);
            counts.add(function);
        }
    }
    let bodies: Vec<_> = functions.iter().map(FunctionLocals::written).collect();
    module::with_bodies(bytes, &bodies)
}

impl NumberCounts {
    fn add(&mut self, function: &FunctionLocals<'_>) {
        for (place, number, uses) in function.all_uses() {
            *self.by_place.entry((place, number)).or_default() += uses;
            *self.anywhere.entry(number).or_default() += uses;
            self.all += uses;
        }
    }

    fn remove(&mut self, function: &FunctionLocals<'_>) {
        for (place, number, uses) in function.all_uses() {
            *self.by_place.entry((place, number)).or_default() -= uses;
            *self.anywhere.entry(number).or_default() -= uses;
            self.all -= uses;
        }
    }

    /// How well a number can be guessed in a place, in parts of a bit, beside the other numbers.
    fn ease(&self, place: UsePlace, number: usize) -> u64 {
        let here = self.by_place.get(&(place, number)).copied().unwrap_or_default();
        let anywhere = self.anywhere.get(&number).copied().unwrap_or_default();
        logarithm(here * PARTS + anywhere * ANYWHERE * PARTS / self.all.max(1) + 1)
    }
}

/// The binary logarithm of a number from 1 on, in parts, with straight lines between the powers.
fn logarithm(number: u64) -> u64 {
    let whole = u64::from(number.max(1).ilog2());
    (whole * PARTS + ((number * PARTS) >> whole)).saturating_sub(PARTS)
}

impl<'a> FunctionLocals<'a> {
    fn new(body: WasmBody<'a>, parameters: usize) -> Option<Self> {
        let count = parameters + body.types.len();
        let mut uses = vec![BTreeMap::<UsePlace, u64>::new(); count];
        let opcodes = body.instructions.iter().map(|each| each.opcode);
        let before = [0].into_iter().chain(opcodes.clone());
        let after = opcodes.skip(1).chain([0]);
        for ((instruction, before), after) in body.instructions.iter().zip(before).zip(after) {
            if let Some(local) = instruction.local {
                let place = [before, instruction.opcode, after];
                *uses.get_mut(local)?.entry(place).or_default() += 1;
            }
        }
        Some(Self { body, parameters, uses, numbers: (0..count).collect() })
    }

    fn all_uses(&self) -> impl Iterator<Item = (UsePlace, usize, u64)> {
        let numbered = self.uses.iter().zip(&self.numbers);
        numbered.flat_map(|(uses, &number)| {
            uses.iter().map(move |(&place, &uses)| (place, number, uses))
        })
    }

    /// Lets two locals of a type change their numbers while that makes them easier to guess.
    fn renumber(&mut self, counts: &NumberCounts) {
        let own = self.parameters..self.numbers.len();
        let eases: Vec<Vec<u64>> = (self.uses.iter().skip(self.parameters))
            .map(|uses| {
                let ease = |number| {
                    uses.iter().map(|(&place, uses)| uses * counts.ease(place, number)).sum()
                };
                own.clone().map(ease).collect()
            })
            .collect();
        let (types, first) = (&self.body.types, self.parameters);
        let Some(numbers) = self.numbers.get_mut(first..) else { return };
        let ease = |local: usize, number: usize| {
            eases.get(local).and_then(|eases| eases.get(number - first)).copied().unwrap_or(0)
        };
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for one in 0..types.len() {
                for other in one + 1..types.len() {
                    let (Some(&number), Some(&another)) = (numbers.get(one), numbers.get(other))
                    else {
                        continue;
                    };
                    if types.get(one) == types.get(other)
                        && ease(one, another) + ease(other, number)
                            > ease(one, number) + ease(other, another)
                    {
                        numbers.swap(one, other);
                        is_settled = false;
                    }
                }
            }
        }
    }

    /// The body with the new numbers.
    fn written(&self) -> Vec<u8> {
        let mut out = self.body.declared.to_vec();
        for instruction in &self.body.instructions {
            match instruction.local.and_then(|local| self.numbers.get(local)) {
                Some(number) => {
                    out.push(instruction.opcode);
                    module::push_number(&mut out, *number);
                }
                None => out.extend_from_slice(instruction.bytes),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{logarithm, renumbered};

    /// A module of functions of one type, with one parameter.
    fn module(bodies: &[&[u8]]) -> Vec<u8> {
        let count = u8::try_from(bodies.len()).unwrap();
        let sized = |bytes: &[u8]| [&[u8::try_from(bytes.len()).unwrap()], bytes].concat();
        let section = |id: u8, content: &[u8]| [&[id], &sized(content)[..]].concat();
        let code: Vec<u8> = bodies.iter().flat_map(|body| sized(body)).collect();
        [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, b"\x01\x60\x01\x7f\0"),
            section(3, &[&[count], &vec![0; bodies.len()][..]].concat()),
            section(10, &[&[count], &code[..]].concat()),
        ]
        .concat()
    }

    #[test]
    fn locals_have_the_numbers_that_they_have_elsewhere() {
        // Reads 1 and drops it, and writes 2; the last does it the other way round.
        let body = b"\x01\x02\x7f\x20\x01\x1a\x20\0\x21\x02\x0b";
        let other = b"\x01\x02\x7f\x20\x02\x1a\x20\0\x21\x01\x0b";
        let expected = Some(module(&[body, body, body, body]));
        assert_eq!(renumbered(&module(&[body, body, body, other])), expected);
    }

    #[test]
    fn locals_of_different_types_and_parameters_keep_their_numbers() {
        let body = b"\x02\x01\x7f\x01\x7e\x20\x01\x1a\x0b";
        let types = b"\x02\x01\x7f\x01\x7e\x20\x02\x1a\x0b";
        let parameter = b"\x02\x01\x7f\x01\x7e\x20\0\x1a\x0b";
        let module = module(&[body, body, body, types, parameter]);
        assert_eq!(renumbered(&module), Some(module));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert_eq!(renumbered(b"no module"), None);
        assert_eq!(renumbered(&module(&[b"\0\xfd\0\x0b"])), None, "a vector");
        assert_eq!(renumbered(&module(&[b"\0\x20\x01\x0b"])), None, "a local that is not there");
    }

    #[test]
    fn logarithms_rise_in_straight_lines() {
        let expected = [0, 256, 384, 512, 576];
        assert_eq!([1, 2, 3, 4, 5].map(logarithm), expected);
    }
}

//! What the page's module does when it panics: it traps. There is nobody to read a message, since
//! the standard error of a module in a page leads nowhere. So the functions that would put one
//! together are traps themselves. What only they need goes, too: wasm-opt drops the code, and the
//! data is blank, as are the places in the source that a message would name.

use std::collections::BTreeSet;

use crate::module::{self, Module, links};
use crate::symbol;

/// What begins the path of a function that tells what went wrong and never returns.
const TELLING: [&str; 11] = [
    "core::panicking::",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "core::cell::panic_",
    "core::slice::index::slice_index_fail",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::str::slice_error_fail",
    "alloc::raw_vec::handle_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::alloc::handle_alloc_error",
];
/// The function that writes a letter for `{:?}`. Only messages of panics do that, since a test
/// keeps it out of our own crates.
const SHOWING: &str = "core::char::methods::escape_debug_ext";
/// The body of a function that traps: no locals, `unreachable`, the end.
const TRAP: &[u8] = &[0, 0x00, 0x0b];
/// A place in the source, in words of 32 bits: address and length of the file's name, line, column.
const PLACE: usize = 16;
/// No line and no column is above.
const MOST_LINES: usize = 1 << 16;

/// A module as the linker left it, with its functions that tell of a panic made traps, and with
/// zeros for the data that only they needed; `None` if it is no such module.
pub(crate) fn silenced(bytes: &[u8]) -> Option<Vec<u8>> {
    let module = Module::read(bytes)?;
    let mut traps = places(&module, |path| TELLING.iter().any(|tells| path.starts_with(tells)));
    let showing = places(&module, |path| path == SHOWING);
    // Text is shown by whichever `Debug` the compiler has put that into.
    let is_debug = |place: &usize| {
        module.functions.get(*place).is_some_and(|function| function.name.contains("Debug"))
    };
    traps.extend(links::callers(bytes, &showing)?.into_iter().filter(is_debug));
    traps.extend(showing);
    let bytes = links::without_unreached(bytes, &traps)?;
    as_traps(&bytes, &traps)
}

/// The places of the functions whose paths are of that kind.
fn places(module: &Module<'_>, is: impl Fn(&str) -> bool) -> BTreeSet<usize> {
    let functions = module.functions.iter().enumerate();
    functions.filter(|(_, function)| is(&symbol::path(&function.name))).map(|(at, _)| at).collect()
}

fn as_traps(bytes: &[u8], traps: &BTreeSet<usize>) -> Option<Vec<u8>> {
    let module = Module::read(bytes)?;
    let bodies = module.functions.iter().enumerate();
    let bodies =
        bodies.map(|(at, function)| if traps.contains(&at) { TRAP } else { function.body });
    module::with_bodies(bytes, &bodies.collect::<Vec<_>>())
}

/// The module with zeros for the places in the source that panics would name; `None` if it is no
/// module.
pub(crate) fn without_places(bytes: &[u8]) -> Option<Vec<u8>> {
    module::with_data(bytes, blank_places)
}

/// Writes zeros over the places, and over the names of their files, in a segment of the memory.
fn blank_places(address: usize, segment: &mut [u8]) {
    let aligned = address.next_multiple_of(4) - address;
    let starts = (aligned..segment.len()).step_by(4);
    let places: Vec<_> =
        starts.filter_map(|start| Some((start, file_of(address, segment, start)?))).collect();
    for (start, (name, length)) in places {
        for blank in [start..start + PLACE, name..name + length] {
            segment.get_mut(blank).unwrap_or_default().fill(0);
        }
    }
}

/// Where in the segment the name of a file stands, if there is a place in the source at `start`.
fn file_of(address: usize, segment: &[u8], start: usize) -> Option<(usize, usize)> {
    let mut words = segment
        .get(start..start + PLACE)?
        .chunks_exact(4)
        .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)));
    let name = words.next()?.checked_sub(address)?;
    let length = words.next()?;
    let is_place = words.all(|number| (1..MOST_LINES).contains(&number));
    let file = str::from_utf8(segment.get(name..)?.get(..length)?).ok()?;
    let is_file = file.contains("/src/") && file.ends_with(".rs");
    (is_place && is_file).then_some((name, length))
}

#[cfg(test)]
mod tests {
    use super::{TELLING, TRAP, as_traps, blank_places, places, silenced};
    use crate::module::{self, Module};

    #[test]
    fn functions_that_tell_of_a_panic_trap() {
        // Four functions without arguments, whose bodies are `nop`s.
        let module = b"\0asm\x01\0\0\0\x03\x05\x04\0\0\0\0\
            \x0a\x11\x04\x03\0\x01\x0b\x03\0\x01\x0b\x03\0\x01\x0b\x03\0\x01\x0b";
        let names = [
            "_RNvNtCsgXGp5Oqx2Ny_4core9panicking9panic_fmt",
            "_ZN4core9panicking13assert_failed17he3e63595de6b7508E",
            "_ZN14innerloop_core9panicking9panic_fmt17he3e63595de6b7508E",
            "_RNvNtNtCsgXGp5Oqx2Ny_4core5slice5index5index",
        ];
        let names: Vec<_> = (0..).zip(names.map(str::to_owned)).collect();
        let named = module::with_names(module, &names);
        let tells = |path: &str| TELLING.iter().any(|beginning| path.starts_with(beginning));
        let told = Module::read(&named).map(|module| places(&module, tells)).unwrap_or_default();
        let trapped = as_traps(&named, &told).unwrap_or_default();
        let bodies = Module::read(&trapped).map(|module| {
            module.functions.iter().map(|function| function.body == TRAP).collect::<Vec<_>>()
        });
        assert_eq!(bodies.as_deref(), Some(&[true, true, false, false][..]));
        assert_eq!(silenced(&named), None, "the linker left no word");
    }

    #[test]
    fn places_in_the_source_are_blank_and_nothing_else_is() {
        const ADDRESS: usize = 1022;
        let texts = b"..core/src/base.rs*.rs..";
        let place = |name: u32, length: u32, line: u32| {
            [name, length, line, 7].map(u32::to_le_bytes).concat()
        };
        let file = u32::try_from(ADDRESS + 2).unwrap_or_default();
        let glob = place(file + 16, 4, 30);
        let pointer = place(file, 16, 1 << 20);
        let mut segment = [&texts[..], &b".."[..], &place(file, 16, 30), &glob, &pointer].concat();
        blank_places(ADDRESS, &mut segment);
        let mut blank = texts.to_vec();
        blank.get_mut(2..18).unwrap_or_default().fill(0);
        assert_eq!(segment, [&blank[..], &b".."[..], &[0; 16], &glob, &pointer].concat());
    }
}

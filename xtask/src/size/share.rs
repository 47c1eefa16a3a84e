//! To which crate and to which cause the bytes of a function count, told from its symbol.

use std::collections::BTreeMap;

use crate::module::WasmModule;
use crate::symbol::path;

/// The causes, each with what a function's path contains; the first that fits counts.
const CAUSES: [(&str, &[&str]); 18] = [
    ("dropping values", &["drop_in_place"]),
    ("reading JSON", &["::de::", "eserialize", "innerloop_json::", "FromJson", "Slots", "Choice"]),
    ("writing JSON", &["::ser::", "erialize", "ToJson", "Parts>"]),
    ("formatting", &["core::fmt", "core::num::", "fmt::Debug", "fmt::Display"]),
    ("calls in text", &["innerloop_wire::text_calls"]),
    ("wire: Responses", &["innerloop_wire::openai_responses"]),
    ("wire: Chat", &["innerloop_wire::openai_chat"]),
    ("wire: Anthropic", &["innerloop_wire::anthropic"]),
    ("wire: Gemini", &["innerloop_wire::gemini"]),
    ("wire: Ollama", &["innerloop_wire::ollama"]),
    ("wire: shared", &["innerloop_wire::"]),
    ("profiles", &["innerloop_core::profile"]),
    ("types and rules", &["innerloop_types::", "innerloop_core::rules"]),
    ("the loop", &["innerloop_core::machine"]),
    ("session, log, snapshot", &["innerloop_core::session"]),
    ("tools", &["innerloop_tools", "fast_glob"]),
    ("driver and binding", &["innerloop_", "wasm_bindgen", "js_sys", "web_sys", "futures"]),
    (
        "standard library",
        &["core::", "alloc::", "std::", "memchr", "dlmalloc", "compiler_builtins"],
    ),
];

/// The name for data, which stands in no function.
const DATA: &str = "(texts and tables)";
const REST: &str = "(types, imports, exports)";

/// Bytes by name, most first.
pub(crate) type SizeBreakdown = Vec<(String, usize)>;

/// The bytes of a module by crate.
pub(crate) fn by_crate(module: &WasmModule<'_>) -> SizeBreakdown {
    shares(module, |path| krate(path).to_owned())
}

/// The bytes of a module by cause.
pub(crate) fn by_cause(module: &WasmModule<'_>) -> SizeBreakdown {
    shares(module, |path| cause(path).to_owned())
}

fn shares(module: &WasmModule<'_>, name: impl Fn(&str) -> String) -> SizeBreakdown {
    let mut sums = BTreeMap::from([(DATA.to_owned(), module.data), (REST.to_owned(), module.rest)]);
    for function in &module.functions {
        *sums.entry(name(&path(&function.name))).or_default() += function.body.len();
    }
    let mut shares: SizeBreakdown = sums.into_iter().collect();
    shares.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    shares
}

fn cause(path: &str) -> &'static str {
    let fits = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
    CAUSES.iter().find(|(_, parts)| fits(parts)).map_or("everything else", |(cause, _)| cause)
}

/// One of our crates if the path names one, otherwise the first that it names.
fn krate(path: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let heads = path.match_indices("::").filter_map(|(end, _)| path.get(..end));
    let mut words = heads.filter_map(|head| head.rsplit(|c| !is_word(c)).next());
    let ours = words.clone().find(|word| word.starts_with("innerloop_"));
    ours.or_else(|| words.find(|word| !word.is_empty())).unwrap_or("(without a path)")
}

#[cfg(test)]
mod tests {
    use super::{by_cause, by_crate, krate};
    use crate::module::{WasmFunction, WasmModule};

    #[test]
    fn a_crate_of_ours_counts_before_others() {
        let path = "_<innerloop_types::action::Action as serde::de::Deserialize>::deserialize";
        assert_eq!(krate(path), "innerloop_types");
        assert_eq!((krate("core::fmt::write"), krate("memcpy")), ("core", "(without a path)"));
    }

    #[test]
    fn bytes_count_once() {
        let symbols = [
            ("_ZN14innerloop_core7machine3run17h0123456789abcdefE", 5),
            ("_ZN14innerloop_wire6gemini17h0123456789abcdefE", 3),
            ("memcpy", 2),
        ];
        let functions = symbols.map(|(symbol, size)| WasmFunction {
            name: symbol.to_owned(),
            body: [0; 5].get(..size).unwrap_or_default(),
            ..WasmFunction::default()
        });
        let module =
            WasmModule { functions: functions.into(), data: 7, rest: 1, ..WasmModule::default() };
        let shown = |shares: super::SizeBreakdown| {
            shares.iter().map(|(name, size)| format!("{name} {size}")).collect::<Vec<_>>()
        };
        let expected = [
            "(texts and tables) 7",
            "innerloop_core 5",
            "innerloop_wire 3",
            "(without a path) 2",
            "(types, imports, exports) 1",
        ];
        assert_eq!(shown(by_crate(&module)), expected);
        let expected = [
            "(texts and tables) 7",
            "the loop 5",
            "wire: Gemini 3",
            "everything else 2",
            "(types, imports, exports) 1",
        ];
        assert_eq!(shown(by_cause(&module)), expected);
    }
}

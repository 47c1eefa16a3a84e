//! `cargo xtask size`: what the page's module weighs, by crate and by cause, beside its budget, and
//! what the module without imports does.
//! The weight is that of the module as it is shipped; the shares are those of the module before
//! wasm-opt, which takes the names away.

mod share;

use std::path::Path;

use crate::abi;
use crate::failure::TaskError;
use crate::files;
use crate::module::WasmModule;
use crate::npm;
use crate::prepare;
use crate::process;
use crate::steps::{TaskStep, run_all, step};
use crate::wasm;
use crate::workspace::Workspace;
use share::SizeBreakdown;

/// A build of the module, and the most that it may weigh.
struct BuildVariant {
    name: &'static str,
    /// The additional arguments for cargo.
    features: &'static [&'static str],
    /// Most bytes, compressed by brotli.
    budget: usize,
}

const VARIANTS: [BuildVariant; 3] = [
    BuildVariant { name: "everything", features: &[], budget: 350_000 },
    BuildVariant {
        name: "without tools",
        features: &[
            "--no-default-features",
            "--features",
            "anthropic,gemini,ollama,openai-chat,openai-responses,text-calls,\
             corrections,routing,tools-shown,kept-results,named-agents,skills,\
             recordings",
        ],
        budget: 265_000,
    },
    BuildVariant {
        name: "one protocol",
        features: &["--no-default-features", "--features", "openai-chat"],
        budget: 185_000,
    },
];

/// Most bytes of the module without imports, compressed by brotli.
const CORE_BUDGET: usize = 290_000;

/// The functions that must not be in the module, by a part of their names, and what to use instead.
const UNWANTED: [(&str, &str); 4] = [
    ("core3num7dec2flt", "`str::parse` reads floats by tables: use `innerloop_json::parse_f64`"),
    ("alloc3str17join_generic_copy", "`join` is long: use `innerloop_json::joined`"),
    ("unicode_data", "`is_alphanumeric` takes tables: use `innerloop_core::text::is_word`"),
    ("alloc3str12to_lowercase", "`str::to_lowercase` takes tables: lower letters one by one"),
];

/// Shares below this part of the whole are summed up.
const SMALL: usize = 200;

/// Prints three numbers: the length of a file, and what gzip and brotli make of it.
const THREE_SIZES: &str = "
const { readFileSync } = require('node:fs');
const { brotliCompressSync, constants, gzipSync } = require('node:zlib');
const bytes = readFileSync(process.argv[1]);
const params = {
  [constants.BROTLI_PARAM_QUALITY]: 11,
  [constants.BROTLI_PARAM_LGWIN]: 24,
  [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
};
const sizes = [bytes, gzipSync(bytes, { level: 9 }), brotliCompressSync(bytes, { params })];
console.log(sizes.map((each) => each.length).join(' '));
";

/// Runs the command.
///
/// # Errors
/// The first step's that fails; weighing fails if a variant is above its budget.
pub(crate) fn run(workspace: &mut Workspace) -> Result<(), TaskError> {
    run_all(workspace, &[&prepare::MACHINE[..], &[WEIGH_ALL]].concat())
}

/// Step: builds and weighs every variant.
pub(crate) const WEIGH_ALL: TaskStep = step("weigh the modules", weigh_all);

fn weigh_all(workspace: &mut Workspace) -> Result<(), TaskError> {
    let mut above = Vec::new();
    let mut compare = |name: &str, [raw, gzip, brotli]: [usize; 3], budget: usize| {
        println!("{name}: raw {raw}, gzip {gzip}, brotli {brotli} of {budget} bytes");
        if let Some(over) = brotli.checked_sub(budget).filter(|over| *over > 0) {
            above.push(format!("{name}: {over} bytes above its budget"));
        }
    };
    for variant in &VARIANTS {
        compare(variant.name, weigh(workspace, variant)?, variant.budget);
    }
    abi::build(workspace)?;
    compare("without imports", weights(workspace, &workspace.path(abi::CORE))?, CORE_BUDGET);
    if above.is_empty() { Ok(()) } else { Err(TaskError(above.join("\n"))) }
}

/// Builds a variant, prints where its bytes are, and gives its length, raw, by gzip and by brotli.
fn weigh(workspace: &Workspace, variant: &BuildVariant) -> Result<[usize; 3], TaskError> {
    let folder = workspace.path("target/size").join(variant.name.replace(' ', "-"));
    let built = wasm::build_module(workspace, wasm::BINDING, variant.features)?;
    wasm::write_glue(workspace, &built, &folder)?;
    let (named, shipped) = (folder.join(npm::MODULE), folder.join("shipped.wasm"));
    npm::optimise_module(workspace, &named, &shipped)?;
    let unreadable = || TaskError(format!("{} is no wasm module", named.display()));
    let bytes = files::read(&named)?;
    let module = WasmModule::read(&bytes).ok_or_else(unreadable)?;
    for (part, advice) in UNWANTED {
        if let Some(function) = module.functions.iter().find(|each| each.name.contains(part)) {
            return Err(TaskError(format!("{} is in the module: {advice}", function.name)));
        }
    }
    print_shares("by crate", &share::by_crate(&module));
    print_shares("by cause", &share::by_cause(&module));
    weights(workspace, &shipped)
}

fn weights(workspace: &Workspace, file: &Path) -> Result<[usize; 3], TaskError> {
    let mut node = workspace.program("node", "");
    let printed = process::capture(node.args(["-e", THREE_SIZES]).arg(file))?;
    let numbers: Vec<usize> = printed.split(' ').filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| TaskError(format!("node printed {printed:?}, not three sizes")))
}

fn print_shares(title: &str, shares: &SizeBreakdown) {
    let total: usize = shares.iter().map(|(_, size)| size).sum();
    let (large, small): (Vec<_>, Vec<_>) =
        shares.iter().partition(|(_, size)| *size > total / SMALL);
    println!("{title}, of {total} bytes before wasm-opt:");
    let line = |size: usize, name: &str| {
        let permille = size * 1000 / total.max(1);
        println!("   {size:>9}  {:>3}.{} %  {name}", permille / 10, permille % 10);
    };
    large.iter().for_each(|(name, size)| line(*size, name));
    line(small.iter().map(|(_, size)| size).sum(), "(smaller ones together)");
}

//! `xtask-bindgen MODULE FOLDER`: runs wasm-bindgen, in the version of the library, over a built
//! module and writes the glue for `--target web` with its types. The module keeps its functions'
//! symbols. Only `xtask` starts it; its dependencies are why it is a program of its own.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("usage: xtask-bindgen MODULE FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(true);
    bindgen.remove_name_section(false).demangle(false).remove_producers_section(true);
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: wasm-bindgen over {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! `xtask-bindgen MODULE FOLDER`: runs wasm-bindgen, in the version of the library, over a built
//! module and writes the glue for `--target web` with its types. The module keeps its functions'
//! symbols; what it imports and exports gets short names. Only `xtask` starts it; its dependencies
//! are why it is a program of its own.

mod short;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("usage: xtask-bindgen MODULE FOLDER");
        return ExitCode::from(2);
    };
    match write_glue(Path::new(module), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: wasm-bindgen over {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write_glue(module: &Path, folder: &Path) -> Result<(), Error> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(true);
    bindgen.remove_name_section(false).demangle(false).remove_producers_section(true);
    let mut output = bindgen.web(true)?.generate_output()?;
    let script = output.js().to_owned();
    let names = short::rename(output.wasm_mut(), &script);
    output.emit(folder)?;
    let stem = bindgen.stem()?;
    rewrite(&folder.join(format!("{stem}.js")), |glue| names.in_script(glue))?;
    rewrite(&folder.join(format!("{stem}.d.ts")), |types| Ok(names.in_types(types)))
}

fn rewrite(file: &Path, how: impl Fn(&str) -> Result<String, Error>) -> Result<(), Error> {
    let text = how(&fs::read_to_string(file)?).with_context(|| file.display().to_string())?;
    Ok(fs::write(file, text)?)
}

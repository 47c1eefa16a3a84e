//! `xtask-bindgen [--plain] MODULE FOLDER`: runs wasm-bindgen, in the version of the library, over
//! a built module and writes the glue for `--target web` with its types. The module keeps its
//! functions' symbols; what it imports and exports gets short names. With `--plain` it is as people
//! have it who run wasm-bindgen themselves. Only `xtask` starts it; its dependencies are why it is
//! a program of its own.

mod short;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (module, written) = match arguments[..] {
        ["--plain", module, folder] => (module, write_plain(Path::new(module), Path::new(folder))),
        [module, folder] => (module, write_glue(Path::new(module), Path::new(folder))),
        _ => {
            eprintln!("usage: xtask-bindgen [--plain] MODULE FOLDER");
            return ExitCode::from(2);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: wasm-bindgen over {module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write_plain(module: &Path, folder: &Path) -> Result<(), Error> {
    Bindgen::new().input_path(module).web(true)?.omit_default_module_path(false).generate(folder)
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

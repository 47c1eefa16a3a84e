//! The program `innerloop`.

use std::process::ExitCode;

fn main() -> ExitCode {
    innerloop_host::cli::main(std::env::args_os())
}

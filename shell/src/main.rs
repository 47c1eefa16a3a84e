//! The shell as a WASI module: bashkit, over the files and programs that the host gives it. It
//! reads one request from standard input, carries it out, gives one reply, and ends. Its interface
//! is the crate `protocol`.

mod analysis;
mod builtins;
mod devices;
mod fifos;
mod files;
mod host;
mod listed;
mod missing;
mod modules;
mod programs;
mod shell;
mod state;
mod system;
mod temporary;
mod turns;

use innerloop_shell_protocol::ShellRequest;
use std::io::Read;

fn main() {
    builtins::nesting::begin_stack();
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        return refuse(&format!("the request can't be read: {error}"));
    }
    match innerloop_json::from_str::<ShellRequest>(&text) {
        Ok(request) => host::reply(&shell::answer(&request)),
        Err(error) => refuse(&format!("the request can't be understood: {error}")),
    }
}

/// Ends without a reply: the host has made a mistake, which standard error explains.
fn refuse(why: &str) {
    eprintln!("shell: {why}");
    std::process::exit(1);
}

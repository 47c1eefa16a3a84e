//! The build script, which gives the module a larger stack than the usual one of 1 MiB: bashkit's
//! own bounds, such as sixteen functions or scripts within each other, need more.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-bins=-zstack-size=4194304");
    }
}

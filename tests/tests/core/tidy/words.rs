//! What the README promises of the code.

use super::check_none;
use super::house::House;

/// Modules that the README's code map does not name.
fn unnamed(house: &House) -> Vec<String> {
    let map = house.files["README.md"].split("## Code map").nth(1).expect("a section «Code map»");
    let map = map.split("\n## ").next().unwrap();
    let mut faults = Vec::new();
    for member in ["json", "core", "driver", "tools", "wasm", "host-native", "xtask"] {
        let folder = format!("{member}/src/");
        for (path, _) in house.ending(".rs").filter(|(path, _)| path.starts_with(&folder)) {
            let mut steps = path.trim_end_matches(".rs").trim_end_matches("/mod").rsplit('/');
            let name = steps.next().unwrap();
            if !["lib", "main"].contains(&name) && !map.contains(&format!("`{name}`")) {
                faults.push(format!("{path}: not in the map"));
            }
        }
    }
    faults
}

#[test]
fn the_readmes_code_map_names_every_module() {
    check_none(&unnamed(&House::own()));
}

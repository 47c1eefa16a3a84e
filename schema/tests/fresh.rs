//! The generated files are what the code makes of them.

use std::path::Path;

use expect_test::expect_file;
use innerloop_schema::files;

#[test]
fn the_generated_files_are_what_the_code_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in files() {
        expect_file![root.join(file.path)].assert_eq(&file.text);
    }
}

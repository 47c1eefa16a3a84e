//! Cases of `glob`.

use super::case::{Case, case};
use innerloop_core::action::ToolError::{InvalidArguments, NotFound, WrongFileType};
use serde_json::{Value, json};

pub(super) fn cases() -> Vec<Case> {
    [patterns(), ignored(), failures()].concat()
}

fn glob(pattern: &str) -> Value {
    json!({"action":"glob","pattern":pattern})
}

/// The files of the cases, the oldest first.
fn tree(case: Case) -> Case {
    case.file("src/a.ts", "")
        .file("src/lib/b.ts", "")
        .file("src/lib/c.test.ts", "")
        .file("top.ts", "")
        .file("src/d.js", "")
        .file(".config/e.json", "")
        .file(".git/f.ts", "")
}

fn patterns() -> Vec<Case> {
    let many: Vec<String> = (0..1002).map(|n| format!("f{n:04}")).collect();
    let newest: Vec<&str> = many.iter().rev().take(1000).map(String::as_str).collect();
    let mut crowd = case("c13 many files are cut", glob("f*"))
        .says(format!(
            "{}\n[Cut at the newest 1000 of 1002 files. Narrow the pattern.]",
            newest.join("\n")
        ))
        .capped();
    crowd.files = many.iter().map(|name| (name.clone(), Vec::new())).collect();
    vec![
        tree(case("c13 any depth, newest first", glob("**/*.ts")))
            .says("top.ts\nsrc/lib/c.test.ts\nsrc/lib/b.ts\nsrc/a.ts"),
        tree(case("c13 a name matches at any depth", glob("*.js"))).says("src/d.js"),
        tree(case("c13 one star stays in its folder", glob("src/*.ts"))).says("src/a.ts"),
        tree(case("c13 alternatives and classes", glob("src/**/[ab].{ts,js}")))
            .says("src/lib/b.ts\nsrc/a.ts"),
        tree(case("c13 one character", glob("src/?.js"))).says("src/d.js"),
        tree(case(
            "c13 seen from a folder",
            json!({"action":"glob","pattern":"lib/*.ts","path":"src"}),
        ))
        .says("src/lib/c.test.ts\nsrc/lib/b.ts"),
        tree(case("c13 a leading slash or dot", glob("/src/*.js"))).says("src/d.js"),
        tree(case("c13 a folder's name", glob("src/lib/"))).says("src/lib/c.test.ts\nsrc/lib/b.ts"),
        tree(case("c13 hidden files but not .git", glob("**/[ef].*"))).says(".config/e.json"),
        tree(case("c13 everything but", glob("!**/*.ts"))).says(".config/e.json\nsrc/d.js"),
        tree(case("c13 none", glob("*.py"))).says("No files found."),
        crowd,
    ]
}

/// What is told where there are too many rules.
pub(super) const TOO_MANY_RULES: &str =
    "[The .gitignore files have more than 10,000 rules. Those behind them are not obeyed.]";

/// The files of a case of which two files have a rule too many, and one a rule that is too long.
pub(super) fn crowded(case: Case) -> Case {
    let rules = |prefix: &str, count: u32| -> String {
        (0..count).map(|n| format!("{prefix}{n}\n")).collect()
    };
    case.file(".gitignore", format!("{}*\n{}early.txt\n", "k".repeat(5000), rules("top", 5_999)))
        .file("sub/.gitignore", rules("sub", 4_000) + "late.txt\n")
        .file("early.txt", "here\n")
        .file("kept.txt", "here\n")
        .file("sub/late.txt", "here\n")
}

fn ignored() -> Vec<Case> {
    vec![
        case("gitignore: names, folders, anchors, negation", glob("**"))
            .file("keep/a.log", "")
            .file("keep/important.log", "")
            .file("keep/build", "a file, not a folder")
            .file("build/out.js", "")
            .file("sub/build/out.js", "")
            .file("only-top", "")
            .file("sub/only-top", "")
            .file("docs/x/y.html", "")
            .file("{a}", "")
            .file(
                ".gitignore",
                "# comment\n\n*.log\n!important.log\nbuild/\n/only-top\ndocs/**/*.html\r\n\\{b}\n",
            )
            .says(".gitignore\n{a}\nsub/only-top\nkeep/build\nkeep/important.log"),
        case("gitignore: a byte order mark is no part of the first rule", glob("**"))
            .file("secret/a", "")
            .file("b.log", "")
            .file("c", "")
            .file(".gitignore", "\u{feff}secret/\n*.log\n")
            .says(".gitignore\nc"),
        crowded(case("gitignore: rules beyond the limit", glob("**/*.txt")))
            .says(format!("sub/late.txt\nkept.txt\n{TOO_MANY_RULES}")),
        crowded(case("gitignore: no file, and rules beyond the limit", glob("**/*.md"))).says(
            format!("No files found. Files that .gitignore names are left out.\n{TOO_MANY_RULES}"),
        ),
        case("gitignore: a nested file overrides", glob("**/*.txt"))
            .file(".gitignore", "*.txt\n")
            .file("a/.gitignore", "!b.txt\n/c/\n")
            .file("a/b.txt", "")
            .file("a/d.txt", "")
            .file("a/c/b.txt", "")
            .file("b.txt", "")
            .says("a/b.txt"),
        case(
            "gitignore: the files above a searched folder count",
            json!({"action":"glob","pattern":"*","path":"a/b"}),
        )
        .file(".gitignore", "*.log\n")
        .file("a/.gitignore", "/b/x\n")
        .file("a/b/x", "")
        .file("a/b/y.log", "")
        .file("a/b/z", "")
        .says("a/b/z"),
        case(
            "gitignore: a folder that is named is searched",
            json!({"action":"glob","pattern":"*.js","path":"node_modules/m"}),
        )
        .file(".gitignore", "node_modules\n")
        .file("node_modules/m/i.js", "")
        .says("node_modules/m/i.js"),
        case("gitignore: nothing left says why", glob("*.js"))
            .file(".gitignore", "node_modules\n")
            .file("node_modules/m/i.js", "")
            .says("No files found. Files that .gitignore names are left out."),
        case("gitignore: two stars within a name are one", glob("*.c"))
            .file(".gitignore", "a**b.c\n/***/x.c\n")
            .file("a/b.c", "")
            .file("a1b.c", "")
            .file("d/x.c", "")
            .file("d/e/x.c", "")
            .says("a/b.c"),
        case("gitignore: odd lines do no harm", glob("*.c"))
            .file(".gitignore", b"[\n!\n/\n\\\n!!x\n\xff\xfe\n   \n**/\n{{{{\n")
            .file("a.c", "")
            .says("a.c"),
    ]
}

fn failures() -> Vec<Case> {
    let deep = "{a,b,c,d,e,f,g,h,i,j}".repeat(4);
    vec![
        case("c13 an empty pattern", glob("")).fails(
            InvalidArguments,
            "The pattern \"\" is invalid: it is empty; give for example **/*.ts.",
        ),
        case("c13 an open brace", glob("*.{ts,js")).fails(
            InvalidArguments,
            "The pattern \"*.{ts,js\" is invalid: unclosed brace expansion at byte 2; missing '}' \
             (to match a literal '{', escape it as '\\{' or '[{]').",
        ),
        case("c13 too many alternatives", glob(&deep)).fails(
            InvalidArguments,
            format!("The pattern {deep:?} is invalid: it has more than 1,000 alternatives."),
        ),
        tree(case("c13 no such folder", json!({"action":"glob","pattern":"*","path":"lib"})))
            .fails(NotFound, "No such file or folder: lib. List . to see what is there."),
        tree(case("c13 a file", json!({"action":"glob","pattern":"*","path":"top.ts"})))
            .fails(WrongFileType, "top.ts is a file, not a folder. Name a folder to search."),
    ]
}

//! Patches whose indentation is not the file's: they do what the properly indented patch does.

use innerloop_core::action::{Action, Outcome, ToolError};
use innerloop_tools::{InMemoryFiles, WorkspaceFiles, WorkspacePath, perform};

/// What a patch with these hunks makes of a file.
fn applied(file: &str, hunks: &str) -> String {
    let (outcome, text) = outcome(file, hunks);
    assert_eq!(outcome.error, None, "{}\n{file}\n{hunks}", outcome.joined_text());
    text
}

/// What is said of a patch with these hunks, and the file afterwards.
fn outcome(file: &str, hunks: &str) -> (Outcome, String) {
    let mut files = InMemoryFiles::new();
    let path = WorkspacePath::parse("a").unwrap();
    files.write(&path, file.as_bytes().to_vec()).unwrap();
    let patch = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    let outcome = perform(&mut files, &Action::patch(patch));
    (outcome, String::from_utf8(files.read(&path).unwrap().into_owned()).unwrap())
}

const PYTHON: &str = "class Store:
    def load(self):
        try:
            with open(self.path) as file:

                for line in file:
                    self.add(line)
        except OSError:
            return None

    def save(self):
        return 1
";

const SCRIPT: &str = "export function run(list) {
  for (const item of list) {
    if (item.ok) {
      item.start();

      item.stop();
    }
  }
}
";

const GO: &str = "package main

func main() {
\tfor _, it := range all {
\t\tif it.ok {
\t\t\tit.start()

\t\t\tit.stop()
\t\t}
\t}
}
";

const RUST: &str = "impl Tree {
    fn insert(&mut self, key: Key) {
        match self.find(key) {
            Some(place) => {
                self.values[place] += 1;
            }
            None => self.push(key),
        }
    }
}
";

const YAML: &str = "jobs:
  test:
    steps:
      - run: make
        env:
          A: 1
      - run: done
";

/// Files, each with a properly indented hunk.
const PLACES: [(&str, &str); 7] = [
    (
        PYTHON,
        "@@     def load(self):
             with open(self.path) as file:
 
                 for line in file:
-                    self.add(line)
+                    if line:
+                        self.add(line)
+
+                    self.count += 1
",
    ),
    (
        PYTHON,
        "@@
         except OSError:
-            return None
+            raise
 
     def save(self):
-        return 1
+        if self.path:
+            return 1
",
    ),
    (
        SCRIPT,
        "@@ export function run(list) {
     if (item.ok) {
-      item.start();
+      item.start({
+        now: true,
+      });
 
       item.stop();
     }
",
    ),
    (
        GO,
        "@@ func main() {
 		if it.ok {
-			it.start()
+			if err := it.start(); err != nil {
+				return
+			}
 
 			it.stop()
 		}
",
    ),
    (
        RUST,
        "@@ impl Tree {
         match self.find(key) {
             Some(place) => {
-                self.values[place] += 1;
+                if let Some(value) = self.values.get_mut(place) {
+                    *value += 1;
+                }
             }
",
    ),
    (
        YAML,
        "@@   test:
       - run: make
         env:
-          A: 1
+          A: 2
+          B:
+            - 3
",
    ),
    (
        PYTHON,
        "@@ class Store:
     def save(self):
+        self.flush()
         return 1
",
    ),
];

/// The hunk with each line changed; its number among the old lines that are not blank counts from
/// 0, new lines have none.
fn with(hunk: &str, change: &dyn Fn(Option<usize>, &str) -> String) -> String {
    let mut old = 0;
    let line = |line: &str| {
        let (mark, text) = line.split_at(1);
        if mark == "@" || text.is_empty() {
            return format!("{line}\n");
        }
        let number = (mark != "+").then_some(old);
        old += usize::from(number.is_some());
        format!("{mark}{}\n", change(number, text))
    };
    hunk.lines().map(line).collect()
}

fn width(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The narrowest indentation of the hunk's lines, if it has no tabs.
fn narrowest(hunk: &str) -> usize {
    let lines = hunk.lines().filter(|line| !line.starts_with('@') && line.len() > 1);
    if hunk.contains('\t') { 0 } else { lines.map(|line| width(&line[1..])).min().unwrap() }
}

fn count(hunk: &str) -> usize {
    let olds = hunk.lines().filter(|line| line.starts_with(['-', ' ']) && line.len() > 1);
    olds.count()
}

/// All of the hunk's variants that say the same with other indentation.
fn variants(hunk: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, change: &dyn Fn(Option<usize>, &str) -> String| {
        all.push((name, with(hunk, change)));
    };
    let last = count(hunk) - 1;
    for by in [2, 4, 8, 12] {
        if by <= narrowest(hunk) {
            add(format!("dedented by {by}"), &|_, line| line[by..].to_owned());
        }
        if by < 12 {
            add(format!("indented by {by}"), &|_, line| format!("{:by$}{line}", ""));
        }
    }
    let bare = |is_bare: bool, line: &str| {
        if is_bare { line.trim_start().to_owned() } else { line.to_owned() }
    };
    if last > 1 {
        add("only the first line dedented".into(), &|number, line| bare(number == Some(0), line));
        add("only the last dedented".into(), &|number, line| bare(number == Some(last), line));
    }
    for by in [2, 4, 8] {
        let spaced = |line: &str| {
            let tabs = width(line);
            format!("{:1$}{2}", "", tabs * by, &line[tabs..])
        };
        if hunk.contains('\t') {
            add(format!("tabs as {by} spaces"), &|_, line| spaced(line));
            add(format!("tabs as {by} spaces, dedented"), &|_, line| spaced(&line[1..]));
            add(format!("tabs as {by} spaces, indented"), &|_, line| spaced(&format!("\t{line}")));
        }
    }
    if hunk.contains('\t') {
        add("dedented by a tab".into(), &|_, line| line[1..].to_owned());
        add("indented by a tab".into(), &|_, line| format!("\t{line}"));
    } else {
        let unit = if hunk.contains("list") || hunk.contains("run:") { 2 } else { 4 };
        let tabbed = |line: &str| {
            let spaces = width(line);
            format!("{}{}", "\t".repeat(spaces / unit), &line[spaces..])
        };
        add("spaces as tabs".into(), &|_, line| tabbed(line));
        if unit <= narrowest(hunk) {
            add("spaces as tabs, dedented".into(), &|_, line| tabbed(&line[unit..]));
        }
    }
    all
}

#[test]
fn h3_a_patch_with_other_indentation_does_what_the_proper_one_does() {
    let mut seen = 0;
    for (file, hunk) in PLACES {
        let expected = applied(file, hunk);
        assert_ne!(expected, file);
        for (name, variant) in variants(hunk) {
            assert_eq!(applied(file, &variant), expected, "{name}:\n{variant}");
            seen += 1;
        }
    }
    assert!(seen >= 60, "only {seen} variants");
}

#[test]
fn h3_the_old_lines_say_how_new_lines_are_indented() {
    let cases: [(&str, &str, &str, &str); 9] = [
        (
            "a first line that was trimmed says nothing",
            "    a\n    b\n    c\n",
            "@@\n a\n-    b\n+    B\n     c\n",
            "    a\n    B\n    c\n",
        ),
        (
            "a first line that was trimmed, and one that is as it should be",
            "    a:\n        b\n",
            "@@\n a:\n-        b\n+        c\n",
            "    a:\n        c\n",
        ),
        (
            "lines of context without their marks",
            "    a\n    b\n    c\n    d\n",
            "@@\n    a\n    b\n-    c\n+    C\n    d\n",
            "    a\n    b\n    C\n    d\n",
        ),
        (
            "only lines of context, without their marks",
            "    a\n    b\n",
            "@@\n    a\n+    x\n    b\n",
            "    a\n    x\n    b\n",
        ),
        (
            "a removed line that is one space short is meant",
            " a\n  b\n",
            "@@\n-a\n- b\n+c\n+ d\n",
            " c\n  d\n",
        ),
        (
            "what is kept keeps the file's text",
            "\ta\n\t\tb \n",
            "@@\n   a\n+    x\n     b\n",
            "\ta\n\t\tx\n\t\tb \n",
        ),
        (
            "new lines that are indented already",
            "x\n    a\n    b\n",
            "@@\n-a\n-b\n+    c\n+        d\n",
            "x\n    c\n        d\n",
        ),
        (
            "new lines in the file's own characters",
            "x\n\ta\n\t\tb\n",
            "@@\n-    a\n-        b\n+\tc\n+\t\td\n",
            "x\n\tc\n\t\td\n",
        ),
        (
            "blank new lines stay blank",
            "    a\n",
            "@@\n-a\n+b\n+\n+  \n+c\n",
            "    b\n\n  \n    c\n",
        ),
    ];
    for (name, file, hunk, expected) in cases {
        assert_eq!(applied(file, hunk), expected, "{name}");
    }
}

#[test]
fn h3_new_lines_that_cannot_take_on_the_indentation_change_nothing() {
    let wide = format!("{:5000}a\n", "");
    let many = format!("@@\n-a\n{}", "+b\n".repeat(1_000));
    let cases: [(&str, &str, &str); 6] = [
        (
            "lines shifted by different amounts",
            "a:\n  b:\n    - x\n",
            "@@\n a:\n-    b:\n+    c:\n         - x\n",
        ),
        ("one against one", "a:\n    b\n", "@@\n a:\n-b\n+c\n"),
        ("less than is taken away", "a\nb\n", "@@\n     a\n-    b\n+    c\n+  d\n"),
        ("tabs before spaces", "\ta\n\t  b\n", "@@\n-a\n-  b\n+a\n+    c\n"),
        ("no whole step", "\ta\n\t\tb\n", "@@\n     a\n-        b\n+       c\n"),
        ("a very wide line", &wide, &many),
    ];
    for (name, file, hunks) in cases {
        let (outcome, text) = outcome(file, hunks);
        let words = outcome.joined_text();
        assert_eq!(outcome.error, Some(ToolError::EditConflict), "{name}: {words}");
        assert!(words.contains("another indentation, at line 1"), "{name}: {words}");
        assert_eq!(text, file, "{name}");
    }
}

#[test]
fn h3_lines_are_looked_for_below_the_anchor_before_the_anchor_itself() {
    let two = "def f():\n    return 1\n\nclass A:\n    def f():\n        return 1\n";
    let cases: [(&str, &str, &str, &str); 12] = [
        ("below", "beta\nreturn 1\nbeta\n", "@@ beta\n-beta\n+x\n", "beta\nreturn 1\nx\n"),
        ("itself", "beta\nreturn 1\n", "@@ beta\n-beta\n+x\n", "x\nreturn 1\n"),
        (
            "loosely below counts before exactly itself",
            "beta\nreturn 1\n  beta\n",
            "@@ beta\n-beta\n+x\n",
            "beta\nreturn 1\n  x\n",
        ),
        (
            "the anchor is the first of several lines",
            "a\nb\nc\na\nb\nd\n",
            "@@ a\n a\n-b\n+x\n c\n",
            "a\nx\nc\na\nb\nd\n",
        ),
        (
            "the same lines again below",
            two,
            "@@ def f():\n def f():\n-    return 1\n+    return 2\n",
            "def f():\n    return 1\n\nclass A:\n    def f():\n        return 2\n",
        ),
        (
            "several anchors, the last of which is the first line",
            two,
            "@@ class A:\n@@     def f():\n     def f():\n-        return 1\n+        return 2\n",
            "def f():\n    return 1\n\nclass A:\n    def f():\n        return 2\n",
        ),
        (
            "several anchors, the last of which is found loosely",
            two,
            "@@ class A:\n@@ def f():\n-return 1\n+return 2\n",
            "def f():\n    return 1\n\nclass A:\n    def f():\n        return 2\n",
        ),
        ("the same hunk twice", "a\nx\na\nx\n", "@@ a\n-x\n+y\n@@ a\n-x\n+y\n", "a\ny\na\ny\n"),
        (
            "the same hunk twice, with the anchor among its lines",
            "a\nx\na\nx\n",
            "@@ a\n a\n-x\n+y\n@@ a\n a\n-x\n+z\n",
            "a\nz\na\ny\n",
        ),
        ("only new lines", "a\nb\na\nb\n", "@@ a\n+x\n@@ a\n+y\n", "a\nx\nb\na\ny\nb\n"),
        ("the end of the file", "a\nx\nb\nx\n", "@@ a\n-x\n+y\n*** End of File\n", "a\nx\nb\ny\n"),
        (
            "the end of the file is the anchor itself",
            "b\nx\n",
            "@@ x\n-x\n+y\n*** End of File\n",
            "b\ny\n",
        ),
    ];
    for (name, file, hunk, expected) in cases {
        assert_eq!(applied(file, hunk), expected, "{name}");
    }
}

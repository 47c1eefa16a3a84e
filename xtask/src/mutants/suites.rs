//! Which tests judge a fault: the fast ones, by the part of the code that it is in. What one suite
//! lets through, the next one looks at; so those come first that notice most for their time.

/// A part of the code, and the suites that judge it.
pub(crate) struct MutationSubject {
    /// The beginning of its files' paths; a file belongs to the first subject that it fits.
    place: &'static str,
    pub(crate) package: &'static str,
    pub(crate) suites: &'static [TestSuite],
}

/// Tests of one package.
#[derive(Clone, Copy)]
pub(crate) struct TestSuite {
    /// The name of the suite, and of its folder.
    pub(crate) name: &'static str,
    package: &'static str,
    tests: &'static str,
    /// Parts of the names of tests; all are meant if there are none.
    only: &'static [&'static str],
    but: &'static [&'static str],
}

/// The crates that faults are put into, by their folders.
pub(crate) const CRATES: [(&str, &str); 5] = [
    ("core/types", "innerloop-types"),
    ("core/wire", "innerloop-wire"),
    ("core", "innerloop-core"),
    ("driver", "innerloop-driver"),
    ("tools", "innerloop-tools"),
];

pub(crate) const SUBJECTS: [MutationSubject; 5] = [
    MutationSubject {
        place: "core/wire/",
        package: "innerloop-wire",
        suites: &[WIRES, QUICK, BYTES],
    },
    MutationSubject {
        place: "core/types/",
        package: "innerloop-types",
        suites: &[QUICK, DRIVER, WIRES, SESSIONS],
    },
    MutationSubject {
        place: "core/src/",
        package: "innerloop-core",
        suites: &[QUICK, DRIVER, WIRES, SESSIONS],
    },
    MutationSubject { place: "driver/", package: "innerloop-driver", suites: &[DRIVER, QUICK] },
    MutationSubject { place: "tools/", package: "innerloop-tools", suites: &[QUICK, TOOLS, FILES] },
];

/// Most of the tests of core and tools, in a few seconds.
const QUICK: TestSuite = TestSuite { name: "quick", but: &SLOW, ..CORE };
/// The protocols, in half a minute.
const WIRES: TestSuite = TestSuite { name: "wires", only: &OF_WIRES, but: &SLOW_WIRES, ..CORE };
/// The protocols again, whatever the bytes.
const BYTES: TestSuite = TestSuite { name: "bytes", only: &OF_BYTES, ..CORE };
/// Sessions with many calls, and those of the simulator.
const SESSIONS: TestSuite = TestSuite { name: "sessions", only: &OF_SESSIONS, ..CORE };
/// The tools over large files and any bytes.
const FILES: TestSuite = TestSuite { name: "files", only: &OF_FILES, ..CORE };
const DRIVER: TestSuite = TestSuite { name: "driver", tests: "--test=driver", ..CORE };
const TOOLS: TestSuite =
    TestSuite { name: "tools", package: "innerloop-tools", tests: "--lib", ..CORE };
const CORE: TestSuite = TestSuite {
    name: "core",
    package: "innerloop-tests",
    tests: "--test=core",
    only: &[],
    but: &[],
};

/// Tests that take longer than all others together.
const SLOW: [&str; 12] = [
    "across_wires::",
    "fuzzing::",
    "simulation::",
    "text_calls::",
    "wire_",
    "a_thousand_calls",
    "c18_a_run_is_shared",
    "g8_the_smoke_test",
    "large_and_repetitive",
    "many_hunks_go_where",
    "the_other_cases_hold",
    "whatever_a_model_sends",
];

const OF_WIRES: [&str; 4] = ["across_wires::", "failures::", "text_calls::", "wire_"];
const SLOW_WIRES: [&str; 5] =
    ["cut_anywhere", "every_dialect", "quirks_of_framing", "schema_that_multiplies", "x10_"];
const OF_BYTES: [&str; 6] =
    ["fuzzing::l", "cut_anywhere", "every_dialect", "quirks_of_framing", "schema_that", "x10_"];
/// Of the simulator's tests most look at its checkers, not at the sessions.
const OF_SESSIONS: [&str; 5] = [
    "a_thousand_calls",
    "c18_a_run_is_shared",
    "g8_the_smoke_test",
    "every_change_of_phase",
    "simulation::no_seed",
];
const OF_FILES: [&str; 4] =
    ["fuzzing::h", "large_and_repetitive", "many_hunks_go_where", "the_other_cases_hold"];

/// Tests that read the sources: to them a fault is a line that is too long.
const TIDY: &str = "tidy::";

impl MutationSubject {
    /// Returns whether it is the one that a file belongs to.
    pub(crate) fn holds(&self, file: &str) -> bool {
        let first = SUBJECTS.iter().find(|subject| file.starts_with(subject.place));
        first.is_some_and(|first| first.place == self.place)
    }
}

impl TestSuite {
    /// Returns what cargo is told to build it, and shortly: for one run nothing is worth
    /// optimising.
    pub(crate) fn of_build(&self) -> [String; 4] {
        [
            format!("--package={}", self.package),
            self.tests.to_owned(),
            "--config=profile.dev.debug=false".to_owned(),
            "--config=profile.dev.package.innerloop-core.opt-level=0".to_owned(),
        ]
    }

    /// Returns what the tests are told, to run those that are meant.
    pub(crate) fn of_tests(&self) -> Vec<String> {
        let but = self.but.iter().chain([&TIDY]);
        let skipped = but.map(|part| format!("--skip={part}"));
        self.only.iter().map(|part| (*part).to_owned()).chain(skipped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_one_part() {
        let of = |file: &str| SUBJECTS.iter().filter(|subject| subject.holds(file)).count();
        assert_eq!(["core/wire/src/a.rs", "core/src/a.rs", "tools/src/b.rs"].map(of), [1; 3]);
        assert_eq!(of("json/src/lib.rs"), 0);
    }

    #[test]
    fn tests_are_chosen_by_parts_of_their_names() {
        assert_eq!(DRIVER.of_tests(), ["--skip=tidy::"]);
        let (wires, skipped) = (WIRES.of_tests(), OF_WIRES.len() + SLOW_WIRES.len());
        assert_eq!(wires.first().map(String::as_str), Some("across_wires::"));
        assert_eq!(wires.get(skipped).map(String::as_str), Some("--skip=tidy::"));
    }
}

//! A program that is killed at any moment, while a disk is busy: what the model was told of is
//! there, a call's changes are there wholly or not at all, and no folder stays half applied. With
//! `INNERLOOP_KILLS` it is as many kills as that.

use innerloop_tests::{
    anthropic::Message,
    example::programs_and_shell as programs,
    program::{Started, innerloop, run, wait_for},
    scene::Scene,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// The files of a workspace, by name.
type Tree = BTreeMap<String, String>;

/// How many kills there are in each place, if nothing else is said.
const KILLS: u32 = 12;

/// Calls that change files, before the last word.
const CALLS: usize = 3;

/// A kill comes so late at most after what it waits for.
const LATEST_MS: u64 = 80;

fn kills() -> u32 {
    std::env::var("INNERLOOP_KILLS").map_or(KILLS, |many| many.parse().expect("a number"))
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most
    }
}

/// A disk that is written to until it is dropped: 8 MiB, again and again.
struct BusyDisk(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);

impl BusyDisk {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let writing = thread::spawn(move || {
            let folder = tempfile::tempdir().unwrap();
            while !seen.load(Ordering::Acquire) {
                let mut file = fs::File::create(folder.path().join("load")).unwrap();
                file.write_all(&vec![7; 8 << 20]).unwrap();
                file.sync_all().unwrap();
            }
        });
        Self(is_over, Some(writing))
    }
}

impl Drop for BusyDisk {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.take().into_iter().for_each(|writing| writing.join().unwrap());
    }
}

/// The workspace as it is after each of the calls.
fn states() -> [Tree; CALLS + 1] {
    let tree = |files: &[(&str, String)]| -> Tree {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect()
    };
    let (new, newer) = ("new\n".repeat(9_000), "newer\n".repeat(8_000));
    let first = "b\n".repeat(500);
    let begin = tree(&[("b.txt", first.clone())]);
    let one = tree(&[("a.txt", new.clone()), ("b.txt", first.clone())]);
    let copies = (1..=8).map(|copy| (format!("copy{copy}"), new.clone()));
    let appended = ("b.txt".to_owned(), format!("{first}two\n"));
    let two: Tree = one.clone().into_iter().chain([appended]).chain(copies).collect();
    let three = two.clone().into_iter().chain([("a.txt".to_owned(), newer)]).collect();
    [begin, one, two, three]
}

fn write(id: &str, path: &str, text: &str) -> Message {
    Message::call(id, "write_file", &json!({"file_path": path, "content": text}))
}

/// A scene whose agent makes the calls.
fn scene(states: &[Tree]) -> Scene {
    let line = "for n in 1 2 3 4 5 6 7 8; do cp a.txt copy$n; done; echo two >> b.txt";
    let messages = [
        write("toolu_1", "a.txt", &states[1]["a.txt"]),
        Message::call("toolu_2", "shell", &json!({"command": line})),
        write("toolu_3", "a.txt", &states[3]["a.txt"]),
        Message::text("done"),
    ];
    let scene = Scene::streaming(&messages);
    states[0].iter().fold(scene, |scene, (name, text)| scene.file(name, text))
}

/// Runs the program and kills it at some moment; gives how many calls the model was told of.
fn killed(scene: &Scene, dice: &mut Dice) -> usize {
    let program = Started::new(scene.command("go").arg("--programs").arg(programs()), b"");
    let told = || scene.model.requests().len();
    let awaited = usize::try_from(dice.below(CALLS as u64 + 2)).unwrap();
    wait_for("a request", || told() >= awaited || program.said().contains("applied"));
    let late = Duration::from_millis(dice.below(LATEST_MS));
    let from = Instant::now();
    while from.elapsed() < late {
        thread::sleep(Duration::from_millis(1));
    }
    program.signal("KILL");
    let _ended = program.finish();
    told().saturating_sub(1)
}

/// Another command of the program, by the same user in the same folder.
fn beside(scene: &Scene, args: &[&str]) -> Command {
    let mut command = innerloop(args);
    command.env("XDG_STATE_HOME", scene.path("state")).current_dir(scene.workspace());
    command
}

/// The session that was kept first, which was killed; or a name of none.
fn first_session(scene: &Scene) -> String {
    let list = run(&mut beside(scene, &["sessions", "list", "--json"]));
    let first = list.json_lines().pop();
    first.map_or("none".to_owned(), |first| first["id"].as_str().unwrap().to_owned())
}

fn tree(scene: &Scene) -> Tree {
    let entries = fs::read_dir(scene.workspace()).unwrap().flatten();
    let files = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap_or_else(|_| "no file".to_owned());
        (name, text)
    });
    files.collect()
}

/// What differs, by name and size.
fn told(tree: &Tree) -> Vec<String> {
    tree.iter().map(|(name, text)| format!("{name}: {}", text.len())).collect()
}

#[test]
fn m3_a_kill_leaves_an_overlay_whole_and_no_folder_half_applied() {
    let (states, _load) = (states(), BusyDisk::start());
    for kill in 0..kills() {
        let scene = scene(&states);
        let told_of = killed(&scene, &mut Dice(u64::from(kill)));
        if kill % 2 == 1 {
            // Another session in that folder puts it right before it begins.
            let other = Scene::streaming(&[Message::text("hello")]);
            let mut begun = beside(&scene, &["run", "hi", "--diff", "--base-url"]);
            let begun = run(begun.arg(other.provider().1));
            let found = tree(&scene);
            let is_whole = found == states[0] || found == states[CALLS];
            let of = told(&found);
            assert!(is_whole, "kill {kill}: {of:?} {begun:#?}");
            assert_eq!(begun.code, Some(0), "kill {kill}: {begun:#?}");
        }
        let session = first_session(&scene);
        let applied = run(&mut beside(&scene, &["sessions", "apply", &session]));
        let found = tree(&scene);
        let calls = states.iter().position(|state| *state == found);
        let calls = calls.unwrap_or_else(|| panic!("kill {kill}: {:?} {applied:#?}", told(&found)));
        let of = format!("kill {kill}: {calls} of the calls, {told_of} told; {applied:#?}");
        assert!(calls >= told_of, "{of}");
        match applied.code {
            Some(0) => assert!(calls > 0, "{of}"),
            // Before the first change, and after the last.
            Some(2) => assert!(calls == 0 || calls == CALLS, "{of}"),
            _ => panic!("{of}"),
        }
    }
}

#[test]
fn m3_a_kill_leaves_what_tools_write_in_place_whole() {
    let (states, _load) = (states(), BusyDisk::start());
    for kill in 0..kills() {
        let scene = scene(&states).in_place();
        let told_of = killed(&scene, &mut Dice(u64::from(kill) << 32));
        let found = tree(&scene);
        let of = format!("kill {kill}: {told_of} told; {:?}", told(&found));
        let is_whole = |name: &str| states.iter().any(|state| state.get(name) == found.get(name));
        assert!(is_whole("a.txt") && is_whole("b.txt"), "{of}");
        // What the model was told of is there, by that call or a later one.
        for name in states[told_of.min(CALLS)].keys() {
            let later = states.iter().skip(told_of);
            let mut texts = later.filter_map(|state| state.get(name));
            assert!(texts.any(|text| Some(text) == found.get(name)), "{name}: {of}");
        }
    }
}

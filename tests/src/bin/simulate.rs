//! Runs the simulator over many seeds: `simulate --seeds N [--from SEED] [--seconds S] [--all]`.
//! Each seed drives a session, and a driver around one. Stops at the first seed that fails, with
//! the session's trace, and exits 1.

use innerloop_tests::simulator::{Fault, Plan, run, run_hosted};
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

const USAGE: &str = "usage: simulate --seeds N [--from SEED] [--seconds S] [--all]
  --seeds N    how many seeds to run at most; without it, until the time is over
  --from SEED  the first seed; 0 if left out
  --seconds S  how long to run at most; without it, until all seeds are done
  --all        goes on after a fault, and names all seeds that fail";

/// Lines of the trace that are shown.
const TRACE_LINES: usize = 400;

/// Inputs that a driver hears.
const DRIVER_STEPS: usize = 200;

struct Args {
    seeds: u64,
    from: u64,
    seconds: u64,
    all: bool,
}

fn main() -> ExitCode {
    let args = match args(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let (begin, most) = (Instant::now(), Duration::from_secs(args.seconds));
    let (mut done, mut steps, mut told) = (0, 0, Duration::ZERO);
    let mut faults = 0;
    while done < args.seeds && begin.elapsed() < most {
        let seed = args.from.wrapping_add(done);
        match run(seed, Plan::default()) {
            Ok(report) => steps += report.steps,
            Err(fault) if args.all => {
                faults += 1;
                let head: String = fault.message.chars().take(160).collect();
                println!("seed {} fails after {} steps: {head}", fault.seed, fault.steps);
            }
            Err(fault) => {
                show(&fault);
                return ExitCode::FAILURE;
            }
        }
        if let Err(what) = run_hosted(seed, DRIVER_STEPS) {
            println!("seed {seed} fails with a driver {what}");
            keep(seed);
            faults += 1;
            if !args.all {
                return ExitCode::FAILURE;
            }
        }
        done += 1;
        if begin.elapsed() >= told + Duration::from_secs(10) {
            told = begin.elapsed();
            eprintln!("{done} seeds, {steps} steps, {} s", told.as_secs());
        }
    }
    let seconds = begin.elapsed().as_secs_f64().max(0.001);
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let (seeds_per_s, steps_per_s) = (done as f64 / seconds, steps as f64 / seconds);
    println!(
        "{done} seeds from {}, {steps} steps in {seconds:.1} s: {seeds_per_s:.0} seeds/s, \
         {steps_per_s:.0} steps/s; {faults} faults",
        args.from
    );
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows a fault, with the trace of the same run made again.
fn show(fault: &Fault) {
    let again = run(fault.seed, Plan { trace: true, ..Plan::default() });
    let trace = again.err().map(|fault| fault.trace).unwrap_or_default();
    let skipped = trace.len().saturating_sub(TRACE_LINES);
    if skipped > 0 {
        println!("… {skipped} lines before");
    }
    for line in trace.iter().skip(skipped) {
        println!("{line}");
    }
    println!("seed {} fails after {} steps: {}", fault.seed, fault.steps, fault.message);
    keep(fault.seed);
}

/// Says what to do with a seed that fails.
fn keep(seed: u64) {
    println!("again: cargo xtask simulate --seeds 1 --from {seed}");
    println!("keep it: add the line {seed} to tests/fixtures/seeds.txt");
}

fn args(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { seeds: u64::MAX, from: 0, seconds: u64::MAX, all: false };
    let mut is_bounded = false;
    while let Some(word) = words.next() {
        let place = match word.as_str() {
            "--seeds" => &mut args.seeds,
            "--from" => &mut args.from,
            "--seconds" => &mut args.seconds,
            "--all" => {
                args.all = true;
                continue;
            }
            _ => return Err(format!("{word} is not known")),
        };
        is_bounded |= word != "--from";
        let number = words.next().ok_or_else(|| format!("{word} needs a number"))?;
        *place = number.parse().map_err(|_| format!("{word} needs a number, not {number}"))?;
    }
    if is_bounded { Ok(args) } else { Err("give --seeds or --seconds".to_owned()) }
}

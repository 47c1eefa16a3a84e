//! Which faults are tried: those in changed lines, those that survived the last run, or those of
//! crates and modules; all of them or a sample that a seed gives again.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::fault::CodeMutant;
use crate::failure::TaskError;

/// The plan that the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MutationPlan {
    /// True if whole crates are meant; only changed lines otherwise.
    all: bool,
    /// True if those are meant that survived the last run.
    pub(crate) again: bool,
    /// Crates and modules in them, as `core` or `core/machine`.
    places: Vec<String>,
    seed: Option<u64>,
    count: Option<usize>,
    /// True if the faults are listed and not tried.
    pub(crate) lists: bool,
}

impl MutationPlan {
    /// Reads `[--all | --again | PLACE…] [--seed N] [--count N] [--list]`.
    ///
    /// # Errors
    /// When it is something else; the reason says what.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let (mut plan, mut words) = (Self::default(), words.iter());
        while let Some(&word) = words.next() {
            let mut number = || words.next().and_then(|number| number.parse().ok());
            match word {
                "--all" => plan.all = true,
                "--again" => plan.again = true,
                "--list" => plan.lists = true,
                "--seed" => plan.seed = Some(number().ok_or("--seed wants a number")?),
                "--count" => {
                    let count = number().and_then(|count| usize::try_from(count).ok());
                    let count = count.filter(|count| *count > 0);
                    plan.count = Some(count.ok_or("--count wants a number, 1 or more")?);
                }
                _ if word.starts_with('-') => return Err(format!("unexpected {word:?}")),
                _ => plan.places.push(word.trim_end_matches('/').to_owned()),
            }
        }
        let wishes = [plan.all, plan.again, !plan.places.is_empty()];
        if wishes.into_iter().filter(|wish| *wish).count() > 1 {
            return Err("choose one: --all, --again, or crates and modules".to_owned());
        }
        Ok(plan)
    }

    /// Returns whether only changed lines are looked at.
    pub(crate) fn is_of_changes(&self) -> bool {
        !self.all && !self.again && self.places.is_empty()
    }

    /// The faults in the crates and modules that are asked for.
    ///
    /// # Errors
    /// When there is none in one of them.
    pub(crate) fn inside(&self, faults: Vec<CodeMutant>) -> Result<Vec<CodeMutant>, TaskError> {
        if let Some(unknown) = self.places.iter().find(|place| !faults.iter().any(in_place(place)))
        {
            let mut modules: Vec<String> = faults.iter().map(CodeMutant::module).collect();
            modules.dedup();
            let known = modules.join(", ");
            return Err(TaskError(format!(
                "no fault can be put into {unknown:?}; known are {known}"
            )));
        }
        let is_wanted = |fault: &CodeMutant| self.places.iter().any(|place| in_place(place)(fault));
        Ok(faults.into_iter().filter(|fault| self.all || is_wanted(fault)).collect())
    }

    /// As many faults as are asked for, drawn by the seed, in their order.
    pub(crate) fn sample(&self, mut faults: Vec<CodeMutant>) -> Vec<CodeMutant> {
        let Some(count) = self.count.filter(|count| *count < faults.len()) else { return faults };
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs());
        let seed = self.seed.unwrap_or_else(clock);
        println!("== {count} of {} single faults, by --seed {seed}", faults.len());
        let mut state = seed;
        let mut drawn: Vec<(u64, usize)> =
            (0..faults.len()).map(|place| (next(&mut state), place)).collect();
        drawn.sort_unstable();
        let kept: BTreeSet<usize> = drawn.iter().take(count).map(|(_, place)| *place).collect();
        let mut place = 0..;
        faults.retain(|_| place.next().is_some_and(|place| kept.contains(&place)));
        faults
    }
}

/// Returns whether a fault stands in a crate or a module, whose name may leave `src` out.
fn in_place(place: &str) -> impl Fn(&CodeMutant) -> bool {
    let module = place.replacen('/', "/src/", 1);
    let places = [format!("{place}/"), format!("{module}/"), format!("{module}.rs")];
    let exact = place.to_owned();
    move |fault| {
        let file = fault.file();
        file == exact || places.iter().any(|place| file.starts_with(place))
    }
}

/// Chance that is a pure function of the seed (SplitMix64).
const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::fault::numbered;
    use super::*;

    #[test]
    fn a_plan_is_read_or_refused_with_its_reason() {
        assert_eq!(MutationPlan::parse(&[]), Ok(MutationPlan::default()));
        let words = ["core/machine", "--seed", "7", "--count", "9", "driver/", "--list"];
        let places = ["core/machine", "driver"].map(str::to_owned).to_vec();
        let (seed, count) = (Some(7), Some(9));
        let plan = MutationPlan { places, seed, count, lists: true, ..MutationPlan::default() };
        assert_eq!(MutationPlan::parse(&words), Ok(plan));
        for bad in [&["--seed"][..], &["--count", "0"], &["--all", "core"], &["--jobs", "2"]] {
            assert!(MutationPlan::parse(bad).is_err(), "{bad:?}");
        }
    }

    fn faults() -> Vec<CodeMutant> {
        let places = ["core/src/machine/run.rs", "core/src/machine.rs", "tools/src/edit.rs"];
        let names = (1..=50).map(|line| {
            let [first, ..] = places;
            let file = places.get(line % 3).unwrap_or(&first);
            format!("{file}:{line}:1: replace f with ()\n")
        });
        numbered(&names.collect::<String>())
    }

    #[test]
    fn places_are_crates_modules_and_files() {
        let of = |place: &str| {
            let plan = MutationPlan::parse(&[place]).unwrap_or_default();
            plan.inside(faults()).map_or(0, |faults| faults.len())
        };
        let places = ["core", "core/machine", "core/machine/run", "tools/src/edit.rs", "machine"];
        assert_eq!(places.map(of), [33, 33, 16, 17, 0]);
    }

    #[test]
    fn a_seed_gives_the_same_sample_again() {
        let sample = |seed| {
            let plan =
                MutationPlan { seed: Some(seed), count: Some(10), ..MutationPlan::default() };
            plan.sample(faults())
        };
        assert_eq!(sample(1).len(), 10);
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
        assert_eq!(
            MutationPlan { count: Some(90), ..MutationPlan::default() }.sample(faults()).len(),
            50
        );
    }
}

//! One run: the world acts on the session, the checker looks on, the clock is a number.

use super::{
    checker::Checker,
    plan::{Fault, Plan, Report},
    rng::Rng,
    settings,
    subject::Subject,
    world::World,
};
use innerloop_core::{
    config::HookPoint,
    id::AgentId,
    input::{Command, HttpInput, Input},
    output::OutputBatch,
    status::AgentState,
    time::SessionInstant,
};
use std::{
    any::Any,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Steps within which a run must come to its end once the world behaves.
const LAST_STEPS: usize = 2_000;

pub(super) struct Driver {
    rng: Rng,
    subject: Subject,
    world: World,
    checker: Checker,
    now: u64,
    /// Chance for words that make the conversation shorter, so that a seed is the same run without
    /// them.
    folds: Option<Rng>,
    /// The same for words that change the view.
    views: Option<Rng>,
    /// The same for what holds for one input, and for requests that are held back.
    turns: Option<Rng>,
    /// The same for names that agents lose.
    agents: Option<Rng>,
    rows: BTreeSet<[&'static str; 3]>,
    trace: Option<Vec<String>>,
}

/// Runs a seed to its end.
pub(super) fn run(seed: u64, plan: Plan) -> Result<Report, Fault> {
    let mut rng = Rng::new(seed);
    let mut config = settings::config(&mut rng);
    settings::speak(&mut config.model, plan.wire, seed);
    let mut folds = plan.folds.then(|| Rng::new(seed.rotate_left(32)));
    if let Some(rng) = &mut folds {
        settings::fold(&mut config, rng);
    }
    let mut views = plan.views.then(|| Rng::new(seed.rotate_left(16)));
    if let Some(rng) = &mut views {
        config.undo.max_steps = [0, 1, 3][rng.weighted(&[6, 1, 1])];
    }
    let mut turns = plan.turns.then(|| Rng::new(seed.rotate_left(48)));
    if let Some(rng) = &mut turns
        && rng.chance(25)
    {
        config.hooks.points.push(HookPoint::Outbound);
    }
    // With numbers of its own: the other seeds stay the runs that they were.
    if plan.turns && Rng::new(seed.rotate_left(8)).chance(12) {
        config.hooks.points.push(HookPoint::AfterIteration);
    }
    if plan.budgets {
        let mut rng = Rng::new(seed.rotate_left(56));
        settings::spend(&mut config, &mut rng);
    }
    let mut faults = plan.faults.then(|| Rng::new(seed.rotate_left(40)));
    faults = faults.filter(|_| seed % 5 < 2);
    if let Some(rng) = &mut faults {
        config.corrections = settings::corrections(rng);
    }
    if plan.routes && [2, 5].contains(&(seed % 8)) {
        settings::route(&mut config, &mut Rng::new(seed.rotate_left(24)));
    }
    let mut shown = plan.shown.then(|| Rng::new(seed.rotate_left(24)));
    shown = shown.filter(|_| seed % 7 < 2);
    if let Some(rng) = &mut shown {
        settings::show(&mut config, rng);
    }
    let mut agents = plan.agents.then(|| Rng::new(seed.rotate_left(24)));
    agents = agents.filter(|_| seed % 7 > 3);
    if let Some(rng) = &mut agents {
        settings::name_agents(&mut config, rng);
    }
    let model = config.model.clone();
    let (subject, outputs) = Subject::open(config, plan.mutation);
    let fault = |steps, message, trace| Fault { seed, steps, message, trace };
    let checker =
        Checker::open(&subject, &outputs).map_err(|message| fault(0, message, Vec::new()))?;
    let world = World::new(&model, [faults, shown, agents.clone()], &mut rng);
    let trace = plan.trace.then(|| outputs.iter().map(short).collect());
    let rows = BTreeSet::new();
    let now = 0;
    let mut driver =
        Driver { rng, subject, world, checker, now, folds, views, turns, agents, rows, trace };
    // A panic of the session is a fault like any other.
    let played = catch_unwind(AssertUnwindSafe(|| driver.play(plan.steps)));
    match played.unwrap_or_else(|panic| Err(format!("a panic: {}", words(&*panic)))) {
        Ok(()) => {
            driver.note_rows();
            let Driver { rows, trace, checker, .. } = driver;
            let (steps, log) = (checker.steps(), checker.log().to_owned());
            Ok(Report { steps, rows, log, trace: trace.unwrap_or_default() })
        }
        Err(message) => {
            Err(fault(driver.checker.steps(), message, driver.trace.unwrap_or_default()))
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

impl Driver {
    fn play(&mut self, steps: usize) -> Result<(), String> {
        let steps = if self.rng.chance(2) { steps * 6 } else { steps };
        let steps = steps / 2 + self.rng.index(steps / 2 + 1);
        for _ in 0..steps {
            match self.rng.below(200) {
                0 | 1 => self.kill()?,
                2 => {
                    let history = self.subject.session().history(AgentId::ROOT);
                    let turns = history.map_or(0, |history| history.turns().len());
                    let turns = self.rng.index(turns + 1);
                    self.checker.check_fork(&self.subject, turns)?;
                }
                _ => {
                    let left = self.left_ms();
                    let (mut input, delay) = self.world.next(&mut self.rng, left);
                    self.now = self.now.saturating_add_signed(delay);
                    if let Some(rng) = &mut self.turns {
                        settings::add_options(&mut input, rng);
                    }
                    self.give(&input)?;
                    self.hold()?;
                    if self.agents.as_mut().is_some_and(|chance| chance.chance(1)) {
                        let patch = settings::unnamed();
                        self.give(&Input::command(Command::Configure { patch }))?;
                    }
                    if self.folds.as_mut().is_some_and(|chance| chance.chance(4)) {
                        let says_more = self.now.is_multiple_of(2);
                        let instructions = says_more.then(|| "the names".to_owned());
                        self.give(&Input::command(Command::Compact { instructions }))?;
                    }
                    self.look_back()?;
                }
            }
        }
        self.end()
    }

    /// Now and then the host holds a request back, or lets it go.
    fn hold(&mut self) -> Result<(), String> {
        let Some(rng) = &mut self.turns else { return Ok(()) };
        if !rng.chance(6) {
            return Ok(());
        }
        let ahead = rng.chance(60).then(|| u32::try_from(rng.below(3)).unwrap_or(0));
        match self.world.any_request(rng) {
            Some(id) => self.give(&Input::Http { id, input: HttpInput::Held { ahead } }),
            None => Ok(()),
        }
    }

    /// Now and then the host changes what an agent sees, or what that would come to is checked.
    fn look_back(&mut self) -> Result<(), String> {
        let Some(rng) = &mut self.views else { return Ok(()) };
        match rng.below(40) {
            0 | 1 => {
                let agent = AgentId(u32::try_from(rng.below(3) / 2).unwrap_or(0));
                let history = self.subject.session().history(agent);
                let turns = history.map_or(0, |history| history.turns().len());
                let commands: Vec<_> =
                    (0..rng.between(1, 3)).map(|_| self.world.view(turns, rng)).collect();
                commands
                    .into_iter()
                    .try_for_each(|command| self.give(&Input::Command { agent, command }))
            }
            2 => self.checker.check_undo(&self.subject),
            _ => Ok(()),
        }
    }

    /// Milliseconds to the next deadline.
    fn left_ms(&self) -> Option<u64> {
        let deadline = self.subject.session().deadline()?;
        Some(deadline.at.0.saturating_sub(self.now))
    }

    fn give(&mut self, input: &Input) -> Result<(), String> {
        let at = SessionInstant(self.now);
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{at:?} <- {}", short(input)));
        }
        self.checker.before(input, &self.subject);
        let result = self.subject.handle(input.clone(), at);
        if let Some(trace) = &mut self.trace {
            match &result {
                Ok(outputs) => trace.extend(outputs.iter().map(|out| format!("  {}", short(out)))),
                Err(rejected) => trace.push(format!("  refused: {}", rejected.reason)),
            }
        }
        self.checker.after(input, at, &result, &self.subject)?;
        self.world.take(&result.unwrap_or_default(), &mut self.rng);
        Ok(())
    }

    /// Kills the session and goes on from its snapshot or from its log.
    fn kill(&mut self) -> Result<(), String> {
        let from_log = self.rng.chance(50);
        if let Some(trace) = &mut self.trace {
            trace.push(format!(
                "-- killed; goes on from its {}",
                if from_log { "log" } else { "snapshot" }
            ));
        }
        self.note_rows();
        let place = self.rng.index(1 << 20);
        let replayed = self.checker.check_durable(&self.subject, place)?;
        match replayed.filter(|_| from_log) {
            Some(session) => self.subject.become_session(session),
            None => {
                let snapshot = self.subject.snapshot();
                self.subject.restart(&snapshot, self.subject.session().now())?;
            }
        }
        self.checker.on_restart(&self.subject)?;
        let owed: OutputBatch = self.subject.owed();
        self.world.restart(&owed, &mut self.rng);
        Ok(())
    }

    /// The world behaves: everything is answered, and most sessions are closed.
    fn end(&mut self) -> Result<(), String> {
        let closes = self.rng.chance(70);
        for step in 0..LAST_STEPS {
            let input = match self.world.settle(&mut self.rng) {
                Some(input) => input,
                None => match self.left_ms() {
                    Some(left) => {
                        self.now += left;
                        Input::Tick
                    }
                    None if step > 100 => break,
                    None => continue,
                },
            };
            self.give(&input)?;
            if step == 100 {
                self.stop(Command::Interrupt)?;
            }
            if step == 200 && closes {
                self.stop(Command::Close)?;
            }
        }
        let state = self.subject.session().status(AgentId::ROOT).map(|status| status.state);
        match state {
            Some(AgentState::Closed) => self.checker.check_closed()?,
            Some(AgentState::Idle) => {}
            other => return Err(format!("at the end the agent is {other:?}")),
        }
        self.checker.check_fork(&self.subject, usize::MAX)?;
        let place = self.rng.index(1 << 20);
        self.checker.check_durable(&self.subject, place).map(|_| ())
    }

    /// A restored session has seen none.
    fn note_rows(&mut self) {
        self.rows.extend(self.subject.session().rows());
    }

    fn stop(&mut self, command: Command) -> Result<(), String> {
        let state = self.subject.session().status(AgentId::ROOT).map(|status| status.state);
        if state == Some(AgentState::Closed) {
            return Ok(());
        }
        self.give(&Input::command(command))
    }
}

/// A line of the trace: JSON, its middle left out where it is long.
fn short(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let chars: Vec<char> = text.chars().collect();
    match chars.len() {
        0..=300 => text,
        length => {
            let (head, tail) = (&chars[..150], &chars[length - 140..]);
            format!("{} … {}", head.iter().collect::<String>(), tail.iter().collect::<String>())
        }
    }
}

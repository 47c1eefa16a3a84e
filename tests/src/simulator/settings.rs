//! Configurations at random, all of which open.

use super::rng::Rng;
use crate::{test_host, wires};
use innerloop_core::{
    compaction::{
        CompactionPolicy, CompactionTier, OnOverflow, RetentionPolicy, SummaryPolicy,
        WindowFullness,
    },
    config::{
        AnswerConfig, ApprovalRule, AskAbout, ExecMode, HookPoint, LimitAction, Limits, LoopPolicy,
        LoopStep, ModelConfig, NamedAgent, Price, ProgramFacts, SessionConfig, SpendAmount,
        TokenEstimator, ToolChoice, VocabularyKind, WireKind,
    },
    corrections::{CorrectionPolicy, ReplyFault},
    id::EndpointId,
    input::{Command, Input, TurnOptions},
    json::{Json, JsonObject, from_str, to_string},
    message::FoldKind,
    routing::{RoutedModel, RoutingPolicy},
    tool::{ResultPolicy, ToolSpec, ToolsShown},
};

/// A custom tool that only reads.
pub(super) const LOOKUP: &str = "lookup";
/// A custom tool that writes.
pub(super) const DEPLOY: &str = "deploy";

/// Every point of the loop.
pub(super) const POINTS: [HookPoint; 5] = [
    HookPoint::Submit,
    HookPoint::BeforeModel,
    HookPoint::BeforeTool,
    HookPoint::AfterTool,
    HookPoint::BeforeStop,
];

const STEPS: [LoopStep; 4] =
    [LoopStep::Warn, LoopStep::Summarize, LoopStep::AskUser, LoopStep::Stop];

const ESTIMATORS: [TokenEstimator; 4] = [
    TokenEstimator::Chars,
    TokenEstimator::CodeAndProse,
    TokenEstimator::Words,
    TokenEstimator::Bytes,
];

const ACTIONS: [LimitAction; 4] =
    [LimitAction::Idle, LimitAction::Summarize, LimitAction::Partial, LimitAction::Error];

/// Changes of a configuration's JSON; some cannot work.
const CHANGES: [&str; 12] = [
    "{}",
    r#"{"model":{"name":"mock-1"}}"#,
    r#"{"model":{"name":"mock-2"}}"#,
    r#"{"model":{"name":" "}}"#,
    r#"{"model":{"reasoning_effort":"high"}}"#,
    r#"{"model":{"reasoning_effort":null}}"#,
    r#"{"instructions":"Be brief."}"#,
    r#"{"base_prompt":"You are new."}"#,
    r#"{"base_prompt":null}"#,
    r#"{"builtin_tools":{"except":["glob"]}}"#,
    r#"{"id":"other"}"#,
    r#"{"timeouts":{"default_command_ms":0}}"#,
];

/// Gives a seed's model a protocol, unless that is given, and mostly the tools of the family that
/// speaks it; some make one call after the other. This is drawn apart from all else, so that a seed
/// is the same run over Anthropic's protocol, whatever else there is.
pub(super) fn speak(model: &mut ModelConfig, wire: Option<WireKind>, seed: u64) {
    let mut rng = Rng::new(!seed);
    let drawn = WireKind::ALL[rng.index(WireKind::ALL.len())];
    model.wire = wire.unwrap_or(drawn);
    if model.wire != WireKind::Anthropic && rng.chance(60) {
        let family = wires::FAMILIES.into_iter().find(|(kind, ..)| *kind == model.wire);
        model.profile = family.map_or(model.profile, |(_, profile, _)| profile);
        model.vocabulary = [VocabularyKind::Seed, VocabularyKind::Native][rng.index(2)];
    }
    if model.wire != WireKind::Anthropic && rng.chance(25) {
        model.parallel_tool_calls = Some(false);
    }
}

/// Says when and how the conversation is made shorter: windows are tiny, and so is what stays.
pub(super) fn fold(config: &mut SessionConfig, rng: &mut Rng) {
    const KINDS: [FoldKind; 4] =
        [FoldKind::Stub, FoldKind::Archive, FoldKind::Summary, FoldKind::Truncate];
    let mut number = |least, most| u32::try_from(rng.between(least, most)).unwrap_or(0);
    let model = &mut config.model;
    model.context_window = [400, 5_000, 8_000, 20_000][number(0, 3) as usize];
    model.max_output_tokens = model.max_output_tokens.min(200);
    let used = |used| WindowFullness { used: Some(used), ..WindowFullness::default() };
    let auto = (0..number(0, 3)).map(|_| {
        let percent = number(2, 90);
        let (from, to) = match number(0, 1) {
            0 => (used(number(40, 390)), used(number(1, 39))),
            _ => (WindowFullness::percent(percent), WindowFullness::percent(percent / 2)),
        };
        let inputs = Some(number(0, 6)).filter(|inputs| *inputs > 0);
        CompactionTier { from, to, step: KINDS[number(0, 3) as usize], inputs }
    });
    let auto = auto.collect();
    let once = [OnOverflow::Warn, OnOverflow::CompactRetryOnce];
    config.compaction = CompactionPolicy {
        auto,
        on_overflow: once[usize::from(number(0, 9) > 1)],
        truncate_if_needed: number(0, 9) > 2,
        keep: RetentionPolicy {
            tokens: number(0, 100),
            rounds: number(0, 3),
            words_of_user: number(0, 60),
            first_input: number(0, 1) == 0,
        },
        summary: SummaryPolicy {
            model: (number(0, 2) == 0).then(|| "mock-summary".into()),
            max_tokens: number(1, 60),
            result_chars: number(0, 40),
            instructions: None,
        },
        max_messages: number(0, 12),
        max_failures: number(0, 3),
        max_window: [0, 300][usize::from(number(0, 9) == 0)],
    };
    config.tool_output_share_of_rest = (number(0, 9) == 0).then_some(50);
    if number(0, 9) < 3 {
        config.hooks.points.push(HookPoint::Compact);
    }
}

/// Gives an input of the user options of its own, some of which cannot work.
pub(super) fn add_options(input: &mut Input, rng: &mut Rng) {
    let Input::Command { command, .. } = input else { return };
    let (Command::Submit { options, .. } | Command::FollowUp { options, .. }) = command else {
        return;
    };
    if !rng.chance(35) {
        return;
    }
    const TOOLS: [&str; 7] =
        ["read_file", "grep", "write_file", "spawn_agent", LOOKUP, DEPLOY, "nope"];
    let mut own = TurnOptions::default();
    if rng.chance(60) {
        let tools = (0..rng.below(4)).map(|_| TOOLS[rng.index(TOOLS.len())].to_owned());
        own.tools = Some(tools.collect());
        own.hide = rng.chance(50);
    }
    if rng.chance(30) {
        let paths = ["a", "src", ".", "../up"];
        own.paths = Some(vec![paths[rng.weighted(&[5, 3, 2, 1])].to_owned()]);
    }
    if rng.chance(25) {
        let lookup = ToolChoice::Tool(LOOKUP.into());
        let choices = [ToolChoice::None, ToolChoice::Required, lookup, ToolChoice::Auto];
        own.tool_choice = Some(choices[rng.index(4)].clone());
    }
    if rng.chance(15) {
        own.temperature = Json::parse(if rng.chance(90) { "0.5" } else { "-1" }).ok();
    }
    *options = Some(Box::new(own));
}

/// Says what may be spent, which some runs come to.
pub(super) fn spend(config: &mut SessionConfig, rng: &mut Rng) {
    config.hooks.max_denials = [0, 1, 3][rng.index(3)];
    if rng.chance(20) && !config.hooks.points.contains(&HookPoint::BeforeStop) {
        config.hooks.points.push(HookPoint::BeforeStop);
    }
    if rng.chance(30) {
        config.model.price = Some(Price { input: 3_000, output: 15_000, ..Price::default() });
    }
    if rng.chance(50) {
        return;
    }
    let has_price = config.model.price.is_some();
    let mut spend = |least: u64, most: u64| {
        let mut limit = |least, most| if rng.chance(50) { 0 } else { rng.between(least, most) };
        let (tokens, ms) = (limit(least, most), limit(least * 4, most * 20));
        let cost_nano_usd = limit(least * 3, most * 10);
        SpendAmount { cost_nano_usd: if has_price { cost_nano_usd } else { 0 }, tokens, ms }
    };
    (config.limits.run, config.limits.session) = (spend(1, 600), spend(20, 3_000));
    if has_price {
        // What another model costs nobody knows.
        config.compaction.summary.model = None;
    }
}

pub(super) fn config(rng: &mut Rng) -> SessionConfig {
    let mut config = test_host::config();
    config.limits = limits(rng);
    config.retry.max_retries = u32::try_from(rng.below(4)).unwrap_or(0);
    config.retry.base_ms = [0, 1, 500][rng.index(3)];
    config.retry.idle_ms = [1, 2_000, 300_000][rng.weighted(&[1, 4, 5])];
    config.timeouts.grace_ms = [0, 10, 5_000][rng.weighted(&[1, 3, 6])];
    if rng.chance(40) {
        config.approval.ask = [AskAbout::Changes, AskAbout::Everything][rng.index(2)];
        if rng.chance(30) {
            config.approval.allow.push(ApprovalRule::tool("read_file"));
        }
    }
    if rng.chance(40) {
        config.hooks.points = POINTS.into_iter().filter(|_| rng.chance(40)).collect();
        config.hooks.fail_closed = rng.chance(30);
    }
    config.subagents.max_depth = [0, 1, 2, 3][rng.weighted(&[2, 4, 3, 1])];
    config.subagents.max_open = u32::try_from(rng.between(1, 4)).unwrap_or(1);
    config.guard.read_before_write = rng.chance(30);
    config.ask_user = rng.chance(50);
    if rng.chance(30) {
        config.answer = Some(AnswerConfig { schema: answer_schema(), retries: 1 });
    }
    config.repair.continue_on_length = u32::try_from(rng.below(3)).unwrap_or(0);
    config.repair.retry_on_empty = u32::try_from(rng.below(3)).unwrap_or(0);
    config.repair.grow_output = rng.chance(50);
    config.loops.window = usize::try_from(rng.between(2, 5)).unwrap_or(2);
    if rng.chance(20) {
        config.model.max_output_tokens = 100;
        config.model.context_window = 400;
    }
    if rng.chance(30) {
        config.tool_output_limits.insert("read_file".into(), 40);
        config.tool_line_limits.insert("grep".into(), 2);
    }
    let program = ProgramFacts { name: "qjs".into(), description: "Runs JavaScript.".into() };
    config.facts.programs.push(program);
    config.tools = vec![tool(LOOKUP, true), tool(DEPLOY, false)];
    config.loops = LoopPolicy { window: config.loops.window, ..loops(rng) };
    if rng.chance(10) {
        config.exec_modes.insert("read_file".into(), ExecMode::Serial);
    }
    config.estimator = ESTIMATORS[rng.index(4)];
    config
}

/// Adds models that take over from the session's own, all of one protocol.
pub(super) fn route(config: &mut SessionConfig, rng: &mut Rng) {
    let models = (0..rng.between(1, 2)).map(|number| {
        let mut model = config.model.clone();
        model.endpoint = EndpointId(format!("other-{number}"));
        model.name = format!("mock-{}", number + 2);
        if rng.chance(30) {
            model.context_window = model.context_window.saturating_mul(2);
        }
        let tasks = if rng.chance(30) { vec!["debug".to_owned()] } else { Vec::new() };
        RoutedModel { model, cheap: rng.chance(30), tasks }
    });
    config.routing = RoutingPolicy {
        models: models.collect(),
        backoff_ms: [0, 1, 500, 300_000][rng.index(4)],
        overflow_to_larger: rng.chance(30),
    };
}

/// Says which tools requests show, and whether outputs are kept.
pub(super) fn show(config: &mut SessionConfig, rng: &mut Rng) {
    config.tools_shown = match rng.below(4) {
        0 => ToolsShown::All,
        1 => ToolsShown::Staged,
        _ => ToolsShown::Deferred(u32::try_from(rng.below(12)).unwrap_or(0)),
    };
    if rng.chance(60) {
        let preview_chars = [0, 1, 30, 2_000][rng.index(4)];
        config.results = Some(ResultPolicy { preview_chars });
    }
}

/// Which faults of replies are corrected.
pub(super) fn corrections(rng: &mut Rng) -> CorrectionPolicy {
    let mut most = || [0, 1, 3][rng.weighted(&[2, 3, 1])];
    let faults = ReplyFault::ALL.map(|fault| (fault, most()));
    CorrectionPolicy {
        max_after_calls: most() + 1,
        max_per_run: most() * 3,
        ..CorrectionPolicy::of(&faults)
    }
}

/// Gives agents names, and those of a batch their time.
pub(super) fn name_agents(config: &mut SessionConfig, rng: &mut Rng) {
    config.subagents.batch_ms = [0, 1, 40, 300_000][rng.weighted(&[1, 1, 4, 4])];
    let mut name = |name: &str, tools: Option<&[&str]>| {
        // What another model costs nobody knows.
        let has_model = config.model.price.is_none() && rng.chance(30);
        let agent = NamedAgent {
            description: format!("The {name}."),
            prompt: [String::new(), format!("You are the {name}.")][rng.index(2)].clone(),
            model: has_model.then(|| "mock-2".into()),
            tools: tools.map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect()),
            max_turns: [0, 0, 2, 5][rng.index(4)],
        };
        config.agents.insert(name.to_owned(), agent);
    };
    name("reader", Some(&[LOOKUP]));
    name("starter", Some(&["spawn_agent", "spawn_agents", "wait", DEPLOY]));
    name("thinker", Some(&[]));
}

/// A change that takes a name away.
pub(super) fn unnamed() -> JsonObject {
    from_str(r#"{"agents":{"reader":null}}"#).unwrap()
}

fn loops(rng: &mut Rng) -> LoopPolicy {
    let mut policy = LoopPolicy::default();
    if rng.chance(50) {
        policy.ladder = (0..rng.between(1, 3)).map(|_| STEPS[rng.index(4)]).collect();
        policy.same_args = u32::try_from(rng.below(3)).unwrap_or(0);
        policy.same_name = u32::try_from(rng.below(4)).unwrap_or(0);
        policy.only_if_failed = rng.chance(20);
        policy.mask_volatile = rng.chance(20);
    }
    policy
}

/// A change of the configuration at random; some change nothing, some cannot work.
pub(super) fn patch(rng: &mut Rng) -> JsonObject {
    let text = match rng.below(4) {
        0 => format!(r#"{{"limits":{}}}"#, to_string(&limits(rng))),
        _ => String::from(rng.pick(&CHANGES)),
    };
    from_str(&text).unwrap()
}

fn limits(rng: &mut Rng) -> Limits {
    let mut limit = |max| if rng.chance(75) { 0 } else { rng.between(1, max) };
    let (turns, rounds) = (limit(12), limit(4));
    let action = ACTIONS[rng.index(4)];
    Limits {
        max_turns: u32::try_from(turns).unwrap_or(0),
        max_tool_rounds_per_input: u32::try_from(rounds).unwrap_or(0),
        action,
        ..Limits::default()
    }
}

fn tool(name: &str, read_only: bool) -> ToolSpec {
    let parameters =
        r#"{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}"#;
    ToolSpec {
        read_only,
        ..ToolSpec::new(name, "Does what the host wants.", Json::parse(parameters).unwrap())
    }
}

fn answer_schema() -> Json {
    let schema =
        r#"{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}"#;
    Json::parse(schema).unwrap()
}

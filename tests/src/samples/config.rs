//! What a session is opened with, and what may be changed later.

use super::{
    message::opaque,
    model::model,
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    compaction::{Compaction, Fullness, Keep, OnOverflow, Summary, Tier},
    config::{
        AnswerConfig, ApprovalPolicy, ApprovalRule, AskAbout, Estimator, ExecMode, Facts, GitFacts,
        GuardPolicy, HookPoint, HookPolicy, LimitAction, Limits, LoopPolicy, LoopStep,
        ProgramFacts, ProjectDoc, RepairPolicy, ResponseLimits, RetryPolicy, SessionConfig, Spend,
        SubagentPolicy, Timeouts, UndoPolicy,
    },
    id::SessionId,
    json::{Json, Object},
    message::FoldKind,
    preset::Preset,
    tool::{BuiltinTools, Freeform, ToolSpec},
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    let presets: Vec<Preset> = one_of_each!(open Preset: Seed001, Modern, Ollama, Ironclaw, Gnoma);
    visitor.visit_read("Preset", &presets);
    visitor.visit_read("LoopStep", &loop_steps());
    let modes: Vec<ExecMode> = one_of_each!(ExecMode: Parallel, Serial);
    visitor.visit_read("ExecMode", &modes);
    let estimators: Vec<Estimator> = one_of_each!(Estimator: Chars, CodeAndProse, Words, Bytes);
    visitor.visit_read("Estimator", &estimators);
    let actions: Vec<LimitAction> = one_of_each!(LimitAction: Idle, Summarize, Partial, Error);
    visitor.visit_read("LimitAction", &actions);
    let asks: Vec<AskAbout> = one_of_each!(AskAbout: Nothing, Programs, Changes, Everything);
    visitor.visit_read("AskAbout", &asks);
    let overflows: Vec<OnOverflow> = one_of_each!(OnOverflow: Warn, CompactRetryOnce);
    visitor.visit_read("OnOverflow", &overflows);
    visitor.visit_read("Compaction", &[Compaction::default(), compaction()]);
    visitor.visit_read("HookPoint", &hook_points());
    visitor.visit_read("ApprovalRule", &[ApprovalRule::tool("shell"), rule()]);
    let names = || vec!["read_file".into()];
    let builtin_tools: Vec<BuiltinTools> = one_of_each!(BuiltinTools:
        All,
        ReadOnly,
        None,
        Only(names()),
        Except(names()),
    );
    visitor.visit_read("BuiltinTools", &builtin_tools);
    visitor.visit_read("ToolSpec", &[tool(None), tool(Some(freeform()))]);
    visitor.visit_read("Facts", &[Facts::default(), facts()]);
    let open = SessionConfig::default();
    visitor.visit_read("SessionConfig", &[open, config()]);
}

fn loop_steps() -> Vec<LoopStep> {
    one_of_each!(LoopStep: Warn, Summarize, AskUser, Stop)
}

fn hook_points() -> Vec<HookPoint> {
    one_of_each!(HookPoint:
        Submit, BeforeModel, BeforeTool, AfterTool, BeforeStop, Outbound, Compact,
    )
}

pub(super) fn rule() -> ApprovalRule {
    let starting = [("command".into(), "git ".into())].into();
    ApprovalRule { tool: "shell".into(), starting }
}

fn tool(freeform: Option<Freeform>) -> ToolSpec {
    let (name, description) = ("weather".into(), "The weather".into());
    let timeout_ms = freeform.is_some().then_some(30_000);
    let paths = if freeform.is_some() { vec!["city".into()] } else { Vec::new() };
    let parameters = opaque();
    ToolSpec { name, description, parameters, read_only: true, timeout_ms, paths, freeform }
}

fn freeform() -> Freeform {
    let grammar = "start: /.+/".into();
    Freeform { grammar, property: "input".into(), description: "Free text".into() }
}

fn facts() -> Facts {
    Facts {
        working_directory: "/".into(),
        platform: "wasm".into(),
        os_version: "1".into(),
        date: "2026-11-22".into(),
        git: Some(GitFacts {
            branch: "main".into(),
            modified: Some(1),
            untracked: None,
            recent_commits: vec!["Begin".into()],
        }),
        knowledge_cutoff: "May 2026".into(),
        programs: vec![ProgramFacts { name: "qjs".into(), description: "QuickJS".into() }],
        project_docs: vec![ProjectDoc { path: "AGENTS.md".into(), text: "Be brief.".into() }],
        nested_docs: vec![ProjectDoc { path: "web/AGENTS.md".into(), text: "Be bold.".into() }],
    }
}

fn compaction() -> Compaction {
    let to = Fullness { used: Some(50_000), ..Fullness::default() };
    let from = Fullness { left: Some(16_384), ..Fullness::percent(90) };
    Compaction {
        auto: vec![
            Tier { from: Fullness::percent(80), to, step: FoldKind::Stub, inputs: None },
            Tier { from, to, step: FoldKind::Summary, inputs: Some(5) },
        ],
        on_overflow: OnOverflow::CompactRetryOnce,
        truncate_if_needed: false,
        keep: Keep { first_input: true, ..Keep::default() },
        summary: Summary {
            model: Some("claude-haiku-4-5".into()),
            instructions: Some("Keep the names of files.".into()),
            ..Summary::default()
        },
        max_messages: 40,
        max_failures: 3,
        max_window: 100_000,
    }
}

fn config() -> SessionConfig {
    SessionConfig {
        id: SessionId("sample".into()),
        model: model(),
        limits: Limits {
            max_turns: 9,
            max_tool_rounds_per_input: 5,
            run: Spend { cost_nano_usd: 1_000_000, tokens: 5_000, ms: 60_000 },
            session: Spend { cost_nano_usd: 2_000_000, tokens: 9_000, ms: 90_000 },
            action: LimitAction::Error,
        },
        response: ResponseLimits::default(),
        retry: RetryPolicy::default(),
        timeouts: Timeouts::default(),
        tool_output_limits: [("shell".into(), 5_000)].into(),
        tool_line_limits: [("grep".into(), 100)].into(),
        tool_output_percent: Some(30),
        tool_output_share_of_rest: Some(60),
        facts: facts(),
        base_prompt: Some("You are kind.".into()),
        instructions: Some("Be kind.".into()),
        builtin_tools: BuiltinTools::ReadOnly,
        tools: vec![tool(None)],
        exec_modes: [("weather".into(), ExecMode::Parallel)].into(),
        estimator: Estimator::Words,
        compaction: compaction(),
        loops: LoopPolicy {
            ignore_tools: vec!["wait".into()],
            ladder: loop_steps(),
            ..LoopPolicy::default()
        },
        approval: ApprovalPolicy { ask: AskAbout::Changes, allow: vec![rule()] },
        hooks: HookPolicy { points: hook_points(), fail_closed: true, max_denials: 2 },
        guard: GuardPolicy { read_before_write: true },
        subagents: SubagentPolicy::default(),
        repair: RepairPolicy::default(),
        undo: UndoPolicy { max_steps: 20 },
        answer: Some(AnswerConfig { schema: opaque(), retries: 2 }),
        ask_user: true,
        web_fetch: true,
    }
}

pub(super) fn patch() -> Object {
    Object(vec![
        ("model".into(), Json::parse(r#"{"name":"claude","reasoning_effort":null}"#).unwrap()),
        ("ask_user".into(), Json::of(&true)),
    ])
}

//! What a session is opened with, and what may be changed later.

use super::{
    message::opaque,
    model::model,
    visitor::{Visitor, one_of_each},
};
use innerloop_core::{
    compaction::{
        CompactionPolicy, CompactionTier, OnOverflow, RetentionPolicy, SummaryPolicy,
        WindowFullness,
    },
    config::{
        AfterToolPolicy, AnswerConfig, ApprovalPolicy, ApprovalRule, AskAbout, AudienceKind,
        DeniedResult, EnvironmentFacts, ExecMode, GitFacts, GuardPolicy, HookPoint, HookPolicy,
        LimitAction, Limits, LoopPolicy, LoopStep, NamedAgent, Price, ProgramFacts, ProjectDoc,
        RepairPolicy, ResponseLimits, RetryPolicy, SessionConfig, SkillFacts, SkillUse,
        SpendAmount, SubagentPolicy, TokenEstimator, ToolTimeouts, UndoPolicy,
    },
    corrections::{CorrectionPolicy, ReplyFault},
    id::SessionId,
    json::{Json, JsonObject},
    message::FoldKind,
    preset::ConfigPreset,
    routing::{RoutedModel, RoutingPolicy},
    tool::{BuiltinTools, FreeformSpec, ResultPolicy, ToolSpec, ToolsShown},
};

pub(super) fn visit(visitor: &mut impl Visitor) {
    let presets: Vec<ConfigPreset> = one_of_each!(open ConfigPreset:
        Seed001,
        Modern,
        Ollama,
        Ironclaw,
        Gnoma,
        CouncilMember,
        CouncilDiscusser,
        CouncilReviewer,
    );
    visitor.visit_read("ConfigPreset", &presets);
    visitor.visit_read("LoopStep", &loop_steps());
    let modes: Vec<ExecMode> = one_of_each!(ExecMode: Parallel, Serial);
    visitor.visit_read("ExecMode", &modes);
    let estimators: Vec<TokenEstimator> =
        one_of_each!(TokenEstimator: Chars, CodeAndProse, Words, Bytes);
    visitor.visit_read("TokenEstimator", &estimators);
    let actions: Vec<LimitAction> = one_of_each!(LimitAction: Idle, Summarize, Partial, Error);
    visitor.visit_read("LimitAction", &actions);
    let asks: Vec<AskAbout> = one_of_each!(AskAbout: Nothing, Programs, Changes, Everything);
    visitor.visit_read("AskAbout", &asks);
    let overflows: Vec<OnOverflow> = one_of_each!(OnOverflow: Warn, CompactRetryOnce);
    visitor.visit_read("OnOverflow", &overflows);
    visitor.visit_read("CompactionPolicy", &[CompactionPolicy::default(), compaction()]);
    visitor.visit_read("HookPoint", &hook_points());
    visitor.visit_read("DeniedResult", &denied_results());
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
    let tools_shown: Vec<ToolsShown> = one_of_each!(ToolsShown: All, Staged, Deferred(30));
    visitor.visit_read("ToolsShown", &tools_shown);
    visitor.visit_read("ToolSpec", &[tool(None), tool(Some(freeform()))]);
    visitor.visit_read("SkillFacts", &[SkillFacts::default(), skill()]);
    let uses: Vec<SkillUse> = one_of_each!(SkillUse: Catalogue, Selected, Off);
    visitor.visit_read("SkillUse", &uses);
    let audiences: Vec<AudienceKind> = one_of_each!(AudienceKind: Private, Group);
    visitor.visit_read("AudienceKind", &audiences);
    visitor.visit_read("NamedAgent", &[NamedAgent::default(), reviewer()]);
    visitor.visit_read("EnvironmentFacts", &[EnvironmentFacts::default(), facts()]);
    let open = SessionConfig::default();
    visitor.visit_read("SessionConfig", &[open, config()]);
}

fn loop_steps() -> Vec<LoopStep> {
    one_of_each!(LoopStep: Warn, Summarize, AskUser, Stop)
}

fn denied_results() -> Vec<DeniedResult> {
    one_of_each!(DeniedResult: Withhold, Keep)
}

fn hook_points() -> Vec<HookPoint> {
    one_of_each!(HookPoint:
        Submit, BeforeModel, BeforeTool, AfterTool, AfterIteration, BeforeStop, Outbound,
        Compact,
    )
}

pub(super) fn rule() -> ApprovalRule {
    let starting = [("command".into(), "git ".into())].into();
    ApprovalRule { tool: "shell".into(), starting }
}

fn tool(freeform: Option<FreeformSpec>) -> ToolSpec {
    let (name, description) = ("weather".into(), "The weather".into());
    let timeout_ms = freeform.is_some().then_some(30_000);
    let paths = if freeform.is_some() { vec!["city".into()] } else { Vec::new() };
    let parameters = opaque();
    ToolSpec { name, description, parameters, read_only: true, timeout_ms, paths, freeform }
}

fn freeform() -> FreeformSpec {
    let grammar = "start: /.+/".into();
    FreeformSpec { grammar, property: "input".into(), description: "Free text".into() }
}

fn facts() -> EnvironmentFacts {
    EnvironmentFacts {
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
        no_git: false,
        knowledge_cutoff: "May 2026".into(),
        programs: vec![ProgramFacts { name: "qjs".into(), description: "QuickJS".into() }],
        project_docs: vec![ProjectDoc {
            path: "AGENTS.md".into(),
            text: "Be brief.".into(),
            private: false,
        }],
        nested_docs: vec![ProjectDoc {
            path: "web/AGENTS.md".into(),
            text: "Be bold.".into(),
            private: true,
        }],
        skills: vec![skill()],
        audience: AudienceKind::Group,
        reply_route: Some("channel 7".into()),
    }
}

fn compaction() -> CompactionPolicy {
    let to = WindowFullness { used: Some(50_000), ..WindowFullness::default() };
    let from = WindowFullness { left: Some(16_384), ..WindowFullness::percent(90) };
    CompactionPolicy {
        auto: vec![
            CompactionTier {
                from: WindowFullness::percent(80),
                to,
                step: FoldKind::Stub,
                inputs: None,
            },
            CompactionTier { from, to, step: FoldKind::Summary, inputs: Some(5) },
        ],
        on_overflow: OnOverflow::CompactRetryOnce,
        truncate_if_needed: false,
        keep: RetentionPolicy { first_input: true, ..RetentionPolicy::default() },
        summary: SummaryPolicy {
            model: Some("claude-haiku-4-5".into()),
            instructions: Some("Keep the names of files.".into()),
            ..SummaryPolicy::default()
        },
        max_messages: 40,
        max_failures: 3,
        max_window: 100_000,
    }
}

fn skill() -> SkillFacts {
    SkillFacts {
        name: "pdf".into(),
        description: "Reads and fills in PDF files.".into(),
        path: ".agents/skills/pdf/SKILL.md".into(),
        body: Some("Count the pages first.".into()),
        keywords: vec!["pdf".into()],
        exclude: vec!["image".into()],
        tags: vec!["paper".into()],
        max_tokens: 900,
    }
}

fn reviewer() -> NamedAgent {
    NamedAgent {
        description: "Reviews changes.".into(),
        prompt: "You review.".into(),
        model: Some("claude-haiku-4-5".into()),
        tools: Some(vec!["read_file".into(), "grep".into()]),
        max_turns: 9,
    }
}

fn config() -> SessionConfig {
    SessionConfig {
        id: SessionId("sample".into()),
        model: model(),
        prices: [("claude-haiku-4-5".into(), Price { input: 1, ..Price::default() })].into(),
        limits: Limits {
            max_turns: 9,
            max_tool_rounds_per_input: 5,
            run: SpendAmount { cost_nano_usd: 1_000_000, tokens: 5_000, ms: 60_000 },
            session: SpendAmount { cost_nano_usd: 2_000_000, tokens: 9_000, ms: 90_000 },
            action: LimitAction::Error,
        },
        response: ResponseLimits::default(),
        retry: RetryPolicy::default(),
        timeouts: ToolTimeouts::default(),
        tool_output_limits: [("shell".into(), 5_000)].into(),
        tool_line_limits: [("grep".into(), 100)].into(),
        tool_output_percent: Some(30),
        tool_output_share_of_rest: Some(60),
        facts: facts(),
        base_prompt: Some("You are kind.".into()),
        instructions: Some("Be kind.".into()),
        builtin_tools: BuiltinTools::ReadOnly,
        tools: vec![tool(None)],
        tools_shown: ToolsShown::Deferred(12),
        results: Some(ResultPolicy { preview_chars: 4_000 }),
        exec_modes: [("weather".into(), ExecMode::Parallel)].into(),
        estimator: TokenEstimator::Words,
        compaction: compaction(),
        loops: LoopPolicy {
            ignore_tools: vec!["wait".into()],
            ladder: loop_steps(),
            ..LoopPolicy::default()
        },
        approval: ApprovalPolicy { ask: AskAbout::Changes, allow: vec![rule()] },
        hooks: HookPolicy {
            points: hook_points(),
            fail_closed: true,
            max_denials: 2,
            after_tool: AfterToolPolicy { denial: DeniedResult::Keep },
        },
        guard: GuardPolicy { read_before_write: true },
        subagents: SubagentPolicy::default(),
        agents: [("reviewer".into(), reviewer())].into(),
        skills: SkillUse::Selected,
        repair: RepairPolicy::default(),
        corrections: CorrectionPolicy::of(&ReplyFault::ALL.map(|fault| (fault, 1))),
        routing: RoutingPolicy {
            models: vec![RoutedModel {
                model: model(),
                cheap: true,
                tasks: ["security_review", "orchestration", "unit_test", "debug", "refactor"]
                    .into_iter()
                    .chain(["review", "planning", "explain", "boilerplate", "generation"])
                    .map(String::from)
                    .collect(),
            }],
            ..RoutingPolicy::default()
        },
        undo: UndoPolicy { max_steps: 20 },
        answer: Some(AnswerConfig { schema: opaque(), retries: 2 }),
        ask_user: true,
        web_fetch: true,
    }
}

pub(super) fn patch() -> JsonObject {
    JsonObject(vec![
        ("model".into(), Json::parse(r#"{"name":"claude","reasoning_effort":null}"#).unwrap()),
        ("ask_user".into(), Json::of(&true)),
    ])
}

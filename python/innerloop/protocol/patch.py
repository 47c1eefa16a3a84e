"""Merge patches of the configuration. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

from typing import Any, TypedDict

from .config import (
    ApprovalRule,
    AskAbout,
    AudienceKind,
    BuiltinTools,
    CompactionTier,
    DeniedResult,
    ExecMode,
    HookPoint,
    LimitAction,
    LoopStep,
    OnOverflow,
    ProgramFacts,
    ProjectDoc,
    RoutedModel,
    SkillFacts,
    SkillUse,
    TokenEstimator,
    ToolSpec,
    ToolsShown,
)
from .history import WireKind
from .model import (
    CallIds,
    MaxTokensField,
    PriceTier,
    ProfileKind,
    ReplayReasoning,
    SystemRole,
    TextCalls,
    TextFamily,
    ThinkingFormat,
    ToolChoice,
    VocabularyKind,
)


class SessionConfigPatch(TypedDict, total=False):
    """A merge patch of a ``SessionConfig``: what is missing stays as it is."""

    id: str | None
    model: ModelConfigPatch | None
    prices: dict[str, PricePatch | None] | None
    limits: LimitsPatch | None
    response: ResponseLimitsPatch | None
    retry: RetryPolicyPatch | None
    timeouts: ToolTimeoutsPatch | None
    tool_output_limits: dict[str, int | None] | None
    tool_line_limits: dict[str, int | None] | None
    tool_output_percent: int | None
    tool_output_share_of_rest: int | None
    facts: EnvironmentFactsPatch | None
    base_prompt: str | None
    instructions: str | None
    builtin_tools: BuiltinTools | None
    tools: list[ToolSpec] | None
    tools_shown: ToolsShown | None
    results: ResultPolicyPatch | None
    exec_modes: dict[str, ExecMode | None] | None
    estimator: TokenEstimator | None
    compaction: CompactionPolicyPatch | None
    loops: LoopPolicyPatch | None
    approval: ApprovalPolicyPatch | None
    hooks: HookPolicyPatch | None
    guard: GuardPolicyPatch | None
    subagents: SubagentPolicyPatch | None
    agents: dict[str, NamedAgentPatch | None] | None
    skills: SkillUse | None
    repair: RepairPolicyPatch | None
    corrections: CorrectionPolicyPatch | None
    routing: RoutingPolicyPatch | None
    undo: UndoPolicyPatch | None
    answer: AnswerConfigPatch | None
    ask_user: bool | None
    web_fetch: bool | None


class ModelConfigPatch(TypedDict, total=False):
    """A merge patch of a ``ModelConfig``: what is missing stays as it is."""

    endpoint: str | None
    wire: WireKind | None
    profile: ProfileKind | None
    vocabulary: VocabularyKind | None
    name: str | None
    max_output_tokens: int | None
    context_window: int | None
    reasoning_effort: str | None
    tool_choice: ToolChoice | None
    parallel_tool_calls: bool | None
    stream: bool | None
    text_calls: TextCalls | None
    text_family: TextFamily | None
    begins_in_thinking: bool | None
    compat: EndpointCompatPatch | None
    betas: list[str] | None
    options: dict[str, Any] | None
    price: PricePatch | None


class EndpointCompatPatch(TypedDict, total=False):
    """A merge patch of a ``EndpointCompat``: what is missing stays as it is."""

    system_role: SystemRole | None
    max_tokens_field: MaxTokensField | None
    usage_in_stream: bool | None
    thinking: ThinkingFormat | None
    replay_reasoning: ReplayReasoning | None
    tool_choice: bool | None
    parallel_tool_calls: bool | None
    custom_tools: bool | None
    strict_tools: bool | None
    tool_result_name: bool | None
    assistant_after_tool_result: bool | None
    call_ids: CallIds | None
    prompt_cache_key: bool | None
    store: bool | None
    images: bool | None
    json_schema: bool | None


class PricePatch(TypedDict, total=False):
    """A merge patch of a ``Price``: what is missing stays as it is."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    tiers: list[PriceTier] | None


class LimitsPatch(TypedDict, total=False):
    """A merge patch of a ``Limits``: what is missing stays as it is."""

    max_turns: int | None
    max_tool_rounds_per_input: int | None
    run: SpendAmountPatch | None
    session: SpendAmountPatch | None
    action: LimitAction | None


class SpendAmountPatch(TypedDict, total=False):
    """A merge patch of a ``SpendAmount``: what is missing stays as it is."""

    cost_nano_usd: int | None
    tokens: int | None
    ms: int | None


class ResponseLimitsPatch(TypedDict, total=False):
    """A merge patch of a ``ResponseLimits``: what is missing stays as it is."""

    max_bytes: int | None
    max_kept_bytes: int | None
    max_items: int | None
    max_calls: int | None


class RetryPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``RetryPolicy``: what is missing stays as it is."""

    max_retries: int | None
    base_ms: int | None
    max_ms: int | None
    jitter_percent: int | None
    max_retry_after_ms: int | None
    idle_ms: int | None
    mid_stream: bool | None
    refusal_closes: bool | None


class ToolTimeoutsPatch(TypedDict, total=False):
    """A merge patch of a ``ToolTimeouts``: what is missing stays as it is."""

    default_command_ms: int | None
    max_command_ms: int | None
    grace_ms: int | None


class EnvironmentFactsPatch(TypedDict, total=False):
    """A merge patch of a ``EnvironmentFacts``: what is missing stays as it is."""

    working_directory: str | None
    platform: str | None
    os_version: str | None
    date: str | None
    git: GitFactsPatch | None
    no_git: bool | None
    knowledge_cutoff: str | None
    programs: list[ProgramFacts] | None
    project_docs: list[ProjectDoc] | None
    nested_docs: list[ProjectDoc] | None
    skills: list[SkillFacts] | None
    audience: AudienceKind | None
    reply_route: str | None


class GitFactsPatch(TypedDict, total=False):
    """A merge patch of a ``GitFacts``: what is missing stays as it is."""

    branch: str | None
    modified: int | None
    untracked: int | None
    recent_commits: list[str] | None


class ResultPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``ResultPolicy``: what is missing stays as it is."""

    preview_chars: int | None


class CompactionPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``CompactionPolicy``: what is missing stays as it is."""

    auto: list[CompactionTier] | None
    on_overflow: OnOverflow | None
    truncate_if_needed: bool | None
    keep: RetentionPolicyPatch | None
    summary: SummaryPolicyPatch | None
    max_messages: int | None
    max_failures: int | None
    max_window: int | None


class RetentionPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``RetentionPolicy``: what is missing stays as it is."""

    tokens: int | None
    rounds: int | None
    words_of_user: int | None
    first_input: bool | None


class SummaryPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``SummaryPolicy``: what is missing stays as it is."""

    model: str | None
    max_tokens: int | None
    result_chars: int | None
    instructions: str | None


class LoopPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``LoopPolicy``: what is missing stays as it is."""

    detect: bool | None
    window: int | None
    max_period: int | None
    same_args: int | None
    same_name: int | None
    again_after: int | None
    only_if_failed: bool | None
    ignore_tools: list[str] | None
    mask_volatile: bool | None
    ladder: list[LoopStep] | None


class ApprovalPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``ApprovalPolicy``: what is missing stays as it is."""

    ask: AskAbout | None
    allow: list[ApprovalRule] | None


class HookPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``HookPolicy``: what is missing stays as it is."""

    points: list[HookPoint] | None
    fail_closed: bool | None
    max_denials: int | None
    after_tool: AfterToolPolicyPatch | None


class AfterToolPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``AfterToolPolicy``: what is missing stays as it is."""

    denial: DeniedResult | None


class GuardPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``GuardPolicy``: what is missing stays as it is."""

    read_before_write: bool | None


class SubagentPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``SubagentPolicy``: what is missing stays as it is."""

    max_depth: int | None
    max_open: int | None
    batch_ms: int | None
    coordinate: bool | None


class NamedAgentPatch(TypedDict, total=False):
    """A merge patch of a ``NamedAgent``: what is missing stays as it is."""

    description: str | None
    prompt: str | None
    model: str | None
    tools: list[str] | None
    max_turns: int | None


class RepairPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``RepairPolicy``: what is missing stays as it is."""

    continue_on_length: int | None
    grow_output: bool | None
    retry_on_empty: int | None
    coerce_arguments: bool | None


class CorrectionPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``CorrectionPolicy``: what is missing stays as it is."""

    faults: FaultCountsPatch | None
    max_after_calls: int | None
    max_per_run: int | None


class FaultCountsPatch(TypedDict, total=False):
    """A merge patch of a ``FaultCounts``: what is missing stays as it is."""

    promised: int | None
    too_short: int | None
    asked_instead: int | None
    wrote_only: int | None
    claimed: int | None
    fake_result: int | None
    named_tool: int | None
    greeting: int | None
    echo: int | None
    patch_spiral: int | None


class RoutingPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``RoutingPolicy``: what is missing stays as it is."""

    models: list[RoutedModel] | None
    backoff_ms: int | None
    overflow_to_larger: bool | None


class UndoPolicyPatch(TypedDict, total=False):
    """A merge patch of a ``UndoPolicy``: what is missing stays as it is."""

    max_steps: int | None


class AnswerConfigPatch(TypedDict, total=False):
    """A merge patch of a ``AnswerConfig``: what is missing stays as it is."""

    schema: dict[str, Any] | None
    retries: int | None

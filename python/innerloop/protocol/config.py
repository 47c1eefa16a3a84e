"""What a session is opened with. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .history import FoldKind
from .model import ModelConfig, Price

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class SessionConfig(TypedDict):
    """Everything that a session needs to know from the start. The default is the
    specification's; ``id``, ``endpoint`` and ``model`` have no default and must be set."""

    id: str
    """The session's id. A fork always gets a new one."""
    model: ModelConfig
    """The model and its endpoint."""
    prices: dict[str, Price]
    """The prices of further models that the session may use, by name: for summaries, and for
    agents that it starts. A cost limit needs them."""
    limits: Limits
    """The limits at which to stop."""
    response: ResponseLimits
    """The limits on the size of a response."""
    retry: RetryPolicy
    """The rules for retrying a failed model call."""
    timeouts: ToolTimeouts
    """Time limits of tool runs."""
    tool_output_limits: dict[str, int]
    """The maximum number of characters that the model reads of a tool's output, by tool; other
    tools have default limits."""
    tool_line_limits: dict[str, int]
    """The maximum number of lines that the model reads of a tool's output, by tool; other tools
    have default limits."""
    tool_output_percent: int | None
    """The maximum part of the context window for one tool's output, in percent, but never less
    than 1,000 characters. It lowers the limits above, for models with small windows."""
    tool_output_share_of_rest: int | None
    """The maximum part of the unused context window for one tool's output, in percent, but never
    less than 1,000 characters."""
    facts: EnvironmentFacts
    """The facts about the agent's environment that the system prompt states."""
    base_prompt: str | None
    """The text that begins the system prompt, in place of the family's base instructions; an
    empty text for nothing."""
    instructions: str | None
    """Instructions of the user, appended last to the system prompt."""
    builtin_tools: BuiltinTools
    """The choice of the profile's tools."""
    tools: list[ToolSpec]
    """Tools of the host, in addition to the profile's; one of the same name replaces it."""
    tools_shown: ToolsShown
    """The tools that a request shows."""
    results: ResultPolicy | None
    """The rules for outputs that are kept whole; none are kept if absent."""
    exec_modes: dict[str, ExecMode]
    """The modes in which tools' calls run, by tool. By default, calls that only read run beside
    others, and calls that change something run alone."""
    estimator: TokenEstimator
    """The way in which tokens are estimated."""
    compaction: CompactionPolicy
    """The rules for shortening the conversation."""
    loops: LoopPolicy
    """The rules for calls that repeat themselves."""
    approval: ApprovalPolicy
    """The calls that a person must approve first."""
    hooks: HookPolicy
    """The points at which the host's hooks run, and the rules for them."""
    guard: GuardPolicy
    """The rules about reading files before they are changed."""
    subagents: SubagentPolicy
    """The limits on agents that an agent may start."""
    agents: dict[str, NamedAgent]
    """The agents that can be started by name, by that name."""
    skills: SkillUse
    """The use that is made of the skills in ``facts``."""
    repair: RepairPolicy
    """The rules for repairing replies that end too early."""
    corrections: CorrectionPolicy
    """The faults of replies that are corrected, and how often."""
    routing: RoutingPolicy
    """The models besides ``model``, and when they are used."""
    undo: UndoPolicy
    """The limit on steps that can be undone."""
    answer: AnswerConfig | None
    """The form of the final answer, if one is required."""
    ask_user: bool
    """True if the model may ask the user, through the tool ``ask_user``."""
    web_fetch: bool
    """True if the host carries out ``fetch``, so that the model has a tool for it."""


class Limits(TypedDict):
    """The limits at which to stop; 0 means no limit."""

    max_turns: int
    """The maximum number of user and assistant turns in the whole session."""
    max_tool_rounds_per_input: int
    """The maximum number of rounds of tool calls for one input of the user."""
    run: NotRequired[SpendAmount]
    """The maximum spending of a run, including the agents that it started."""
    session: NotRequired[SpendAmount]
    """The maximum spending of all runs of the session together."""
    action: LimitAction
    """The reaction when one of these limits is reached."""


class SpendAmount(TypedDict):
    """An amount of money, tokens and time; as a limit, 0 means no limit."""

    cost_nano_usd: int
    """Nano-dollars (10⁻⁹ US dollars)."""
    tokens: int
    """Tokens, in and out."""
    ms: int
    """Milliseconds of runs, including the time spent waiting for people, tools and providers."""


LimitAction = Literal["idle", "summarize", "partial", "error"]
"""The reaction when a limit is reached.

- ``idle``: The run ends, and the agent is idle.
- ``summarize``: The model summarises its findings without tools, and the run ends.
- ``partial``: The run ends with all of the model's texts in it.
- ``error``: The run ends as failed.
"""


class ResponseLimits(TypedDict):
    """The limits on how much of one response of a model is read. A response that exceeds one
    ends the run as failed, and the model's text so far is kept."""

    max_bytes: int
    """Bytes of its body."""
    max_kept_bytes: int
    """Bytes of it held in memory: its content, and an event until it is complete."""
    max_items: int
    """Parts of its reply: texts, thinking, calls, fields that arrive one by one, and every
    twenty names and values in the arguments of a call."""
    max_calls: int
    """Calls of tools, including those in its text."""


class RetryPolicy(TypedDict):
    """The rules for retrying a failed model call. The delay is ``base_ms``, doubled for each
    retry, at most ``max_ms``, less up to ``jitter_percent`` of it; a delay that the provider
    asks for overrides it."""

    max_retries: int
    """The maximum number of retries of one model call; 0 switches retries off."""
    base_ms: int
    """The first delay, in milliseconds."""
    max_ms: int
    """The longest delay of our own, in milliseconds."""
    jitter_percent: int
    """The part of a delay of our own that may be left out, in percent, so that many sessions do
    not retry at once; 0 for exact delays."""
    max_retry_after_ms: int
    """The longest delay that a provider may ask for; a longer one ends the run."""
    idle_ms: int
    """The time without a byte after which a model call counts as broken, in milliseconds."""
    mid_stream: bool
    """True if a call that breaks after text or a part of a tool call has arrived is retried. No
    tool has started then, and ``text_reset`` voids the shown text."""
    refusal_closes: bool
    """True if a call that can never succeed, such as one whose key or model is refused, closes
    the session. Otherwise its run fails, and the session can go on once the cause is fixed."""


class ToolTimeouts(TypedDict):
    """Time limits of tool runs, in milliseconds."""

    default_command_ms: int
    """The limit of a run whose call sets none. If this has its default value, the profile's own
    limit applies."""
    max_command_ms: int
    """The longest limit that a run can have."""
    grace_ms: int
    """The time that a cancelled effect may take to answer before it counts as lost."""


class EnvironmentFacts(TypedDict, total=False):
    """The facts about the agent's environment that the system prompt states. Facts that are
    empty or absent are left out."""

    working_directory: str
    """The workspace, as the tools see it."""
    platform: str
    """``linux``, ``darwin``, ``windows``, ``wasm``."""
    os_version: str
    """The version of the operating system."""
    date: str
    """The current date as ``YYYY-MM-DD``."""
    git: GitFacts | None
    """The state of version control, if the workspace is under it."""
    no_git: bool
    """True if the workspace is known to be in no repository of git."""
    knowledge_cutoff: str
    """The model's knowledge cutoff."""
    programs: list[ProgramFacts]
    """Programs that ``run_program`` can run. Without any, the tool is not offered."""
    project_docs: list[ProjectDoc]
    """Instruction files of the project, root first."""
    nested_docs: list[ProjectDoc]
    """Instruction files of folders below the workspace's top, in any order. An agent reads those
    on the way to its folder and in it."""
    skills: list[SkillFacts]
    """Skills that the model can use. Of those with equal names the first counts."""
    audience: AudienceKind
    """The people who read what the agent says."""
    reply_route: str | None
    """The place that answers are delivered to by the host, such as a channel; the model is told
    to send none of them by a tool."""


class GitFacts(TypedDict, total=False):
    """The state of version control when the session began."""

    branch: str
    """The name of the current branch."""
    modified: int | None
    """The number of modified files, if the host knows it."""
    untracked: int | None
    """The number of untracked files, if the host knows it."""
    recent_commits: list[str]
    """Subjects of the newest commits, newest first."""


class ProgramFacts(TypedDict):
    """A program of the host's registry."""

    name: str
    """The name under which it runs."""
    description: str
    """A sentence that describes it and its usage."""


class ProjectDoc(TypedDict):
    """An instruction file of the project."""

    path: str
    """Its path as seen from the workspace."""
    text: str
    """The text of the file."""
    private: NotRequired[bool]
    """True if it is left out where a group reads along, as ``MEMORY.md`` always is."""


class SkillFacts(TypedDict):
    """A skill that the model can use."""

    name: str
    """Its name, which ``/name`` and ``$name`` in an input call for."""
    description: str
    """The sentence by which the model tells that a task needs it."""
    path: str
    """The path of its ``SKILL.md``, as the tools see it. If it begins with ``~/``, no tool can
    read the file, and the model gets ``body`` in place of it. If it is empty, it is such a
    path."""
    body: NotRequired[str]
    """The instructions, without the front matter. Needed where no tool can read the file, and
    where skills are selected."""
    keywords: NotRequired[list[str]]
    """The words of an input that speak for it."""
    exclude: NotRequired[list[str]]
    """The words of an input that rule it out."""
    tags: NotRequired[list[str]]
    """Words for the area that it belongs to, which speak less strongly for it."""
    max_tokens: NotRequired[int]
    """The number of tokens that it counts for where skills are selected; a quarter of its bytes
    if that is more."""


AudienceKind = Literal["private", "group"]
"""The people who read what the agent says.

- ``private``: One person, who may know all that the documents say.
- ``group``: Several people: private documents are left out.
"""


BuiltinToolsObject = TypedDict(
    "BuiltinToolsObject",
    {
        # The tools with these names.
        "only": "list[str]",
        # All tools except those with these names.
        "except": "list[str]",
    },
    total=False,
)
"""Exactly one of these keys is there."""


BuiltinTools = Literal["all", "read_only", "none"] | BuiltinToolsObject
"""The choice of the profile's own tools, by their names in its vocabulary. The tools that ask
the user or give the final answer have switches of their own.

- ``all``: All tools that this session can carry out.
- ``read_only``: Only the tools that change nothing and run nothing.
- ``none``: None of the profile's tools.
"""


class ToolSpec(TypedDict):
    """A tool as the model sees it."""

    name: str
    """A unique name; among equal names the latest registration wins."""
    description: str
    """The description of the tool and of its purpose."""
    parameters: dict[str, Any]
    """A JSON Schema whose root is an object."""
    read_only: NotRequired[bool]
    """True if it only reads, so that it may run beside others."""
    timeout_ms: NotRequired[int | None]
    """The time limit of a run, in milliseconds, at most ``timeouts.max_command_ms``; if absent,
    the default limit of commands."""
    paths: NotRequired[list[str]]
    """The names of the arguments that are files or folders of the workspace, each one text or a
    list of texts; an input's ``paths`` is checked against them. An argument that a call omits
    stands for the agent's own folder."""
    freeform: NotRequired[FreeformSpec | None]
    """The form of a call with free text instead of JSON, for protocols that support it."""


class FreeformSpec(TypedDict):
    """A tool that is called with free text if the protocol supports that (OpenAI's custom
    tools), and with the schema's arguments otherwise."""

    grammar: str
    """The grammar of the text, in Lark's syntax."""
    property: str
    """The property of the schema that the text is the value of."""
    description: str
    """The description that replaces the tool's for the model."""


class ToolsShownObject(TypedDict, total=False):
    """Exactly one of these keys is there."""

    deferred: int
    """At most this many tools, but all built-in ones. ``tool_search`` names the host's further
    tools, and the model finds them with it."""


ToolsShown = Literal["all", "staged"] | ToolsShownObject
"""The tools that a request shows.

- ``all``: All.
- ``staged``: At first only ``select_category``, then the tools of the category that the
  model has chosen. For small models, which choose badly among many tools.
"""


class ResultPolicy(TypedDict):
    """The rules for outputs that are kept if the model has read only a part of them: it reads
    the rest with ``read_result``."""

    preview_chars: int
    """The maximum number of characters of a cut output that the model reads at first; 0 for as
    many as without this policy."""


ExecMode = Literal["parallel", "serial"]
"""The mode in which a tool's calls run: beside others or alone.

- ``parallel``: Beside others of this mode.
- ``serial``: Alone, in the order of the calls.
"""


TokenEstimator = Literal["chars", "code_and_prose", "words", "bytes"]
"""The way in which the tokens of a text are estimated, if the provider has not counted them.

- ``chars``: A token for four characters.
- ``code_and_prose``: A token for three characters of tool output and calls, and for four of
  other text.
- ``words``: 1.3 tokens for a word, and 4 for a message.
- ``bytes``: A token for four bytes.
"""


class CompactionPolicy(TypedDict):
    """The rules for shortening the conversation: when, how, and which part stays. Unless the
    host requests it, that happens only if a tier or ``on_overflow`` says so."""

    auto: list[CompactionTier]
    """The tiers that apply before a model call; if several are reached, the one with the highest
    start applies."""
    on_overflow: OnOverflow
    """The reaction when the conversation no longer fits the model."""
    truncate_if_needed: bool
    """True if the oldest turns are left out when the conversation does not fit and nothing else
    shortens it; otherwise the run ends."""
    keep: RetentionPolicy
    """The part of the conversation that stays."""
    summary: SummaryPolicy
    """The rules for a summary by the model."""
    max_messages: int
    """The number of turns above which the first tier applies, whatever their length; 0 for
    never."""
    max_failures: int
    """The number of failures in a row after which there are no automatic attempts, until a
    request of the host succeeds."""
    max_window: int
    """The maximum number of tokens that count as the context window; 0 for all of it."""


CompactionTier = TypedDict(
    "CompactionTier",
    {
        # The fullness of the window from which the tier applies.
        "from": "WindowFullness",
        # The fullness of the window to reach.
        "to": "WindowFullness",
        # The step to take.
        "step": "FoldKind",
        # The maximum number of the user's inputs that are kept with everything that followed them;
        # all that fit if absent.
        "inputs": "NotRequired[int]",
    },
)
"""A step that shortens the conversation automatically, and the fullness from which it applies."""


class WindowFullness(TypedDict, total=False):
    """The fullness of a context window, in percent, in tokens used or in tokens left. If several
    values are given, the one that is reached last counts."""

    percent: int
    """The part that is used, in percent."""
    used: int
    """The number of tokens that are used."""
    left: int
    """The number of tokens that are left."""


OnOverflow = Literal["warn", "compact_retry_once"]
"""The reaction when the conversation no longer fits the model.

- ``warn``: The run ends, with a warning.
- ``compact_retry_once``: The conversation is shortened to half of the window, and the model
  is called again, once for each input.
"""


class RetentionPolicy(TypedDict):
    """The part of a conversation that is kept when it is shortened."""

    tokens: int
    """The maximum number of tokens of the newest turns that are kept if the host requests a
    shorter conversation."""
    rounds: int
    """The number of the newest replies that are always kept, each with its calls and their
    results."""
    words_of_user: int
    """The maximum number of tokens of the user's inputs that follow a summary unchanged, newest
    first."""
    first_input: bool
    """True if the user's first input stays."""


class SummaryPolicy(TypedDict):
    """The rules for a summary by a model."""

    model: str | None
    """Another model of the same endpoint; the agent's own if absent."""
    max_tokens: int
    """The maximum number of tokens of the summary."""
    result_chars: int
    """The maximum number of characters that it reads of a tool's result."""
    instructions: str | None
    """Additional instructions for the summary."""


class LoopPolicy(TypedDict):
    """The rules for calls that repeat themselves: their detection, and the reactions."""

    detect: bool
    """True if repeating calls are detected."""
    window: int
    """The number of the newest calls that must follow one pattern."""
    max_period: int
    """The longest cycle of calls that counts as a pattern."""
    same_args: int
    """The number of rounds in a row with the same calls at which a step is taken; 0 for never."""
    same_name: int
    """The number of rounds in a row that call the same tools, whatever the arguments, at which a
    step is taken; 0 for never."""
    again_after: int
    """The number of further such rounds after which the next step of the ladder follows; 0 for
    the same number again."""
    only_if_failed: bool
    """True if only calls that failed count."""
    ignore_tools: list[str]
    """Tools whose calls do not count."""
    mask_volatile: bool
    """True if times, UUIDs and hashes in arguments and results are ignored in comparisons."""
    ladder: list[LoopStep]
    """The steps to take the first time, the second time and so on, until the pattern breaks; the
    last step applies to all further times."""


LoopStep = Literal["warn", "summarize", "ask_user", "stop"]
"""The reaction to calls that repeat themselves.

- ``warn``: The model gets a warning.
- ``summarize``: The model summarises its findings without tools, and the run ends.
- ``ask_user``: The user is asked whether to go on.
- ``stop``: The run ends at once.
"""


class ApprovalPolicy(TypedDict):
    """The calls that a person must approve before they run (``Ask`` effects)."""

    ask: AskAbout
    """The kinds of calls that are asked about."""
    allow: list[ApprovalRule]
    """Calls that are never asked about."""


AskAbout = Literal["nothing", "programs", "changes", "everything"]
"""The kinds of calls that are asked about.

- ``nothing``: Nobody is asked about any call.
- ``programs``: Calls that run a program or belong to the host's own tools, unless they only
  read. Changes of files in the workspace need no approval.
- ``changes``: Calls that may change something.
- ``everything``: All calls that the host would run.
"""


class ApprovalRule(TypedDict):
    """A rule for calls that need no approval: all calls of a tool, or only some of them."""

    tool: str
    """The name of the tool."""
    starting: NotRequired[dict[str, str]]
    """The texts with which its arguments must begin, by the argument's name; empty for every
    call."""


class HookPolicy(TypedDict):
    """The points at which the host's hooks run, and the rules for them."""

    points: list[HookPoint]
    """The points at which the host's hooks run."""
    fail_closed: bool
    """True if a failing hook counts as a denial; otherwise the run goes on."""
    max_denials: int
    """The number of times for one input that the hook before the end may send the model back to
    work; a further denial ends the run as unverified."""
    after_tool: AfterToolPolicy
    """The rules for the hook after a tool."""


HookPoint = Literal[
    "submit",
    "before_model",
    "before_tool",
    "after_tool",
    "after_iteration",
    "before_stop",
    "outbound",
    "compact",
]
"""The point in the loop at which a hook runs.

- ``submit``: When the user submits an input. Replaceable by another text.
- ``before_model``: Before a model call. A replacement is a text that the model reads as a
  system message.
- ``before_tool``: Before a tool runs. Replaceable by other arguments, which are checked
  again.
- ``after_tool``: After a tool has run. Replaceable by another text for the model.
- ``after_iteration``: After a round of calls, before the model reads the results. A
  replacement is a text that it reads after them, as a steering message; a denial ends the
  run.
- ``before_stop``: Before the run ends. The model reads the reason of a denial, and the run
  goes on, as often as ``max_denials`` allows.
- ``outbound``: Before the result of the session's own agent is reported, at the end of a
  run that was not interrupted, denied or failed. Replaceable by another result, which does
  not change the history; a denial withholds the result.
- ``compact``: Before the oldest turns are archived or summarised. Replaceable by a text
  that stands in their place; a denial leaves the conversation unchanged.
"""


class AfterToolPolicy(TypedDict):
    """The rules for the hook after a tool."""

    denial: DeniedResult
    """The result that the model reads if the hook denies."""


DeniedResult = Literal["withhold", "keep"]
"""The result of a call that a hook has denied after it has run.

- ``withhold``: The model reads the reason instead of the output.
- ``keep``: The model reads the output, as if the hook had allowed it.
"""


class GuardPolicy(TypedDict):
    """The rules about reading files before they are changed."""

    read_before_write: bool
    """True if an existing file must have been read, or written, in this session before it is
    changed."""


class SubagentPolicy(TypedDict):
    """Agents that an agent may start."""

    max_depth: int
    """The maximum nesting depth of agents; 0 allows none."""
    max_open: int
    """The maximum number of agents that may be open at once, at all depths together."""
    batch_ms: int
    """The time limit of the agents of one ``spawn_agents``, in milliseconds; agents that still
    work then are ended. 0 means no limit."""
    coordinate: bool
    """True if an input that asks for several agents is followed by a note on how to share the
    work among them."""


class NamedAgent(TypedDict):
    """An agent that can be started by name."""

    description: str
    """The sentence by which a model chooses it."""
    prompt: str
    """The text that begins its system prompt, in place of the family's base instructions; empty
    for those."""
    model: str | None
    """Its model, at the session's endpoint. If absent, it is the model that the call names, or
    the session's."""
    tools: list[str] | None
    """The names of its tools, among those of the session; all of them if absent."""
    max_turns: int
    """The maximum number of turns; 0 means no limit."""


SkillUse = Literal["catalogue", "selected", "off"]
"""The use that is made of skills.

- ``catalogue``: The system prompt names them, and the model reads those that it needs.
- ``selected``: Those whose words fit an input stand behind it. No others are shown.
- ``off``: None.
"""


class RepairPolicy(TypedDict):
    """The rules for repairing replies that end too early."""

    continue_on_length: int
    """The number of times in a run that a text cut by the output limit is continued."""
    grow_output: bool
    """True if a reply that the output limit has cut within a call is requested again with twice
    the limit, which then holds until the next input."""
    retry_on_empty: int
    """The number of times in a run that a reply without text and calls is requested again."""
    coerce_arguments: bool
    """True if arguments of the wrong type are converted if their meaning is clear."""


class CorrectionPolicy(TypedDict):
    """The corrections of a run. A fault beyond its number is accepted."""

    faults: FaultCounts
    """The number of times that a run corrects each fault, by the fault's name; 0 for never."""
    max_after_calls: int
    """The number of corrections of a run for replies after a call: ``fake_result``,
    ``named_tool`` and ``greeting`` together."""
    max_per_run: int
    """The number of corrections of a run, whatever the faults."""


class FaultCounts(TypedDict, total=False):
    """The fields of ``faults``, for the schema of its JSON."""

    promised: int
    """Replies that announce an action, and do nothing."""
    too_short: int
    """Replies of less than 100 characters without a complete sentence."""
    asked_instead: int
    """Replies that ask whether to begin. They do not count if the model may ask the user
    (``ask_user``)."""
    wrote_only: int
    """First replies of more than 300 characters from a model that has called no tool yet."""
    claimed: int
    """Replies that claim a change of files, from a model that has called no tool yet."""
    fake_result: int
    """Replies that invent a tool's result. They are cut off there, even beyond the number."""
    named_tool: int
    """Replies after a call that write another one as text, in a form that is not parsed."""
    greeting: int
    """Replies after a call that greet the user instead of answering."""
    echo: int
    """Replies that repeat one passage over and over. They are ended at once, even beyond the
    number."""
    patch_spiral: int
    """Edits of one file that fail four times in a row. With any number but 0, each file is
    reported once."""


class RoutingPolicy(TypedDict):
    """The models besides the session's own, and the rules for choosing among them."""

    models: list[RoutedModel]
    """The further models. When a model fails, the next one in this order that has not failed
    itself takes over."""
    backoff_ms: int
    """The time for which an overloaded or rate-limited model is not used, in milliseconds;
    longer if its provider asks for more."""
    overflow_to_larger: bool
    """True if a model with a larger window takes over a conversation that does not fit."""


class RoutedModel(TypedDict):
    """A model that a session may use besides its own."""

    model: ModelConfig
    """The model and its endpoint."""
    cheap: bool
    """True if it writes the summaries. It takes over for other models only when no other is
    left."""
    tasks: list[TaskKind]
    """The kinds of tasks for which it is preferred."""


TaskKind = Literal[
    "security_review",
    "orchestration",
    "unit_test",
    "debug",
    "refactor",
    "review",
    "planning",
    "explain",
    "boilerplate",
    "generation",
]
"""The names of ``tasks``, for the schema of its JSON.

- ``security_review``: To check that something is secure.
- ``orchestration``: To make several agents work at once.
- ``unit_test``: To write tests.
- ``debug``: To find a bug.
- ``refactor``: To change the form of code but not its behaviour.
- ``review``: To review code.
- ``planning``: To plan or design.
- ``explain``: To explain.
- ``boilerplate``: To set up the standard parts of a project.
- ``generation``: To write something new.
"""


class UndoPolicy(TypedDict):
    """The limit on steps that can be undone."""

    max_steps: int
    """The maximum number of steps that can be undone in a row; 0 for all."""


class AnswerConfig(TypedDict):
    """The form of the final answer: the model gives it through the tool ``final_answer``."""

    schema: dict[str, Any]
    """A JSON Schema whose root is an object."""
    retries: int
    """The number of times that the answer is requested again if a run ends with text."""


ConfigPreset = Literal[
    "seed001",
    "modern",
    "ollama",
    "ironclaw",
    "gnoma",
    "council_member",
    "council_discusser",
    "council_reviewer",
]
"""A configuration by name.

- ``seed001``: The defaults of the Coding Agent Loop Specification.
- ``modern``: The settings that users of codex, Claude Code or pi expect: the tools that the
  model was trained on, files that must be read before they are changed, arguments that are
  converted to fit their schema, sessions that survive a refused request, and at most 200
  rounds for an input; calls that still repeat after two warnings end the run.
- ``ollama``: Small local models: 25 rounds, then a summary; loops stop early; outputs take
  less than a third of the window.
- ``ironclaw``: Approval of changes, 50 rounds, and only failing calls count as a loop.
- ``gnoma``: Few retries with long delays, none in mid-stream; reaching a limit is an error.
- ``council_member``: A member of a council, who gives a position on a question by reasoning
  alone, without any tool.
- ``council_discusser``: A member of a council who weighs the positions of the others, also
  without tools.
- ``council_reviewer``: A member of a council who reviews its outcome, also without tools.
"""

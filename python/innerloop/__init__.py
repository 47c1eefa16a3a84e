"""A coding agent to build on: it streams, calls your functions, and edits files in a sandbox."""

from .agent import Agent
from .agent_files import agents_from
from .core import Core
from .effects import Approval
from .errors import InnerloopError, RejectedError, ToolError
from .fallbacks import Fallback
from .hooks import FoldedTurns, HookDenial, HookedCall, HookReplacement, HookResult, Hooks
from .run import Run, RunError, RunResult, Usage
from .session import Session, Step
from .skills import Skill
from .tools import Tool, ToolContext, ToolResult, tool
from .undoing import KeptFile, UndoneFiles

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "Approval",
    "Core",
    "Fallback",
    "FoldedTurns",
    "HookDenial",
    "HookReplacement",
    "HookResult",
    "HookedCall",
    "Hooks",
    "InnerloopError",
    "KeptFile",
    "RejectedError",
    "Run",
    "RunError",
    "RunResult",
    "Session",
    "Skill",
    "Step",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "UndoneFiles",
    "Usage",
    "agents_from",
    "tool",
]

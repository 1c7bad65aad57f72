"""Google ADK: the tools that you name wait for a person.

    callback = lantern_callback(wake, tools=["refund"])
    agent = LlmAgent(name="clerk", model=model, tools=[refund], before_tool_callback=callback)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ..faults import LanternError
from ..threads import in_thread
from ..wake.client import Wake
from .call import HeldCall, key_of
from .review import Pending, Refuse, review


def lantern_callback(
    wake: Wake, *, tools: Sequence[str], **options: Any
) -> Callable[[Any, dict[str, Any], Any], Awaitable[dict[str, Any] | None]]:
    """For ``before_tool_callback`` of an ``LlmAgent``. With ``wait=False`` an undecided call ends with the news that it
    was not run yet, and the session remembers it: the same call made later in that session picks up the answer.

    ``LlmAgent(name="clerk", tools=[refund], before_tool_callback=lantern_callback(wake, tools=["refund"]))``
    """
    if isinstance(tools, str):
        raise LanternError("wrong_usage", "Give the names of the tools as a list: a single text is none.")

    async def before_tool(tool: Any, args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        if tool.name not in tools:
            return None
        session_id, state = tool_context.session.id, tool_context.state
        # A call that is made again has a new id. The answer is used once: after it, the same call is a new question.
        mark = key_of("lanternroom", HeldCall([], tool.name, args))
        earlier = _take(state, mark)
        call_id = earlier or _call_id(tool_context)
        call = HeldCall([session_id, call_id], tool.name, dict(args), tool.description, session_id)
        try:
            verdict = await in_thread(review, "google-adk", call, wake, **options)
        except BaseException:
            if earlier:
                _keep(state, mark, earlier)
            raise
        if isinstance(verdict, Pending):
            _keep(state, mark, call_id)
            message = f"Not run yet: a person has to decide first. End here, and call {tool.name} again when told to."
            return {"status": "pending", "message": message, "delivery_id": verdict.delivery_id}
        if isinstance(verdict, Refuse):
            return {"status": "not_run", "message": verdict.message}
        # Changed in place: ADK hands this very object to the tool next.
        args.clear()
        args.update(verdict.args)
        return None

    return before_tool


def _take(state: Any, mark: str) -> str | None:
    """At once and not when the answer is there: ADK runs the calls of a batch side by side, and two that are the same
    must not both go by one answer."""
    waiting: list[str] = state.get(mark) or []
    if not waiting:
        return None
    state[mark] = waiting[1:]
    return waiting[0]


def _keep(state: Any, mark: str, call_id: str) -> None:
    state[mark] = [*(state.get(mark) or []), call_id]


def _call_id(tool_context: Any) -> str:
    name = tool_context.function_call_id
    if isinstance(name, str) and name:
        # Some models number their calls anew in each turn; the answer to an earlier call is none to this one.
        said = [one for event in tool_context.session.events for one in event.get_function_responses()]
        earlier = sum(one.id == name for one in said)
        return f"{name}:{earlier}" if earlier else name
    raise LanternError("wrong_usage", "This tool call has no id, so nobody can be asked about it.")

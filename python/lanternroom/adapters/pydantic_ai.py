"""Pydantic AI: tools with ``requires_approval=True`` wait for a person.

    agent = Agent(model, output_type=[str, DeferredToolRequests])
    result = await run_with_person(agent, "Refund order A-17.", wake, run_id="run-1")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..faults import LanternError
from ..wake.client import Wake
from .call import HeldCall
from .review import Refuse, Run, together


async def answer_approvals(
    messages: Sequence[Any], requests: Any, wake: Wake, *, run_id: str, **options: Any
) -> dict[str, Any] | None:
    """With what ``agent.run`` goes on: the conversation, with arguments as the person edited them, and the answers. None
    when no approval is asked for, or (with ``wait=False``) a person has not decided yet. ``run_id`` is your own id of the
    run, the same after a restart.

    ``answered = await answer_approvals(result.all_messages(), result.output, wake, run_id=run_id, wait=False)``
    """
    from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied

    if not run_id:
        raise LanternError("wrong_usage", "Give the run an id of your own (run_id), the same after a restart.")
    held: Sequence[Any] = requests.approvals
    verdicts = await together("pydantic-ai", [_call(part, run_id, messages) for part in held], wake, **options)
    answers: dict[str, Any] = {}
    edits: dict[str, dict[str, Any]] = {}
    for part, verdict in zip(held, verdicts):
        if isinstance(verdict, Refuse):
            answers[part.tool_call_id] = ToolDenied(verdict.message)
        elif isinstance(verdict, Run):
            answers[part.tool_call_id] = ToolApproved(override_args=verdict.args if verdict.edited else None)
            if verdict.edited:
                edits[part.tool_call_id] = verdict.args
    if not held or len(answers) < len(held):
        return None
    return {
        "message_history": _with_arguments(messages, edits),
        "deferred_tool_results": DeferredToolResults(approvals=answers),
    }


async def run_with_person(agent: Any, prompt: Any, wake: Wake, *, run_id: str, **options: Any) -> Any:
    """Runs an agent to its end and stays with it. What else ``agent.run`` takes (``deps``, ``message_history``, …) is
    passed on each time. A run that also waits for the result of an external call comes back as it is.

    ``result = await run_with_person(agent, "Refund order A-17.", wake, run_id=run_id)``
    """
    from pydantic_ai import DeferredToolRequests

    asking = {name: options.pop(name) for name in ("wait", "timeout_seconds") if name in options}
    result = await agent.run(prompt, **options)
    while isinstance(result.output, DeferredToolRequests) and not result.output.calls:
        answered = await answer_approvals(result.all_messages(), result.output, wake, run_id=run_id, **asking)
        if answered is None:
            return result
        result = await agent.run(**{**options, **answered})
    return result


def _call(part: Any, run_id: str, messages: Sequence[Any]) -> HeldCall:
    name = part.tool_call_id
    if not name:
        raise LanternError("wrong_usage", "This tool call has no id, so its answer could be taken for another call.")
    # Some models number their calls anew in each turn; the answer to an earlier call is none to this one.
    earlier = sum(one.part_kind == "tool-return" and one.tool_call_id == name for of in messages for one in of.parts)
    return HeldCall(
        [run_id, f"{name}:{earlier}" if earlier else name], part.tool_name, part.args_as_dict(), None, run_id
    )


def _with_arguments(messages: Sequence[Any], edits: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """The model is to read what its tool has really been called with."""

    def part_of(part: Any) -> Any:
        is_edited = part.part_kind == "tool-call" and part.tool_call_id in edits
        return replace(part, args=dict(edits[part.tool_call_id])) if is_edited else part

    return [
        replace(message, parts=[part_of(part) for part in message.parts]) if message.kind == "response" else message
        for message in messages
    ]

"""The OpenAI Agents SDK: tools with ``needs_approval=True`` wait for a person.

    result = await run_with_person(agent, "Refund order A-17.", wake, run_id="run-1")
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from ..faults import LanternError
from ..wake.client import Wake
from .call import HeldCall
from .review import Refuse, Run, Verdict, together


async def answer_approvals(agent: Any, state: Any, wake: Wake, *, run_id: str, **options: Any) -> Any:
    """The state with which a paused run goes on, or None: nothing is held, or (with ``wait=False``) a person has not
    decided yet. ``run_id`` is your own id of the run, the same after a restart.

    ``state = await answer_approvals(agent, result.to_state(), wake, run_id=run_id, wait=False)``
    """
    if not run_id:
        raise LanternError("wrong_usage", "Give the run an id of your own (run_id), the same after a restart.")
    held = state.get_interruptions()
    calls = [_call(item, run_id) for item in held]
    verdicts = dict(zip(map(_call_id, held), await together("openai-agents", calls, wake, **options)))
    if not held or not all(isinstance(one, (Run, Refuse)) for one in verdicts.values()):
        return None
    edits = {name: one.args for name, one in verdicts.items() if isinstance(one, Run) and one.edited}
    # Edited first: an approval counts for the arguments that the call has at that moment.
    settled = await _with_arguments(agent, state, edits) if edits else state
    for item in settled.get_interruptions():
        _settle(settled, item, verdicts[_call_id(item)])
    return settled


async def run_with_person(
    agent: Any,
    given: Any,
    wake: Wake,
    *,
    run_id: str,
    context: Any = None,
    max_turns: int | None = None,
    **options: Any,
) -> Any:
    """Runs an agent to its end and stays with it. Given a ``RunState`` it goes on with a run that was left paused.
    ``context`` and ``max_turns`` go to the framework's own ``Runner.run``.

    ``result = await run_with_person(agent, "Refund order A-17.", wake, run_id=run_id)``
    """
    from agents import Runner, RunState

    run: dict[str, Any] = {name: one for name, one in (("context", context), ("max_turns", max_turns)) if one is not None}
    following = given
    if isinstance(given, RunState):
        following = await answer_approvals(agent, given, wake, run_id=run_id, **options) or given
    while True:
        result = await Runner.run(agent, following, **run)
        if not result.interruptions:
            return result
        following = await answer_approvals(agent, result.to_state(), wake, run_id=run_id, **options)
        if following is None:
            return result


def seal_state(state: Any, *, secret: str, run_id: str) -> str:
    """The state as text that can lie where others might change it: it carries approvals and arguments, and the
    framework believes whatever it is given. Signed, not encrypted. On your own server keep it as it is.

    ``save(run_id, seal_state(result.to_state(), secret=secret, run_id=run_id))``
    """
    text = state.to_string()
    return f"{_mark(secret, run_id, text)}.{text}"


async def open_state(agent: Any, sealed: str, *, secret: str, run_id: str) -> Any:
    """The state again, or an error when it was changed or belongs to another run.

    ``state = await open_state(agent, load(run_id), secret=secret, run_id=run_id)``
    """
    from agents import RunState

    mark, _, text = sealed.partition(".")
    if not hmac.compare_digest(mark.encode(), _mark(secret, run_id, text).encode()):
        raise LanternError(
            "wrong_usage",
            "This run state was changed, or belongs to another run: do not go on with it, start the run again.",
        )
    return await RunState.from_string(agent, text)


def _mark(secret: str, run_id: str, text: str) -> str:
    if len(secret) < 32:
        raise LanternError("wrong_usage", "The secret of a sealed state needs at least 32 characters.")
    bound = json.dumps(["lanternroom.openai-agents.v1", run_id, text])
    return base64.urlsafe_b64encode(hmac.new(secret.encode(), bound.encode(), hashlib.sha256).digest()).decode()


def _call(item: Any, run_id: str) -> HeldCall:
    raw = item.raw_item
    args: Any = _field(raw, "arguments")
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            pass  # shown as it is: the model wrote something that is not JSON
    if not isinstance(args, dict):
        args = {"arguments": args} if args is not None else {"call": _plain(raw)}
    return HeldCall([run_id, _call_id(item)], item.tool_name or str(_field(raw, "type")), args, None, run_id)


def _call_id(item: Any) -> str:
    name = _field(item.raw_item, "call_id") or _field(item.raw_item, "id")
    if isinstance(name, str) and name:
        return name
    raise LanternError("wrong_usage", "This tool call has no id, so its answer could be taken for another call.")


def _field(raw: Any, name: str) -> Any:
    return raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None)


def _plain(raw: Any) -> Any:
    return raw.model_dump(mode="json") if hasattr(raw, "model_dump") else dict(raw)


def _settle(state: Any, item: Any, verdict: Verdict) -> None:
    is_function = _field(item.raw_item, "type") == "function_call"
    if isinstance(verdict, Run) and (is_function or not verdict.edited):
        state.approve(item)
    elif isinstance(verdict, Run):
        wanted = json.dumps(verdict.args)
        state.reject(item, rejection_message=f"Not run: a person wants {wanted} instead. Propose it like that.")
    elif isinstance(verdict, Refuse):
        state.reject(item, rejection_message=verdict.message)


async def _with_arguments(agent: Any, state: Any, edits: Mapping[str, Mapping[str, Any]]) -> Any:
    """Through the public JSON form, where a call occurs several times: all change, so tool and model see the same."""
    from agents import RunState

    def rewrite(value: Any) -> Any:
        if isinstance(value, list):
            return [rewrite(one) for one in value]
        if not isinstance(value, dict):
            return value
        copy = {name: rewrite(inner) for name, inner in value.items()}
        # The framework remembers a fingerprint of each call, also in the state of an agent that is a tool of another
        # one; the edited call is to get its own when it is approved.
        if isinstance(copy.get("tool_invocations"), dict):
            copy["tool_invocations"] = {
                name: inner for name, inner in copy["tool_invocations"].items() if name not in edits
            }
        args = edits.get(value.get("call_id", "")) if value.get("type") == "function_call" else None
        return copy if args is None else {**copy, "arguments": json.dumps(args)}

    edited = rewrite(state.to_json())
    # The live context is kept: it may hold what JSON cannot, such as open connections.
    context = getattr(getattr(state, "_context", None), "context", None)
    return await RunState.from_json(agent, edited, context_override=context)

"""LangGraph and LangChain: the interrupts of a paused thread go to a person, the answers go back as its resume.

    from langchain.agents.middleware import HumanInTheLoopMiddleware
    middleware = [HumanInTheLoopMiddleware(interrupt_on={"refund": True}, interrupt_mode="per_call")]
    agent = create_agent(model, tools=[refund], middleware=middleware, checkpointer=checkpointer)
    result = run_with_person(agent, {"messages": [("user", "Refund A-17")]}, config, wake)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ..faults import LanternError
from ..wake.answers import Pending as Undecided
from ..wake.answers import TimedOut
from ..wake.client import Wake
from .asking import answer_to
from .call import HeldCall, fitting, key_of
from .review import Refuse, Run, Verdict, review

_DAY_SECONDS = 86_400


def answer_interrupts(
    graph: Any, config: Mapping[str, Any], wake: Wake, *, wait: bool = True, timeout_seconds: int = _DAY_SECONDS
) -> Any:
    """The ``Command`` with which a paused thread goes on, or None: it is not paused, or (with ``wait=False``) a person
    has not decided yet. Made again for the same thread, it asks nothing twice.

    ``resume = answer_interrupts(agent, config, wake, wait=False)``
    """
    from langgraph.types import Command

    thread_id = _thread(config)
    answers: dict[str, Any] = {}
    paused = _paused(graph, config)
    looks = {"wait": False, "timeout_seconds": timeout_seconds}
    if wait:
        # All are asked before the first is waited for: the person sees them together.
        for one, earlier in paused:
            _answer([thread_id, one.id], one.value, earlier, wake, looks)
    for one, earlier in paused:
        answers[one.id] = _answer([thread_id, one.id], one.value, earlier, wake, {**looks, "wait": wait})
    if not paused or any(answer is None for answer in answers.values()):
        return None
    return Command(resume=answers)


def run_with_person(graph: Any, given: Any, config: Mapping[str, Any], wake: Wake, **options: Any) -> Any:
    """Runs a graph to its end and stays with it. With None as the input it goes on with a thread that was left paused,
    for example by a crash.

    ``result = run_with_person(agent, {"messages": [("user", "Refund A-17")]}, config, wake)``
    """
    following = given
    # A node that died after it was answered still looks as if it waited: it continues first.
    if given is None and not any(earlier for _, earlier in _paused(graph, config)):
        following = answer_interrupts(graph, config, wake, **options)
    while True:
        result = graph.invoke(following, config)
        following = answer_interrupts(graph, config, wake, **options)
        if following is None:
            return result


def ask_person(**draft: Any) -> dict[str, Any]:
    """Inside a node: pauses the graph with a question and returns ``{"status", "may_proceed", …}`` when it is resumed.
    The node runs again from its start then, so put what must not happen twice into a node of its own.

    ``answer = ask_person(type="question", headline="Draft is ready", summary="May I send it?")``
    """
    from langgraph.types import interrupt

    answer: dict[str, Any] = interrupt({"lanternroom": "question", "draft": draft})
    return answer


def _paused(graph: Any, config: Mapping[str, Any]) -> list[tuple[Any, int]]:
    """Each interrupt that waits, and how many answers its node has used already. LangGraph 1.0 gives all interrupts of
    a node the same id, also where the node asks the same again because it did not like the answer."""
    root = graph.get_state(config, subgraphs=True)
    return [(one, _answers_before(graph, root, one.id)) for task in root.tasks for one in task.interrupts]


def _answers_before(graph: Any, level: Any, name: str) -> int:
    """Counted in the checkpoint, so that it outlives a crash."""

    def holder(state: Any) -> Any:
        return next((task for task in state.tasks if any(one.id == name for one in task.interrupts)), None)

    task = holder(level)
    while hasattr(getattr(task, "state", None), "tasks"):
        level = task.state
        task = holder(level)
    saver: Any = getattr(graph, "checkpointer", None)
    saved = saver.get_tuple(level.config) if task is not None and hasattr(saver, "get_tuple") else None
    writes = (saved.pending_writes or []) if saved is not None else []
    return max((len(value) for of, channel, value in writes if of == task.id and channel == "__resume__"), default=0)


def _answer(name: Sequence[str], value: Any, earlier: int, wake: Wake, looks: Mapping[str, Any]) -> Any:
    if isinstance(value, dict) and value.get("type") == "tool_approval":
        call = HeldCall(name, value["name"], value["args"], value.get("description"), name[0])
        return _decision(call, review("langgraph", call, wake, **looks), None)
    if isinstance(value, dict) and isinstance(value.get("action_requests"), list):
        return _answer_batch(name, value, wake, looks)
    # A node asks about a call once. A plain question may be repeated by the same node, and each answer is for one of them.
    question = f"{name[1]}:{earlier}" if earlier else name[1]
    return answer_question([name[0], question], value, wake, looks)


def _answer_batch(of: Sequence[str], value: Mapping[str, Any], wake: Wake, looks: Mapping[str, Any]) -> Any:
    configs: Sequence[Mapping[str, Any]] = value["review_configs"]
    decisions = []
    for index, action in enumerate(value["action_requests"]):
        allowed = configs[index]["allowed_decisions"]
        if "approve" not in allowed or "reject" not in allowed:
            raise LanternError(
                "wrong_usage",
                f'HumanInTheLoopMiddleware must allow "approve" and "reject" for {action["name"]}: '
                "a person can say both.",
            )
        name = [*of, str(index)]
        call = HeldCall(name, action["name"], action["args"], action.get("description"), of[0])
        decisions.append(_decision(call, review("langgraph", call, wake, **looks), allowed))
    return None if None in decisions else {"decisions": decisions}


def _decision(call: HeldCall, verdict: Verdict, allowed: Sequence[str] | None) -> dict[str, Any] | None:
    if isinstance(verdict, Refuse):
        return {"type": "reject", "message": verdict.message}
    if not isinstance(verdict, Run):
        return None
    if not verdict.edited:
        return {"type": "approve"}
    if allowed is not None and "edit" not in allowed:
        return {"type": "reject", "message": f"Not run: this agent takes no edits. Call it again like this: {verdict.note}"}
    return {"type": "edit", "edited_action": {"name": call.tool, "args": verdict.args}}


def answer_question(name: Sequence[str], given: Any, wake: Wake, looks: Mapping[str, Any]) -> dict[str, Any] | None:
    value = plain(given)
    key = key_of("langgraph", HeldCall(name, "", {"value": value}))
    ids = {"thread_id": fitting(name[0]), "interrupt_id": fitting(name[1])}
    draft = {"timeout_seconds": looks["timeout_seconds"], **ids, **_draft(value)}
    answer = answer_to(wake, key, draft, looks["wait"])
    if isinstance(answer, Undecided) and answer.timed_out_at is None:
        return None
    late = isinstance(answer, (Undecided, TimedOut))
    return {"status": "timed_out", "may_proceed": False} if late else asdict(answer)


def _draft(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and value.get("lanternroom") == "question":
        return dict(value["draft"])
    return {
        "type": "question",
        "headline": "A paused graph asks how to go on",
        "summary": "It interrupted itself with what is below; the answer goes back to it.",
        "details": value if isinstance(value, dict) else {"asked": value},
    }


def plain(value: Any) -> Any:
    """As JSON. An interrupt may hold whatever a checkpoint can, such as messages and dates.

    >>> plain({"when": date(2026, 3, 8), 7: (1, {2})})
    {'when': '2026-03-08', '7': [1, [2]]}
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(inner) for inner in value), key=repr)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, (date, time, timedelta, Decimal, UUID, PurePath)):
        return str(value)
    raise LanternError(
        "wrong_usage",
        f"The graph interrupted itself with a {type(value).__name__}, which nobody can be shown: hand over plain values.",
    )


def _thread(config: Mapping[str, Any]) -> str:
    thread_id = config.get("configurable", {}).get("thread_id")
    if isinstance(thread_id, str) and thread_id:
        return thread_id
    raise LanternError(
        "wrong_usage",
        'Give the thread to answer as config["configurable"]["thread_id"]: it tells one question from another.',
    )

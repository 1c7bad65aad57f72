"""Pydantic AI: python examples/pydantic_ai_refund.py, then decide on the desk."""

import asyncio
import os
import sys
import uuid
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from lanternroom import Wake
from lanternroom.adapters.pydantic_ai import run_with_person


def scripted(messages: Any, _: Any) -> ModelResponse:
    """A model name goes in place of this; it is scripted, so that the example runs without a key."""
    results = [part.content for one in messages for part in one.parts if part.part_kind == "tool-return"]
    if results:
        return ModelResponse([TextPart(f"The tool said: {results}")])
    return ModelResponse([ToolCallPart("refund", {"order": "A-17", "amount": 40}, "call_1")])


agent = Agent(FunctionModel(scripted), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def refund(order: str, amount: int) -> str:
    """Pays money back to a customer."""
    return f"Refunded {amount} for {order}."


url = os.environ.get("LANTERN_URL", "http://127.0.0.1:8787")
wake = Wake(url, os.environ["WAKE_API_KEY"], provider="pydantic-ai")
print(f"Waiting for a person: decide at {url}.", file=sys.stderr)
run_id = os.environ.get("RUN_ID", str(uuid.uuid4()))
print(asyncio.run(run_with_person(agent, "Refund order A-17.", wake, run_id=run_id)).output)

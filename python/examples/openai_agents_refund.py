"""The OpenAI Agents SDK: python examples/openai_agents_refund.py, then decide on the desk."""

import asyncio
import os
import sys
import uuid
from typing import Any

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from lanternroom import Wake
from lanternroom.adapters.openai_agents import run_with_person

set_tracing_disabled(True)


@function_tool(needs_approval=True)
def refund(order: str, amount: int) -> str:
    """Pays money back to a customer."""
    return f"Refunded {amount} for {order}."


class Scripted(Model):
    """A model name goes here; this one is scripted, so that the example runs without a key."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        results = [one["output"] for one in input if one.get("type") == "function_call_output"]
        call = ResponseFunctionToolCall(
            type="function_call",
            call_id="call_1",
            name="refund",
            arguments='{"order": "A-17", "amount": 40}',
            status="completed",
        )
        text = ResponseOutputText(type="output_text", text=f"The tool said: {results}", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said if results else call], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


url = os.environ.get("LANTERN_URL", "http://127.0.0.1:8787")
wake = Wake(url, os.environ["WAKE_API_KEY"], provider="openai")
print(f"Waiting for a person: decide at {url}.", file=sys.stderr)
agent = Agent(name="clerk", model=Scripted(), tools=[refund])
run_id = os.environ.get("RUN_ID", str(uuid.uuid4()))
print(asyncio.run(run_with_person(agent, "Refund order A-17.", wake, run_id=run_id)).final_output)

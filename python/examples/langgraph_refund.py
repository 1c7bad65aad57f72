"""LangChain and LangGraph: python examples/langgraph_refund.py, then decide on the desk."""

import os
import sys
import uuid
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from lanternroom import Wake
from lanternroom.adapters.langgraph import run_with_person


@tool
def refund(order: str, amount: int) -> str:
    """Pays money back to a customer."""
    return f"Refunded {amount} for {order}."


class Scripted(GenericFakeChatModel):
    """Any chat model goes here; this one is scripted, so that the example runs without a key."""

    def bind_tools(self, *_: Any, **__: Any) -> "Scripted":
        return self


call = {"name": "refund", "args": {"order": "A-17", "amount": 40}, "id": "call_1"}
model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("That is all.")]))
agent = create_agent(
    model,
    tools=[refund],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"refund": True}, interrupt_mode="per_call")],
    checkpointer=InMemorySaver(),  # a durable one, in production
)
url = os.environ.get("LANTERN_URL", "http://127.0.0.1:8787")
wake = Wake(url, os.environ["WAKE_API_KEY"], provider="langgraph")
print(f"Waiting for a person: decide at {url}.", file=sys.stderr)
config = {"configurable": {"thread_id": os.environ.get("THREAD_ID", str(uuid.uuid4()))}}
result = run_with_person(agent, {"messages": [("user", "Refund order A-17.")]}, config, wake)
for message in result["messages"]:
    if message.content:
        print(f"{message.type}: {message.content}")

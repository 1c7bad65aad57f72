"""A person decides on the tool calls of an agent, in the frameworks' own way of pausing.

``lanternroom.adapters.langgraph``, ``.openai_agents``, ``.pydantic_ai`` and ``.google_adk``. Importing them needs nothing; using one
needs its framework.
"""

from .call import HeldCall
from .review import Pending, Refuse, Run, Verdict, review

__all__ = ["HeldCall", "Pending", "Refuse", "Run", "Verdict", "review"]

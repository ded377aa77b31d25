"""A graph that remembers what was said to it, in whatever run that was."""

import os
import uuid
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from ctxd import Client
from ctxd.langgraph import CtxdStore

NAMESPACE = ("users", "ana")


class State(TypedDict):
    said: str
    known: list[str]


def recall(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    assert runtime.store
    items = runtime.store.search(NAMESPACE, query=state["said"], limit=3)
    return {"known": [item.value["text"] for item in items]}


def remember(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    assert runtime.store
    runtime.store.put(NAMESPACE, str(uuid.uuid4()), {"text": state["said"]})
    return {}


client = Client(os.environ["CTXD_KEY"], url=os.environ.get("CTXD_URL", "http://127.0.0.1:7733"))
builder = StateGraph(State).add_node("recall", recall).add_node("remember", remember)
graph = builder.add_edge(START, "recall").add_edge("recall", "remember").compile(store=CtxdStore(client))

graph.invoke({"said": "I am allergic to peanuts.", "known": []})
print(graph.invoke({"said": "What am I allergic to?", "known": []})["known"])

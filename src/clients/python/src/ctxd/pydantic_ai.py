"""Memories as tools for agents of Pydantic AI."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from pydantic import Field
from pydantic_ai import FunctionToolset, ModelRetry, Tool

from .async_client import AsyncClient
from .errors import CtxdError
from .types import MemoryChanges, MemoryFields, SearchOptions

Entry = dict[str, Any]

#: Longest content that a search shows whole. Of a longer one it shows the matched passage.
_MAX_SHOWN = 2_000

_Id = Annotated[str, Field(description="Id of the memory, such as mem_0197f2…")]
_Tags = Annotated[list[str] | None, Field(description="Labels")]
_Importance = Annotated[
    float | None, Field(ge=0, le=1, description="0 to 1, default 0.5; higher fades slower")
]


def memory_toolset(
    client: AsyncClient,
    *,
    read_only: bool = False,
    agent_id: str | None = None,
    session_id: str | None = None,
) -> FunctionToolset[Any]:
    """The tools that read and write memories.

    With `read_only`, nothing is saved, changed or deleted. `agent_id` and `session_id` are those of saved
    memories; memories of other agents are found too.
    """
    origin = _given(agent_id=agent_id, session_id=session_id)

    async def search_memories(
        query: Annotated[str, Field(description="A question or a subject")],
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
        tags: Annotated[list[str] | None, Field(description="Only memories with one of these labels")] = None,
    ) -> Entry:
        """Find what is known, by meaning, before answering, saving or deleting. Ask in natural language."""
        options: SearchOptions = {"limit": limit, "known": True}
        if tags:
            options["tags"] = tags
        found = await client.search(query, **options)
        if not found:
            return {"memories": [], "note": "Nothing is known about that."}
        return {"memories": [_found(memory) for memory in found]}

    async def get_memory(id: _Id) -> Entry:
        """Read one memory in full, such as one that was cut."""
        return _whole(await client.get(id))

    async def save_memory(
        content: Annotated[
            str, Field(description="One fact, understandable on its own: names, dates, reasons")
        ],
        tags: _Tags = None,
        importance: _Importance = None,
        supersedes: Annotated[str | None, Field(description="Id of the memory that was true before")] = None,
    ) -> Entry:
        """Remember what will matter in later conversations: a preference, a decision and its reason, a fact about people or projects, a correction. Do so unasked. One fact per call, no secrets. If a known fact has changed, give its id in supersedes."""
        fields: MemoryFields = {**origin, **_given(tags=tags, importance=importance, supersedes=supersedes)}  # type: ignore[typeddict-item]
        saved = await client.save(content, **fields)
        return {"id": saved["id"], "saved": True}

    async def update_memory(
        id: _Id,
        content: Annotated[str | None, Field(description="The whole new text")] = None,
        tags: _Tags = None,
        importance: _Importance = None,
    ) -> Entry:
        """Correct a memory that was wrong or incomplete. For a fact that has changed, use save_memory with supersedes. Omitted fields stay."""
        changes: MemoryChanges = {**_given(content=content, tags=tags, importance=importance)}  # type: ignore[typeddict-item]
        await client.update(id, **changes)
        return {"id": id, "updated": True}

    async def delete_memory(id: _Id) -> Entry:
        """Delete a memory permanently, when the user asks to. Search first for all that is meant."""
        await client.delete(id)
        return {"id": id, "deleted": True}

    reading: list[Callable[..., Awaitable[Entry]]] = [search_memories, get_memory]
    writing: list[Callable[..., Awaitable[Entry]]] = [save_memory, update_memory, delete_memory]
    tools = reading if read_only else reading + writing
    return FunctionToolset([Tool(_retryable(tool), takes_ctx=False) for tool in tools], id="ctxd")


def _retryable(tool: Callable[..., Awaitable[Entry]]) -> Callable[..., Awaitable[Entry]]:
    """Reports errors that the model can correct as ModelRetry. Other errors are raised as they are."""

    @functools.wraps(tool)
    async def run(*given: Any, **named: Any) -> Entry:
        try:
            return await tool(*given, **named)
        except CtxdError as error:
            if error.status not in (404, 409, 413, 422):
                raise
            details = [f"{detail['path']} {detail['message']}" for detail in error.details]
            raise ModelRetry(" ".join([error.message, *details])) from error

    return run


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _found(memory: Mapping[str, Any]) -> Entry:
    entry = _whole(memory)
    if len(memory["content"]) <= _MAX_SHOWN:
        return entry
    return {**entry, "content": memory["matched"]["text"], "cut": True}


def _whole(memory: Mapping[str, Any]) -> Entry:
    entry = {name: memory[name] for name in ("id", "content", "created_at")}
    return {**entry, **{name: memory[name] for name in ("tags", "project") if memory[name]}}

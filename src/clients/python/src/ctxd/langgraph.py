"""A LangGraph store whose items are memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ._named import NamedMemories, NamedContent
from .client import Client

Namespace = tuple[str, ...]

#: Fields that may become the text: the first one that a value has.
_TEXT_FIELDS = ("content", "text", "memory", "data")
#: Bytes of `metadata` as JSON.
_MAX_METADATA_BYTES = 4_096
#: Search results to which a filter is applied.
_MAX_RANKED = 100
_MAX_THREADS = 8
_ROOT = "langgraph"


class CtxdStore(BaseStore):
    """A LangGraph store whose items are memories.

    Other agents find the items, users see them in the dashboard, and searches by meaning need no embedding
    model of your own. The text of a value (`content`, `text`, `memory` or `data`, or the first field of
    `index`) becomes the memory's text. A value without text is stored as JSON.

    A search with `query` and a filter considers the best 100 items. A search without `query` returns the
    newest items first. All items can be searched: `index=False` has no effect.
    """

    __slots__ = ("_items",)

    def __init__(self, client: Client) -> None:
        self._items = NamedMemories(client)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        # Reads of a batch see the state before its writes. Of two writes to an item, the last one wins.
        writes = {_name_of(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        for op in writes.values():
            if not op.namespace:
                raise InvalidNamespaceError("Namespace cannot be empty.")
        results = _at_once(self._read, ops)
        _at_once(self._write, list(writes.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, ops)

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            memory = self._items.find(_name_of(op.namespace, op.key))
            return memory and _to_item(memory)
        if isinstance(op, SearchOp):
            return list(self._search(op))
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        return None

    def _write(self, op: PutOp) -> None:
        name = _name_of(op.namespace, op.key)
        if op.value is None:
            self._items.delete(name)
        else:
            groups = [_group_of(op.namespace[:depth]) for depth in range(len(op.namespace) + 1)]
            self._items.put(name, groups, _to_content(op, op.value))

    def _search(self, op: SearchOp) -> Iterable[SearchItem]:
        group = _group_of(op.namespace_prefix)
        end = op.offset + op.limit
        memories: Iterable[Mapping[str, Any]]
        if op.query:
            memories = self._items.search(group, op.query, _MAX_RANKED if op.filter else end)
        else:
            memories = self._items.list(group)
        items = (item for memory in memories if (item := _to_item(memory)))
        return islice((item for item in items if _passes(item.value, op.filter or {})), op.offset, end)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found: set[Namespace] = set()
        for memory in self._items.list(_ROOT):
            item = _to_item(memory)
            if item and all(_matches(condition, item.namespace) for condition in conditions):
                found.add(item.namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _group_of(namespace: Namespace) -> str:
    """The group of a namespace. Encoding the labels keeps groups and names unique."""
    labels = [
        label.replace("%", "%25").replace(":", "%3A").replace(".", "%2E") for label in map(str, namespace)
    ]
    return f"{_ROOT}:{'.'.join(labels)}" if labels else _ROOT


def _name_of(namespace: Namespace, key: str) -> str:
    return f"{_group_of(namespace)}:{key}"


def _to_content(op: PutOp, value: dict[str, Any]) -> NamedContent:
    """Puts the item into `metadata.langgraph`, without the field that becomes the memory's text."""
    kept: dict[str, Any] = {"namespace": list(op.namespace), "key": op.key}
    for field in (*(op.index or ()), *_TEXT_FIELDS):
        text = value.get(field)
        if isinstance(text, str) and text.strip():
            rest = {name: each for name, each in value.items() if name != field}
            metadata = {_ROOT: {**kept, "field": field, "value": rest}}
            if len(_json(metadata).encode()) <= _MAX_METADATA_BYTES:
                return NamedContent(content=text, metadata=metadata)
            break
    return NamedContent(content=_json(value), metadata={_ROOT: kept})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _to_item(memory: Mapping[str, Any]) -> SearchItem | None:
    """None for a memory that is no item of a store."""
    kept = memory["metadata"].get(_ROOT)
    if not isinstance(kept, dict) or not isinstance(kept.get("namespace"), list) or "key" not in kept:
        return None
    content, field = memory["content"], kept.get("field")
    return SearchItem(
        namespace=tuple(kept["namespace"]),
        key=kept["key"],
        value=_parse(content) if field is None else {**kept.get("value", {}), field: content},
        created_at=_moment(memory["created_at"]),
        updated_at=_moment(memory["updated_at"]),
        score=memory.get("score"),
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _parse(text: str) -> dict[str, Any]:
    """A user may have changed the text in the dashboard, so that it is no JSON object any more."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"content": text}


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: bool(value > wanted),
    "$gte": lambda value, wanted: bool(value >= wanted),
    "$lt": lambda value, wanted: bool(value < wanted),
    "$lte": lambda value, wanted: bool(value <= wanted),
}


def _passes(value: object, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_compare(name, value, operand) for name, operand in wanted.items())
    return isinstance(value, dict) and all(_passes(value.get(name), each) for name, each in wanted.items())


def _compare(operator: str, value: object, operand: object) -> bool:
    compare = _OPERATORS.get(operator)
    if compare is None:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return compare(value, operand)
    except TypeError:
        # Values of different types can't be compared.
        return False


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    end = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(label in ("*", own) for label, own in zip(path, end))


def _at_once(work: Callable[[Any], Any], all: list[Any]) -> list[Any]:
    """Processes items in threads, a few at a time."""
    if len(all) < 2:
        return [work(each) for each in all]
    with ThreadPoolExecutor(min(_MAX_THREADS, len(all))) as threads:
        return list(threads.map(work, all))

"""Memories with unique names. A name is a tag that no other memory has."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Generator, Sequence
from typing import Any, Dict, List, Optional, TypedDict

from .client import Client
from .errors import CtxdError
from .types import FoundMemory, Memory

_MAX_TAG = 64
_MAX_PAGE = 100


class NamedContent(TypedDict):
    """The content of a named memory."""

    content: str
    metadata: Dict[str, Any]


class NamedMemories:
    """Named memories of a client's project; without a project, of all memories that its key reaches.

    The TypeScript package uses the same names and tags, so both can use the same store.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, name: str) -> Optional[Memory]:
        page = self._client.list_page(tags=[_tag(name)], project_only=self._is_placed, limit=1)
        return next(iter(page["memories"]), None)

    def list(self, group: str) -> Generator[Memory, None, None]:
        """The memories of a group, newest first."""
        return self._client.list(tags=[_tag(group)], project_only=self._is_placed)

    def search(self, group: str, question: str, limit: int) -> List[FoundMemory]:
        """The best matches in a group, at most 100."""
        return self._client.search(
            question, tags=[_tag(group)], project_only=self._is_placed, limit=min(limit, _MAX_PAGE)
        )

    def put(self, name: str, groups: Sequence[str], value: NamedContent) -> None:
        """Creates or changes the memory with a name. Of two calls at the same time, the later one wins.

        `groups` are the groups of the memory, at most 31.
        """
        tags = [_tag(each) for each in (name, *groups)]
        if self._change(name, tags, value) or self._create_once(name, tags, value):
            return
        if not self._change(name, tags, value):
            self._client.save_all([{"content": value["content"], "metadata": value["metadata"], "tags": tags}])

    def delete(self, name: str) -> None:
        self._client.delete_where(tags=[_tag(name)])

    @property
    def _is_placed(self) -> bool:
        # Memories without a project do not belong to the client's project.
        return self._client.project is not None

    def _change(self, name: str, tags: Sequence[str], value: NamedContent) -> bool:
        """Returns False if there is no such memory."""
        found = self.find(name)
        if found is None:
            return False
        try:
            self._client.update(found["id"], content=value["content"], metadata=value["metadata"], tags=tags)
        except CtxdError as error:
            if error.code == "memory_not_found":
                return False
            raise
        return True

    def _create_once(self, name: str, tags: Sequence[str], value: NamedContent) -> bool:
        """Returns False if another memory has the name, or had it within the last day."""
        # A batch, because a single save would return an existing memory with the same text. With the key,
        # programs that create the same name at the same time create one memory.
        key = _digest(f"ctxd name {self._client.project or ''} {name}")
        try:
            saved = self._client.save_all(
                [{"content": value["content"], "metadata": value["metadata"], "tags": tags}],
                idempotency_key=key,
            )
        except CtxdError as error:
            if error.code in ("validation_failed", "conflict"):
                return False
            raise
        # The memory may have been renamed since. A key that may not read receives no tags.
        return any(tags[0] in memory.get("tags", tags) for memory in saved)


def _tag(name: str) -> str:
    """A name as a tag. A name that is no valid tag is replaced by its hash."""
    is_tag = len(name) <= _MAX_TAG and name == name.strip() and "," not in name
    if is_tag and not any(unicodedata.category(character)[0] == "C" for character in name):
        return name
    return "#" + _digest(name)[: _MAX_TAG - 1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

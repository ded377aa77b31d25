"""Memories under names: tags of their own, which no other memory has."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Generator, Sequence
from typing import Any, Dict, List, Optional, TypedDict

from .client import Client
from .errors import CtxdError
from .types import FoundMemory, Memory

_LONGEST_TAG = 64
_LARGEST_PAGE = 100


class Said(TypedDict):
    """What a memory under a name says."""

    content: str
    metadata: Dict[str, Any]


class NamedMemories:
    """Keeps names in a client's project; without one, in all that its key reaches.

    The TypeScript package keeps them just so: a store of one is that of the other.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def find(self, name: str) -> Optional[Memory]:
        page = self._client.list_page(tags=[_tag(name)], project_only=self._is_placed, limit=1)
        return next(iter(page["memories"]), None)

    def list(self, group: str) -> Generator[Memory, None, None]:
        """Those of a group, the newest first."""
        return self._client.list(tags=[_tag(group)], project_only=self._is_placed)

    def search(self, group: str, question: str, limit: int) -> List[FoundMemory]:
        """The best of a group for a question: at most 100."""
        return self._client.search(
            question, tags=[_tag(group)], project_only=self._is_placed, limit=min(limit, _LARGEST_PAGE)
        )

    def put(self, name: str, groups: Sequence[str], said: Said) -> None:
        """Creates it, or changes the one that is there. Of two at once, the later one holds.

        `groups` are what it is to be found in: at most 31.
        """
        tags = [_tag(each) for each in (name, *groups)]
        if self._change(name, tags, said) or self._create_once(name, tags, said):
            return
        if not self._change(name, tags, said):
            self._client.save_all([{"content": said["content"], "metadata": said["metadata"], "tags": tags}])

    def delete(self, name: str) -> None:
        self._client.delete_where(tags=[_tag(name)])

    @property
    def _is_placed(self) -> bool:
        # What belongs to no project is of no project's program.
        return self._client.project is not None

    def _change(self, name: str, tags: Sequence[str], said: Said) -> bool:
        """Returns False where there is none."""
        found = self.find(name)
        if found is None:
            return False
        try:
            self._client.update(found["id"], content=said["content"], metadata=said["metadata"], tags=tags)
        except CtxdError as error:
            if error.code == "memory_not_found":
                return False
            raise
        return True

    def _create_once(self, name: str, tags: Sequence[str], said: Said) -> bool:
        """Returns False where another memory has the name already, or had it within a day."""
        # A batch, since what says the same as another memory is not saved once more by itself. The key
        # makes one memory of what several programs put under a new name at the same moment.
        key = _digest(f"ctxd name {self._client.project or ''} {name}")
        try:
            saved = self._client.save_all(
                [{"content": said["content"], "metadata": said["metadata"], "tags": tags}],
                idempotency_key=key,
            )
        except CtxdError as error:
            if error.code in ("validation_failed", "conflict"):
                return False
            raise
        # It may have been renamed since. Who may not read is told no tags.
        return any(tags[0] in memory.get("tags", tags) for memory in saved)


def _tag(name: str) -> str:
    """A name as a tag; one that none can be is replaced by what follows from it."""
    is_tag = len(name) <= _LONGEST_TAG and name == name.strip() and "," not in name
    if is_tag and not any(unicodedata.category(character)[0] == "C" for character in name):
        return name
    return "#" + _digest(name)[: _LONGEST_TAG - 1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

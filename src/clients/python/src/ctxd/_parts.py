"""What is imported, as requests of some hundred lines."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from typing import Any, List, Optional, Union, cast

from ._json import to_json
from .types import ImportedMemory, ImportReport, Memory

#: Memories, or what an export wrote: a JSON object a line, in pieces of any size.
Item = Union[Memory, ImportedMemory, bytes, str]

#: What can be imported: a text, a file that is open or its path, a list, or what a generator makes.
ImportSource = Union[str, bytes, "os.PathLike[str]", Iterable[Item]]
AsyncImportSource = Union[ImportSource, AsyncIterable[Item]]

#: Lines and bytes of one request. It takes seconds, passes any proxy, and can be sent again.
_PART_LINES = 256
_PART_BYTES = 256 << 10
#: Bytes of a part that must not be cut: see `_is_tied`.
_LONGEST_PART = 8 << 20
#: Longer lines are no memories; the server says so of what is left of them.
_LONGEST_LINE = (1 << 20) + 1
#: Lines that a report names.
_NAMED = 1_000


class Parts:
    """Makes parts of what comes in pieces. Holds one part at a time."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._lines: List[bytes] = []
        self._bytes = 0

    def add(self, item: Item) -> Iterator[List[bytes]]:
        """Gives the parts that are full."""
        if isinstance(item, Mapping):
            piece = to_json(item) + b"\n"
        elif isinstance(item, str):
            piece = item.encode()
        else:
            piece = bytes(memoryview(item))
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            self._hold(piece, start, end)
            yield from self._end_line()
            start = end + 1
        self._hold(piece, start, len(piece))

    def end(self) -> Iterator[List[bytes]]:
        if self._held:
            yield from self._end_line()
        if self._lines:
            yield self._lines

    def _hold(self, piece: bytes, start: int, end: int) -> None:
        self._held += piece[start : min(end, start + _LONGEST_LINE - len(self._held))]

    def _end_line(self) -> Iterator[List[bytes]]:
        line = bytes(self._held)
        self._held.clear()
        is_full = len(self._lines) >= _PART_LINES or self._bytes + len(line) > _PART_BYTES
        if self._lines and is_full and (self._bytes > _LONGEST_PART or not _is_tied(self._lines[-1], line)):
            yield self._lines
            self._lines, self._bytes = [], 0
        self._lines.append(line)
        self._bytes += len(line)


class Report:
    """Adds up what became of the parts."""

    def __init__(self) -> None:
        self.total = ImportReport(created=0, updated=0, unchanged=0, kept=0, invalid=0, masked=0, skipped=[])
        self._lines = 0

    def add(self, part: ImportReport, lines: int) -> None:
        total = cast("dict[str, Any]", self.total)
        for name, count in part.items():
            if isinstance(count, int):
                total[name] = total.get(name, 0) + count
        for skipped in part["skipped"][: _NAMED - len(self.total["skipped"])]:
            self.total["skipped"].append({**skipped, "line": self._lines + skipped["line"]})
        self._lines += lines


def items_of(source: ImportSource) -> Iterator[Item]:
    if isinstance(source, (str, bytes)):
        yield source
    elif isinstance(source, os.PathLike):
        with open(source, "rb") as file:
            yield from iter(lambda: file.read(_PART_BYTES), b"")
    elif isinstance(source, Mapping):
        raise TypeError("Give memories to import as a list, or as another iterable.")
    else:
        yield from source


def _is_tied(one: bytes, other: bytes) -> bool:
    """Whether two lines are turns of one session at the same time, without ids.

    The server keeps the order of such within a request.
    """
    tie = _tie_of(one)
    return tie is not None and tie == _tie_of(other)


def _tie_of(line: bytes) -> Optional[str]:
    try:
        memory = json.loads(line)
        return None if "id" in memory else f"{memory['session_id']} {memory['created_at']}"
    except (ValueError, LookupError, TypeError):
        return None

"""Splits an import into requests of a few hundred lines."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from typing import Any, List, Optional, Union, cast

from ._json import to_json
from .types import ImportedMemory, ImportReport, Memory

#: A memory, or a piece of an export of any size: one JSON object per line.
Item = Union[Memory, ImportedMemory, bytes, str]

#: Sources of an import: a text, an open file or its path, a list or a generator.
ImportSource = Union[str, bytes, "os.PathLike[str]", Iterable[Item]]
AsyncImportSource = Union[ImportSource, AsyncIterable[Item]]

#: Lines and bytes of one request: small enough to take seconds, to pass proxies and to be repeated.
_PART_LINES = 256
_PART_BYTES = 256 << 10
#: Bytes of a part that must not be split: see `_is_tied`.
_MAX_TIED_PART = 8 << 20
#: Longer lines are no memories. They are cut, and the server reports them as invalid.
_MAX_LINE = (1 << 20) + 1
#: Lines that a report lists.
_MAX_LISTED = 1_000


class Parts:
    """Splits a source that arrives in pieces into parts. Holds one part at a time."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._lines: List[bytes] = []
        self._bytes = 0

    def add(self, item: Item) -> Iterator[List[bytes]]:
        """Yields the parts that are complete."""
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
        self._held += piece[start : min(end, start + _MAX_LINE - len(self._held))]

    def _end_line(self) -> Iterator[List[bytes]]:
        line = bytes(self._held)
        self._held.clear()
        is_full = len(self._lines) >= _PART_LINES or self._bytes + len(line) > _PART_BYTES
        if self._lines and is_full and (self._bytes > _MAX_TIED_PART or not _is_tied(self._lines[-1], line)):
            yield self._lines
            self._lines, self._bytes = [], 0
        self._lines.append(line)
        self._bytes += len(line)


class Report:
    """Adds up the reports of the parts."""

    def __init__(self) -> None:
        self.total = ImportReport(created=0, updated=0, unchanged=0, kept=0, invalid=0, masked=0, skipped=[])
        self._lines = 0

    def add(self, part: ImportReport, lines: int) -> None:
        total = cast("dict[str, Any]", self.total)
        for name, count in part.items():
            if isinstance(count, int):
                total[name] = total.get(name, 0) + count
        for skipped in part["skipped"][: _MAX_LISTED - len(self.total["skipped"])]:
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
    """Whether two lines are turns of one session with the same time and without ids.

    The server keeps their order only within one request.
    """
    tie = _tie_of(one)
    return tie is not None and tie == _tie_of(other)


def _tie_of(line: bytes) -> Optional[str]:
    try:
        memory = json.loads(line)
        return None if "id" in memory else f"{memory['session_id']} {memory['created_at']}"
    except (ValueError, LookupError, TypeError):
        return None

"""JSON and query strings for the server."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Optional
from urllib.parse import urlencode


class Answer(dict):  # type: ignore[type-arg]
    """A response of the server with its ETag."""

    __slots__ = ("etag",)
    etag: Optional[str]


def to_json(value: object) -> bytes:
    return json.dumps(value, default=_of_time, allow_nan=False, separators=(",", ":")).encode()


def to_query(parameters: Mapping[str, Any]) -> str:
    """The query string of parameters. Parameters that are None or empty lists are omitted."""
    pairs = [(name, _text(value)) for name, value in parameters.items() if not _is_absent(value)]
    return "?" + urlencode(pairs) if pairs else ""


def check_deletion(parameters: Mapping[str, Any]) -> None:
    """Checks the filter of a deletion.

    Raises TypeError for an empty filter, or one with an empty field: the field would be omitted, and more
    memories deleted than intended.
    """
    if not any(name != "space" for name in parameters):
        raise TypeError("An empty filter matches all memories. Say what to delete.")
    for name, value in parameters.items():
        if (_is_absent(value) and name != "project") or value == "":
            raise TypeError(f"{name} is empty and would be ignored. Omit it or give it a value.")
        if isinstance(value, Iterator):
            raise TypeError(f"{name} must be a list.")


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, Collection) and not isinstance(value, str) and not value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, datetime):
        return _of_time(value)
    texts = list(value)
    if any("," in text for text in texts):
        raise ValueError("A tag must have no comma.")
    return ",".join(texts)


def _of_time(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} can't be written as JSON.")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds")[:-6] + "Z"

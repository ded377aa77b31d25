"""JSON and queries as the server reads them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Optional
from urllib.parse import urlencode


class Answer(dict):  # type: ignore[type-arg]
    """What the server answered, with its ETag beside its fields."""

    __slots__ = ("etag",)
    etag: Optional[str]


def to_json(value: object) -> bytes:
    return json.dumps(value, default=_of_time, allow_nan=False, separators=(",", ":")).encode()


def to_query(parameters: Mapping[str, Any]) -> str:
    """Parameters as the server reads them. What is None or an empty list is left out."""
    pairs = [(name, _text(value)) for name, value in parameters.items() if not _is_absent(value)]
    return "?" + urlencode(pairs) if pairs else ""


def check_deletion(parameters: Mapping[str, Any]) -> None:
    """Refuses a filter of what to delete that is wider than it looks.

    Raises TypeError for one that is empty, or has an empty field, which would be left out.
    """
    if not parameters:
        raise TypeError("Name what to delete: an empty filter means all.")
    for name, value in parameters.items():
        if (_is_absent(value) and name != "project") or value == "":
            raise TypeError(f"{name} is empty: leave it out, or more would be deleted.")
        if isinstance(value, Iterator):
            raise TypeError(f"{name} is to be a list.")


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
        raise ValueError("A label has a comma: none has, and it would be read as two.")
    return ",".join(texts)


def _of_time(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} is no JSON.")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds")[:-6] + "Z"

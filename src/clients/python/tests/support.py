"""What the tests share. `test/clients/python.test.ts` starts the server that they speak to."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping

from ctxd import NewMemory

URL = os.environ["CTXD_URL"]
_keys = os.environ["CTXD_KEYS"].split(",")


def new_key() -> str:
    """That of an account which has no memories yet."""
    return _keys.pop()


def contents(memories: Iterable[Mapping[str, Any]]) -> List[str]:
    return [memory["content"] for memory in memories]


def many(count: int) -> List[NewMemory]:
    return [{"content": f"fact {number}"} for number in range(count)]

"""What goes wrong."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, List, Optional, TypedDict


class ErrorDetail(TypedDict):
    """What is wrong with one field; `path` is a JSON pointer such as `/tags/3`."""

    path: str
    message: str


class CtxdError(Exception):
    """What went wrong. Its message is a sentence that says what to do.

    `code` is that of the server, such as `memory_not_found`, `validation_failed` or `rate_limited`, or:

    - `network`: the server can't be reached, or its answer broke off
    - `timeout`: it did not answer in time
    - `redirected`: it is at another address
    - `unexpected_answer`: something answered that is not ctxd
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        details: Optional[List[ErrorDetail]] = None,
        retry_after: Optional[float] = None,
        id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: Of the HTTP answer; 0 where there was none.
        self.status = status
        #: Which fields break a rule; empty unless the server names some.
        self.details: List[ErrorDetail] = details or []
        #: Seconds after which the same call may succeed, where the server says so.
        self.retry_after = retry_after
        #: With `internal`: the error's name in the server's log.
        self.id = id


def error_of(status: int, retry_after: Optional[str], body: bytes) -> CtxdError:
    """The error that an answer without success stands for."""
    if 300 <= status < 400:
        message = "The server is at another address: give that one as `url`."
        return CtxdError("redirected", message, status=status)
    seconds = _seconds_of(retry_after)
    try:
        said: Any = json.loads(body)["error"]
        code, message = said["code"], said["message"]
    except (ValueError, LookupError, TypeError):
        return unexpected_answer(status, seconds)
    return CtxdError(
        str(code),
        str(message),
        status=status,
        details=said.get("details"),
        retry_after=seconds,
        id=said.get("id"),
    )


def unexpected_answer(status: int, retry_after: Optional[float] = None) -> CtxdError:
    message = f"What answers with {status} is not ctxd: is `url` its address?"
    return CtxdError("unexpected_answer", message, status=status, retry_after=retry_after)


def broke_off() -> CtxdError:
    return CtxdError("network", "The server's answer broke off.")


def _seconds_of(retry_after: Optional[str]) -> Optional[float]:
    """`Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None

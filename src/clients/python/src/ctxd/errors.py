"""Errors of the client."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, List, Optional, TypedDict


class ErrorDetail(TypedDict):
    """The problem with one field. `path` is a JSON pointer such as `/tags/3`."""

    path: str
    message: str


class CtxdError(Exception):
    """A failed call. The message is a sentence that says what to do.

    `code` is the server's error code, such as `memory_not_found`, `validation_failed` or `rate_limited`, or:

    - `network`: the server can't be reached, or its response was cut off
    - `timeout`: the server did not answer in time
    - `redirected`: the server is at another address
    - `unexpected_answer`: the response did not come from a ctxd server
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
        #: Status of the HTTP response; 0 without a response.
        self.status = status
        #: The invalid fields, if the server names any.
        self.details: List[ErrorDetail] = details or []
        #: Seconds after which the same call may succeed, if the server gives a time.
        self.retry_after = retry_after
        #: For the code `internal`: the id of the error in the server's log.
        self.id = id


def error_of(status: int, retry_after: Optional[str], body: bytes) -> CtxdError:
    """The error of an unsuccessful response."""
    if 300 <= status < 400:
        message = "The server is at another address. Set `url` to that address."
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
    message = f"The response with status {status} is not from a ctxd server. Check `url`."
    return CtxdError("unexpected_answer", message, status=status, retry_after=retry_after)


def cut_off() -> CtxdError:
    return CtxdError("network", "The server's response was cut off.")


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

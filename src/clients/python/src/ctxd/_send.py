"""Requests, repeated when that may help."""

from __future__ import annotations

import json
import random
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Callable, Optional, TypeVar
from urllib.parse import quote

from . import _cancellation
from ._connections import Connections, Response
from ._json import Answer
from .errors import CtxdError, error_of, unexpected_answer

Result = TypeVar("Result")

#: Seconds before the first repetition when the server gives no time. The wait doubles each time.
_FIRST_WAIT = 0.5
_MAX_WAIT = 8.0
#: The longest `Retry-After` to wait for, in seconds. With a longer one the call fails.
_MAX_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class Call:
    method: str
    #: Below `/api`, with its query.
    path: str
    body: Optional[bytes] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether the request may be repeated when its outcome is unknown. Other requests are repeated only
    #: when the server refused them unread.
    is_repeatable: bool = False


class Sender:
    def __init__(
        self,
        url: str,
        key: str,
        *,
        space: Optional[str],
        retries: int,
        timeout: float,
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        # The error of http.client would contain the key.
        if not (key.isascii() and key.isprintable()):
            raise ValueError("key has characters that are not allowed in a key.")
        self._connections = Connections(url, timeout, ssl_context)
        self._headers = {"authorization": f"Bearer {key}"}
        if space is not None:
            self._headers["ctxd-space"] = quote(space, safe="")
        self._retries = retries
        self._timeout = timeout

    def close(self) -> None:
        self._connections.close()

    def send(self, call: Call, read: Callable[[Response], Result]) -> Result:
        """Raises CtxdError."""
        repetition = 0
        while True:
            try:
                return self._attempt(call, read)
            except CtxdError as error:
                wait = _wait_after(error, call, repetition) if repetition < self._retries else None
                if wait is None:
                    raise
            _sleep(wait)
            repetition += 1

    def _attempt(self, call: Call, read: Callable[[Response], Result]) -> Result:
        headers = {**self._headers, **call.headers}
        with self.failures():
            response = self._connections.request(call.method, call.path, call.body, headers)
            if not 200 <= response.status < 300:
                body = response.read()
                raise error_of(response.status, response.header("retry-after"), body)
            return read(response)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turns errors of a connection into CtxdError."""
        try:
            yield
        except (OSError, HTTPException) as error:
            cancellation = _cancellation.current.get()
            if cancellation is not None:
                cancellation.sleep(0)
            if isinstance(error, socket.timeout):
                message = f"The server did not answer within {self._timeout:g} s."
                raise CtxdError("timeout", message) from error
            message = f"The server at {self._connections.origin} can't be reached, or its response was cut off."
            raise CtxdError("network", message) from error


def read_json(response: Response) -> Any:
    """Parses a successful response. The caller knows its type from the server's OpenAPI document."""
    body = response.read()
    try:
        said = json.loads(body)
    except ValueError:
        raise unexpected_answer(response.status) from None
    if not isinstance(said, dict):
        raise unexpected_answer(response.status)
    answer = Answer(said)
    answer.etag = response.header("etag")
    return answer


def _wait_after(error: CtxdError, call: Call, repetition: int) -> Optional[float]:
    """Seconds to wait before a repetition; None when a repetition is useless or unsafe."""
    is_passing = error.code in ("network", "timeout") or error.status in (502, 503, 504)
    # With status 429 the server has done nothing, so every request may be repeated.
    if error.status != 429 and not (call.is_repeatable and is_passing):
        return None
    # Spreads the repetitions of several clients.
    jitter = random.random()
    if error.retry_after is None:
        return min(_MAX_WAIT, _FIRST_WAIT * (1 << repetition)) * (0.5 + jitter / 2)
    return None if error.retry_after > _MAX_RETRY_AFTER else error.retry_after + jitter * _FIRST_WAIT


def _sleep(seconds: float) -> None:
    cancellation = _cancellation.current.get()
    if cancellation is None:
        time.sleep(seconds)
    else:
        cancellation.sleep(seconds)

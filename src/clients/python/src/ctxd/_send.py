"""Requests, sent again where that may help."""

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

from . import _cancellation
from ._connections import Connections, Response
from ._json import Answer
from .errors import CtxdError, error_of, unexpected_answer

Result = TypeVar("Result")

#: Seconds before the first repetition, without the server's word; each one after waits twice as long.
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0
#: What the server asks to be waited for: an error says longer times to the program.
_LONGEST_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class Call:
    method: str
    #: Below `/api`, with its query.
    path: str
    body: Optional[bytes] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether the same request may be sent again when it is not known what became of it. Otherwise it
    #: is only when the server refused it unread.
    is_repeatable: bool = False


class Sender:
    def __init__(
        self, url: str, key: str, *, retries: int, timeout: float, ssl_context: Optional[ssl.SSLContext]
    ) -> None:
        # http.client would put such a key into its error.
        if not (key.isascii() and key.isprintable()):
            raise ValueError("key has characters that no key has.")
        self._connections = Connections(url, timeout, ssl_context)
        self._key = key
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
        headers = {"authorization": f"Bearer {self._key}", **call.headers}
        with self.failures():
            response = self._connections.request(call.method, call.path, call.body, headers)
            if not 200 <= response.status < 300:
                body = response.read()
                raise error_of(response.status, response.header("retry-after"), body)
            return read(response)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Says in our words what goes wrong with a connection."""
        try:
            yield
        except (OSError, HTTPException) as error:
            cancellation = _cancellation.current.get()
            if cancellation is not None:
                cancellation.sleep(0)
            if isinstance(error, socket.timeout):
                message = f"The server did not answer within {self._timeout:g} s."
                raise CtxdError("timeout", message) from error
            message = f"The server at {self._connections.origin} can't be reached, or its answer broke off."
            raise CtxdError("network", message) from error


def read_json(response: Response) -> Any:
    """What a successful answer says. The caller knows its shape by the server's document."""
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
    """Seconds after which to send again; None when that is of no use, or not safe."""
    is_passing = error.code in ("network", "timeout") or error.status in (502, 503, 504)
    # Who sends too much is refused before anything is done.
    if error.status != 429 and not (call.is_repeatable and is_passing):
        return None
    # Not all at the same moment.
    jitter = random.random()
    if error.retry_after is None:
        return min(_LONGEST_WAIT, _FIRST_WAIT * (1 << repetition)) * (0.5 + jitter / 2)
    return None if error.retry_after > _LONGEST_RETRY_AFTER else error.retry_after + jitter * _FIRST_WAIT


def _sleep(seconds: float) -> None:
    cancellation = _cancellation.current.get()
    if cancellation is None:
        time.sleep(seconds)
    else:
        cancellation.sleep(seconds)

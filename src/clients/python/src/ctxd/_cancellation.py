"""How a call that runs in a thread is ended from outside."""

from __future__ import annotations

import socket
import threading
from contextvars import ContextVar
from http.client import HTTPConnection
from typing import Optional


class Cancelled(Exception):
    """Whoever made the call does not wait for it any more."""


class Cancellation:
    """Ends a call: what it waits for ends at once, and it is not sent again."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._connection: Optional[HTTPConnection] = None

    def cancel(self) -> None:
        self._event.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                # To close it would not wake up who reads.
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def watch(self, connection: Optional[HTTPConnection]) -> None:
        self._connection = connection
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        """Raises Cancelled."""
        if self._event.wait(seconds):
            raise Cancelled


#: That of the call which the current thread makes.
current: ContextVar[Optional[Cancellation]] = ContextVar("ctxd_cancellation", default=None)

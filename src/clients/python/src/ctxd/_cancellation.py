"""How a call that runs in a thread is ended from outside."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from contextvars import ContextVar
from typing import Optional


class Cancelled(Exception):
    """Whoever made the call does not wait for it any more."""


class Cancellation:
    """Ends a call: what it waits for ends at once, and it is not sent again."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            if self._socket is not None:
                # To close it would not wake up who reads.
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def watch(self, sock: socket.socket) -> None:
        """What is waited for comes from here. Raises Cancelled."""
        with self._lock:
            self._socket = sock
        self.sleep(0)

    def unwatch(self) -> None:
        """From now on, others may use it."""
        with self._lock:
            self._socket = None

    def sleep(self, seconds: float) -> None:
        """Raises Cancelled."""
        if self._event.wait(seconds):
            raise Cancelled


#: That of the call which the current thread makes.
current: ContextVar[Optional[Cancellation]] = ContextVar("ctxd_cancellation", default=None)

"""Cancels a call that runs in another thread."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from contextvars import ContextVar
from typing import Optional


class Cancelled(Exception):
    """The call was cancelled by its caller."""


class Cancellation:
    """Cancels a call: its wait ends at once, and it is not repeated."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            if self._socket is not None:
                # Closing the socket would not wake up a thread that reads from it.
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def watch(self, sock: socket.socket) -> None:
        """Sets the socket from which the call reads. Raises Cancelled."""
        with self._lock:
            self._socket = sock
        self.sleep(0)

    def unwatch(self) -> None:
        """Releases the socket, which another call may use next."""
        with self._lock:
            self._socket = None

    def sleep(self, seconds: float) -> None:
        """Raises Cancelled."""
        if self._event.wait(seconds):
            raise Cancelled


#: The cancellation of the current thread's call.
current: ContextVar[Optional[Cancellation]] = ContextVar("ctxd_cancellation", default=None)

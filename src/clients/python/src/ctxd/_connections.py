"""Connections to one server, reused while they are open."""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import List, Optional, Tuple, cast
from urllib.parse import urlsplit

from . import _cancellation
from .errors import cut_off

#: Seconds. The server closes connections that are idle for 30 s.
_MAX_IDLE_SECONDS = 10
_MAX_IDLE = 16
_PIECE = 64 << 10


class Response:
    """A response whose body is not yet read. The caller reads it to its end, or releases it."""

    def __init__(
        self,
        connections: Connections,
        connection: HTTPConnection,
        sock: socket.socket,
        response: HTTPResponse,
    ) -> None:
        self._connections = connections
        self._connection: Optional[HTTPConnection] = connection
        self._socket = sock
        self._response = response
        self._is_over = False
        self.status = response.status

    def header(self, name: str) -> Optional[str]:
        return self._response.getheader(name)

    def read(self) -> bytes:
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Raises CtxdError, OSError or HTTPException when the response is cut off."""
        try:
            while piece := self._next():
                yield piece
            # http.client does not report a body that is shorter than its Content-Length.
            if self._response.length:
                raise cut_off()
            self._is_over = not self._response.will_close
        finally:
            self.release()

    def _next(self) -> bytes:
        # Each piece may be read by another call.
        _watch(self._socket)
        return self._response.read1(_PIECE)

    def release(self) -> None:
        """Returns the connection for reuse. Closes it if the body was not read to its end."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._response.close()
        if self._is_over:
            cancellation = _cancellation.current.get()
            if cancellation is not None:
                cancellation.unwatch()
            self._connections.keep(connection)
        else:
            connection.close()


class Connections:
    """Connections that several threads may use at once. Each request has a connection of its own."""

    def __init__(self, url: str, timeout: float, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url must begin with http:// or https://.")
        self._is_secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._timeout = timeout
        self._context = context
        self._lock = threading.Lock()
        self._idle: List[Tuple[float, HTTPConnection]] = []
        self.base = parts.path.rstrip("/") + "/api"
        self.origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def request(self, method: str, path: str, body: Optional[bytes], headers: Mapping[str, str]) -> Response:
        """Raises OSError or HTTPException."""
        connection = self._take() or self._open()
        try:
            if connection.sock is None:
                connection.connect()
            # A response that ends the connection clears this attribute.
            sock = cast(socket.socket, connection.sock)
            _watch(sock)
            # The server may answer before it has read the whole request.
            with suppress(BrokenPipeError):
                connection.request(method, self.base + path, body, dict(headers))
            return Response(self, connection, sock, connection.getresponse())
        except BaseException:
            connection.close()
            raise

    def keep(self, connection: HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _MAX_IDLE:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _take(self) -> Optional[HTTPConnection]:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            if time.monotonic() - since < _MAX_IDLE_SECONDS and not _has_ended(connection):
                return connection
            connection.close()

    def _open(self) -> HTTPConnection:
        if not self._is_secure:
            return HTTPConnection(self._host, self._port, timeout=self._timeout)
        if self._context is None:
            self._context = ssl.create_default_context()
        return HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)


def _watch(sock: socket.socket) -> None:
    cancellation = _cancellation.current.get()
    if cancellation is not None:
        cancellation.watch(sock)


def _has_ended(connection: HTTPConnection) -> bool:
    """Whether the server has closed an idle connection. Only then is there something to read."""
    if connection.sock is None:
        return True
    try:
        return bool(select.select([connection.sock], [], [], 0)[0])
    except (OSError, ValueError):
        # select fails for file descriptors above 1,023. A new connection always works.
        return True

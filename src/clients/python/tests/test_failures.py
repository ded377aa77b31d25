"""What the client makes of servers that fail."""

from __future__ import annotations

import contextvars
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple
from unittest import mock

from ctxd import Client, CtxdError, _cancellation

#: Status, headers, body; a body of None breaks the connection.
Scripted = Tuple[int, Dict[str, str], Optional[bytes]]

PAGE: Scripted = (200, {}, b'{"memories":[],"next_cursor":null}')
DELETED: Scripted = (200, {}, b'{"id":"mem_1","deleted":true}')
BUSY: Scripted = (503, {"retry-after": "0"}, b'{"error":{"code":"unavailable","message":"Busy."}}')
BROKEN: Scripted = (0, {}, None)


class FailuresTest(unittest.TestCase):
    def setUp(self) -> None:
        self.requests: List[Tuple[str, str, Dict[str, str]]] = []
        self.waits: List[float] = []
        waiting = mock.patch("time.sleep", self.waits.append)
        waiting.start()
        self.addCleanup(waiting.stop)

    def serve(self, *script: Scripted, **options: Any) -> Client:
        """A client of a server that answers so, one after the other."""
        answers = list(script)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                requests.append((self.command, self.path, headers))
                status, named, body = answers.pop(0)
                if body is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                if "transfer-encoding" not in named:
                    named = {"content-length": str(len(body)), **named}
                for name, value in named.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if named.get("content-length") != str(len(body)):
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = do

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        client = Client("ctx_1", url=f"http://127.0.0.1:{server.server_port}/base/", **options)
        for clean in (server.server_close, thread.join, server.shutdown, client.close):
            self.addCleanup(clean)
        return client

    def error_of(self, call: Callable[..., Any], *given: Any, **named: Any) -> CtxdError:
        with self.assertRaises(CtxdError) as caught:
            call(*given, **named)
        return caught.exception

    def test_what_is_safe_is_sent_again_and_a_save_with_the_same_key(self) -> None:
        client = self.serve(BUSY, BROKEN, PAGE)
        client.save("a fact")
        keys = {headers["idempotency-key"] for _, _, headers in self.requests}
        self.assertEqual((len(self.requests), len(keys)), (3, 1))
        self.assertEqual(self.requests[0][:2], ("POST", "/base/api/memories"))
        self.assertTrue(0 <= self.waits[0] < 1 and 0.5 <= self.waits[1] <= 1, self.waits)

    def test_gives_up_after_so_many(self) -> None:
        client = self.serve(*[BUSY] * 3, retries=2)
        error = self.error_of(client.stats)
        self.assertEqual((error.code, error.status, error.retry_after), ("unavailable", 503, 0.0))
        self.assertEqual(len(self.requests), 3)

    def test_a_change_is_sent_again_only_if_it_was_refused_unread(self) -> None:
        limited = (429, {"retry-after": "7"}, b'{"error":{"code":"rate_limited","message":"Slower."}}')
        client = self.serve(limited, DELETED, BUSY, BROKEN)
        client.delete("mem_1")
        self.assertTrue(7 <= self.waits[0] <= 7.5, self.waits)
        self.assertEqual(self.error_of(client.delete, "mem_1").code, "unavailable")
        self.assertEqual(self.error_of(client.update, "mem_1", pinned=True).code, "network")
        self.assertEqual(len(self.requests), 4)

    def test_a_long_wait_is_left_to_the_program(self) -> None:
        late = (429, {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, BUSY[2])
        self.assertGreater(self.error_of(self.serve(late).stats).retry_after or 0, 1e9)

    def test_says_what_answers_that_is_not_ctxd(self) -> None:
        moved = (301, {"location": "https://example.com/"}, b"")
        client = self.serve(moved, (200, {}, b"<html>"), (200, {}, b"[]"), (404, {}, b"{}"))
        codes = [self.error_of(client.stats).code for _ in range(4)]
        self.assertEqual(codes, ["redirected", *["unexpected_answer"] * 3])

    def test_an_answer_that_breaks_off_is_an_error(self) -> None:
        line = b'{"id":"mem_1"}\n'
        short: Scripted = (200, {"content-length": str(len(line) + 1)}, line)
        chunk = b"%x\r\n%s\r\n" % (len(line), line)
        client = self.serve(
            *(short, short),
            (200, {}, line + b'{"id":'),
            (200, {"transfer-encoding": "chunked"}, chunk + b"9\r\n{"),
            retries=0,
        )
        self.assertEqual(self.error_of(client.stats).code, "network")
        for _ in range(3):
            stream = client.export()
            self.assertEqual(next(stream)["id"], "mem_1")
            self.assertEqual(self.error_of(next, stream).code, "network")

    def test_waits_no_longer_than_its_timeout(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            client = Client("ctx_1", url=f"http://127.0.0.1:{port}", timeout=0.05, retries=1)
            error = self.error_of(client.stats)
        self.assertEqual((error.code, error.status), ("timeout", 0))
        self.assertIn("0.05 s", error.message)

    def test_nobody_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        error = self.error_of(Client("ctx_1", url=f"http://127.0.0.1:{port}", retries=0).stats)
        self.assertEqual(error.code, "network")
        self.assertNotIn("ctx_1", str(error))

    def test_an_idle_connection_that_has_ended_is_not_used(self) -> None:
        closing = (200, {"connection": "close"}, PAGE[2])
        client = self.serve(PAGE, closing, PAGE, DELETED)
        for _ in range(3):
            client.list_page()
        client.delete("mem_1")
        self.assertEqual(self.waits, [])

    def test_to_cancel_what_is_over_ends_nothing(self) -> None:
        client = self.serve(PAGE, PAGE)
        connections = client._sender._connections
        cancellation = _cancellation.Cancellation()
        context = contextvars.copy_context()
        context.run(_cancellation.current.set, cancellation)
        context.run(client.list_page)
        [(_, connection)] = connections._idle
        cancellation.cancel()
        client.list_page()
        self.assertIs(connections._idle[0][1], connection)

    def test_refuses_what_can_be_no_address_and_no_key(self) -> None:
        for url in ("ftp://127.0.0.1", "127.0.0.1:7733", "http://"):
            with self.assertRaises(ValueError):
                Client("ctx_1", url=url)
        with self.assertRaises(ValueError) as caught:
            Client("ctx_1\n")
        self.assertNotIn("ctx_1", str(caught.exception))

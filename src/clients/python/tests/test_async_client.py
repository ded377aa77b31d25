from __future__ import annotations

import asyncio
import unittest
from typing import Any, AsyncIterator

from ctxd import AsyncClient, CtxdError, ImportedMemory

from .support import URL, contents, many, new_key


class AsyncClientTest(unittest.IsolatedAsyncioTestCase):
    def new_client(self, **options: Any) -> AsyncClient:
        client = AsyncClient(new_key(), url=URL, **options)
        self.addAsyncCleanup(client.close)
        return client

    async def test_saves_finds_changes_and_deletes_a_memory(self) -> None:
        client = self.new_client()
        saved = await client.save("Sam is allergic to peanuts", tags=["food"])
        [found] = await client.search("peanuts", tags=["food"])
        self.assertEqual(found["id"], saved["id"])
        changed = await client.update(saved["id"], importance=0.9, if_match=await client.get(saved["id"]))
        self.assertEqual(changed["importance"], 0.9)
        self.assertEqual(contents(await client.history(saved["id"])), [saved["content"]])
        self.assertEqual(await client.history(saved["id"], as_of="2001-01-01"), [])
        self.assertEqual((await client.stats())["memories"], 1)
        self.assertEqual((await client.about("peanuts"))["memories"][0]["id"], saved["id"])
        self.assertEqual((await client.forget([saved["id"]]))["deleted"], 1)
        with self.assertRaises(CtxdError) as caught:
            await client.get(saved["id"])
        self.assertEqual(caught.exception.code, "memory_not_found")

    async def test_lists_exports_and_imports_as_the_loop_needs_it(self) -> None:
        client, other = self.new_client(), self.new_client()
        await client.save_all(many(520))
        self.assertEqual([each["content"] async for each in client.list()], contents(many(520))[::-1])
        self.assertEqual(len((await client.list_page(limit=2))["memories"]), 2)
        self.assertEqual((await other.import_(client.export()))["created"], 520)
        self.assertEqual((await other.import_([{"content": "of a list"}]))["created"], 1)

        async def made() -> AsyncIterator[ImportedMemory]:
            for number in range(300):
                yield {"content": f"made {number}"}

        self.assertEqual((await other.import_(made()))["created"], 300)
        stream = client.export()
        self.assertEqual((await stream.__anext__())["content"], "fact 0")
        await stream.aclose()
        self.assertEqual(await client.delete_where(created_before="2100-01-01T00:00:00Z"), 520)

    async def test_many_calls_at_once(self) -> None:
        client = self.new_client()
        await asyncio.gather(*(client.save(content) for content in contents(many(40))))
        self.assertEqual((await client.stats())["memories"], 40)

    async def test_a_call_that_is_cancelled_ends_its_connection(self) -> None:
        asked, ended = asyncio.Event(), asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            if b"/export" in request:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"id":"mem_1"}\n')
            else:
                asked.set()
            await reader.read()
            writer.close()
            ended.set()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        client = AsyncClient("ctx_1", url=f"http://{host}:{port}", timeout=600)

        async def export() -> None:
            async for memory in client.export():
                self.assertEqual(memory["id"], "mem_1")
                asked.set()

        for call in (client.stats(), client.list().__anext__(), export()):
            asked.clear()
            ended.clear()
            task = asyncio.ensure_future(call)
            await asked.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await ended.wait()
        await client.close()
        server.close()

"""The client for asyncio programs."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Type, TypeVar, Union

from . import _cancellation
from ._parts import AsyncImportSource, Parts, Report
from .client import Client
from .types import (
    DeletionFilter,
    ExportOptions,
    FoundAbout,
    FoundMemory,
    ImportReport,
    ListOptions,
    Memory,
    MemoryChanges,
    MemoryFields,
    NewMemory,
    Page,
    PageOptions,
    Receipt,
    SavedMemory,
    SearchOptions,
    Stats,
    TidyChoice,
    TidyOptions,
    TidyOutcome,
    TidyReport,
    Time,
)

if TYPE_CHECKING:
    import ssl

    from typing_extensions import Self, Unpack

Result = TypeVar("Result")

#: Calls that a client makes at the same time. Further calls wait.
_MAX_THREADS = 16


class AsyncClient:
    """The same calls as `Client`, as coroutines for asyncio programs.

    The calls run in threads, since Python's standard library has no asynchronous HTTP client. A cancelled
    call closes its connection at once. Whether the server has carried it out is then unknown.
    """

    def __init__(
        self,
        key: str,
        *,
        url: str = "http://127.0.0.1:7733",
        project: Optional[str] = None,
        space: Optional[str] = None,
        retries: int = 4,
        timeout: float = 60.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """See `Client`."""
        self._client = Client(
            key,
            url=url,
            project=project,
            space=space,
            retries=retries,
            timeout=timeout,
            ssl_context=ssl_context,
        )
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="ctxd")

    @property
    def project(self) -> Optional[str]:
        return self._client.project

    async def close(self) -> None:
        """Closes its connections and ends its threads."""
        self._threads.shutdown(wait=False)
        self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def save(
        self,
        content: str,
        *,
        similar: bool = False,
        idempotency_key: Optional[str] = None,
        space: Optional[str] = None,
        **fields: Unpack[MemoryFields],
    ) -> SavedMemory:
        """Saves a memory: see `Client.save`."""
        client = self._client
        return await self._run(
            lambda: client.save(
                content, similar=similar, idempotency_key=idempotency_key, space=space, **fields
            )
        )

    async def save_all(
        self,
        memories: Iterable[NewMemory],
        *,
        idempotency_key: Optional[str] = None,
        space: Optional[str] = None,
    ) -> List[SavedMemory]:
        """Saves memories in the given order: see `Client.save_all`."""
        return await self._run(
            lambda: self._client.save_all(memories, idempotency_key=idempotency_key, space=space)
        )

    async def search(self, query: str, **options: Unpack[SearchOptions]) -> List[FoundMemory]:
        """Finds memories by meaning, best match first."""
        return await self._run(lambda: self._client.search(query, **options))

    def list(self, **options: Unpack[ListOptions]) -> AsyncGenerator[Memory, None]:
        """All memories that match the filter, newest first. Pages are requested as the loop needs them."""
        return self._each(self._client._list_parts(options))

    async def list_page(self, **options: Unpack[PageOptions]) -> Page:
        """One page of the list. Its `next_cursor` is the `cursor` of the next page."""
        return await self._run(lambda: self._client.list_page(**options))

    async def get(self, id: str) -> Memory:
        """Raises CtxdError `memory_not_found`."""
        return await self._run(lambda: self._client.get(id))

    async def update(
        self,
        id: str,
        *,
        if_match: Union[Memory, SavedMemory, str, None] = None,
        **changes: Unpack[MemoryChanges],
    ) -> SavedMemory:
        """Changes a memory: see `Client.update`."""
        return await self._run(lambda: self._client.update(id, if_match=if_match, **changes))

    async def delete(self, id: str, *, history: bool = False) -> None:
        """Deletes a memory permanently: see `Client.delete`."""
        await self._run(lambda: self._client.delete(id, history=history))

    async def delete_where(self, **filter: Unpack[DeletionFilter]) -> int:
        """Permanently deletes all memories that match a filter: see `Client.delete_where`."""
        return await self._run(lambda: self._client.delete_where(**filter))

    async def history(self, id: str, *, as_of: Optional[Time] = None) -> List[Memory]:
        """The memory, all memories that it superseded, and all that superseded it, newest first."""
        return await self._run(lambda: self._client.history(id, as_of=as_of))

    async def stats(self, *, space: Optional[str] = None) -> Stats:
        """Counts by tag, agent, project and day."""
        return await self._run(lambda: self._client.stats(space=space))

    async def tidy(self, **options: Unpack[TidyOptions]) -> TidyReport:
        """A page of what could be tidied: see `Client.tidy`."""
        return await self._run(lambda: self._client.tidy(**options))

    async def apply_tidy(
        self, groups: List[TidyChoice], *, dry_run: bool = False, space: Optional[str] = None
    ) -> TidyOutcome:
        """Applies proposals of a report: see `Client.apply_tidy`."""
        return await self._run(lambda: self._client.apply_tidy(groups, dry_run=dry_run, space=space))

    async def undo_tidy(self, change: str, *, space: Optional[str] = None) -> None:
        """Undoes what `apply_tidy` is about to do: see `Client.undo_tidy`."""
        await self._run(lambda: self._client.undo_tidy(change, space=space))

    async def about(self, subject: str, *, space: Optional[str] = None) -> FoundAbout:
        """All memories about a person or a subject: see `Client.about`."""
        return await self._run(lambda: self._client.about(subject, space=space))

    async def forget(
        self,
        ids: Sequence[str],
        *,
        about: Optional[str] = None,
        wait: bool = False,
        space: Optional[str] = None,
    ) -> Receipt:
        """Deletes memories permanently, with a receipt: see `Client.forget`."""
        return await self._run(lambda: self._client.forget(ids, about=about, wait=wait, space=space))

    def export(self, **options: Unpack[ExportOptions]) -> AsyncGenerator[Memory, None]:
        """All memories that match the filter, oldest first, streamed: see `Client.export`."""
        return self._each(self._client._export_parts(options))

    async def import_(
        self, source: AsyncImportSource, *, dry_run: bool = False, space: Optional[str] = None
    ) -> ImportReport:
        """Imports memories, also from an asynchronous generator: see `Client.import_`."""
        if not isinstance(source, AsyncIterable):
            return await self._run(functools.partial(self._client.import_, source, dry_run=dry_run, space=space))
        parts, report = Parts(), Report()

        async def send(full: Iterable[List[bytes]]) -> None:
            for lines in full:
                done = await self._run(functools.partial(self._client._import_part, lines, dry_run, space))
                report.add(done, len(lines))

        async for item in source:
            await send(parts.add(item))
        await send(parts.end())
        return report.total

    def etag(self, memory: Mapping[str, Any]) -> Optional[str]:
        """The ETag of a memory that `get`, `save` or `update` returned; None for any other mapping."""
        return self._client.etag(memory)

    async def _run(self, work: Callable[[], Result]) -> Result:
        """Runs a call in a thread. Cancelling the task that awaits it cancels the call."""
        cancellation = _cancellation.Cancellation()
        context = contextvars.copy_context()
        context.run(_cancellation.current.set, cancellation)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, work)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    async def _each(self, parts: Generator[List[Memory], None, None]) -> AsyncGenerator[Memory, None]:
        try:
            while (part := await self._run(lambda: next(parts, None))) is not None:
                for memory in part:
                    yield memory
        finally:
            # A generator that still runs belongs to a cancelled call, which has closed its connection.
            with suppress(ValueError):
                parts.close()

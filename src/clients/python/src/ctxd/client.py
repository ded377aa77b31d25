"""The client for synchronous programs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Type, Union, cast
from urllib.parse import quote

from ._connections import Response
from ._json import Answer, check_deletion, to_json, to_query
from ._parts import ImportSource, Parts, Report, items_of
from ._send import Call, Sender, read_json
from .errors import CtxdError, cut_off
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

#: Most memories of a batch, and the bytes after which it takes no further one: the server accepts 8 MiB.
_BATCH_MEMORIES = 256
_BATCH_BYTES = 4 << 20
_LARGEST_PAGE = 100


class Client:
    """The memories of one account, or those that its key may reach.

    The client opens no connection before the first call. Several threads may use it at once. All calls raise
    CtxdError.
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
        """Creates a client for a ctxd server.

        `key` is an API key (`ctxd key create`), or an OAuth access token. `project` applies to all calls that
        name none: memories are saved to it, and searched, listed, exported and deleted in it. `project=None`
        in a call means no project when saving, and all projects otherwise. `space` is the name or id of the
        space of all calls that name none, or `personal`: by default a search finds what is in the person's
        spaces too, and other calls are about the person's own memories. `retries` is how often a call is
        repeated when the server is busy or can't be reached. `timeout` is the seconds to wait for a response
        or its next part.
        """
        self.project = project
        self._sender = Sender(
            url, key, space=space, retries=retries, timeout=timeout, ssl_context=ssl_context
        )

    def close(self) -> None:
        """Closes idle connections. The client can still be used."""
        self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def save(
        self,
        content: str,
        *,
        similar: bool = False,
        idempotency_key: Optional[str] = None,
        space: Optional[str] = None,
        **fields: Unpack[MemoryFields],
    ) -> SavedMemory:
        """Saves a memory. If a memory with exactly the same text exists, returns that one.

        A call may be repeated with the same `idempotency_key`. By default each call has a new key. With
        `similar`, the result also lists memories that say nearly the same.
        """
        path = "/memories" + to_query({"similar": True if similar else None, "space": space})
        return cast(SavedMemory, self._post(path, self._placed(fields, content=content), idempotency_key))

    def save_all(
        self,
        memories: Iterable[NewMemory],
        *,
        idempotency_key: Optional[str] = None,
        space: Optional[str] = None,
    ) -> List[SavedMemory]:
        """Saves memories in the given order, in batches of at most 256.

        Each batch is saved completely or not at all. After a failure, the same call with the same
        `idempotency_key` saves the missing ones.
        """
        key = idempotency_key or secrets.token_hex(16)
        saved: List[SavedMemory] = []
        for part in _batches_of(self._placed(memory) for memory in memories):
            body = {"memories": part}
            part_key = f"{key}.{len(saved)}" if saved else key
            saved += self._post("/memories/batch" + to_query({"space": space}), body, part_key)["memories"]
        return saved

    def search(self, query: str, **options: Unpack[SearchOptions]) -> List[FoundMemory]:
        """Finds memories by meaning, best match first."""
        path = "/memories/search" + to_query(self._placed(options, q=query))
        return cast(List[FoundMemory], self._get(path)["memories"])

    def list(self, **options: Unpack[ListOptions]) -> Generator[Memory, None, None]:
        """All memories that match the filter, newest first. Pages are requested as the loop needs them."""
        for part in self._list_parts(options):
            yield from part

    def list_page(self, **options: Unpack[PageOptions]) -> Page:
        """One page of the list. Its `next_cursor` is the `cursor` of the next page."""
        return cast(Page, self._get("/memories" + to_query(self._placed(options))))

    def get(self, id: str) -> Memory:
        """Raises CtxdError `memory_not_found`."""
        return cast(Memory, self._get(_path_of(id)))

    def update(
        self,
        id: str,
        *,
        if_match: Union[Memory, SavedMemory, str, None] = None,
        **changes: Unpack[MemoryChanges],
    ) -> SavedMemory:
        """Changes a memory. Omitted fields stay as they are.

        `if_match` is the memory that `get`, `save` or `update` returned, or its ETag: if the memory has
        changed since, raises CtxdError `precondition_failed`. Raises CtxdError `memory_not_found`.
        """
        etag = if_match if if_match is None or isinstance(if_match, str) else self.etag(if_match)
        if if_match is not None and not etag:
            raise TypeError("The ETag of this memory is unknown. Read the memory with get first.")
        headers = {"content-type": "application/json", **({"if-match": etag} if etag else {})}
        return cast(SavedMemory, self._ask(Call("PUT", _path_of(id), to_json(changes), headers)))

    def delete(self, id: str, *, history: bool = False) -> None:
        """Deletes a memory permanently.

        With `history`, also deletes the memories that it superseded and that superseded it.
        Raises CtxdError `memory_not_found`.
        """
        self._ask(Call("DELETE", _path_of(id) + (to_query({"history": True}) if history else "")))

    def delete_where(self, **filter: Unpack[DeletionFilter]) -> int:
        """Permanently deletes all memories that match a filter. With `project`, only those of that project.

        Returns the number of deleted memories. Raises TypeError for an empty filter, or one with an empty
        field.
        """
        check_deletion(filter)
        return int(self._ask(Call("DELETE", "/memories" + to_query(self._placed(filter))))["deleted"])

    def history(self, id: str, *, as_of: Optional[Time] = None) -> List[Memory]:
        """The memory, all memories that it superseded, and all that superseded it, newest first.

        With `as_of`, only those that were saved by then.
        """
        pages = self._pages(_path_of(id) + "/history", {"as_of": as_of})
        return [memory for page in pages for memory in page]

    def stats(self, *, space: Optional[str] = None) -> Stats:
        """Counts by tag, agent, project and day."""
        return cast(Stats, self._get("/stats" + to_query({"space": space})))

    def tidy(self, **options: Unpack[TidyOptions]) -> TidyReport:
        """A page of what could be tidied, with proposals."""
        return cast(TidyReport, self._get("/memories/tidy" + to_query(options)))

    def apply_tidy(
        self, groups: List[TidyChoice], *, dry_run: bool = False, space: Optional[str] = None
    ) -> TidyOutcome:
        """Applies proposals of a report in ten seconds, unless they are undone.

        Raises CtxdError `conflict` if a group has changed since the report.
        """
        body = to_json({"groups": groups, "dry_run": dry_run})
        path = "/memories/tidy" + to_query({"space": space})
        headers = {"content-type": "application/json"}
        return cast(TidyOutcome, self._ask(Call("POST", path, body, headers)))

    def undo_tidy(self, change: str, *, space: Optional[str] = None) -> None:
        """Undoes what `apply_tidy` is about to do. Raises CtxdError `conflict` if it is too late."""
        path = "/memories/tidy" + to_query({"undo": change, "space": space})
        self._ask(Call("DELETE", path))

    def about(self, subject: str, *, space: Optional[str] = None) -> FoundAbout:
        """All memories that name a person or a subject, and those that may be about it."""
        return cast(FoundAbout, self._get("/memories/about" + to_query({"q": subject, "space": space})))

    def forget(
        self,
        ids: Sequence[str],
        *,
        about: Optional[str] = None,
        wait: bool = False,
        space: Optional[str] = None,
    ) -> Receipt:
        """Deletes memories permanently, at most 1,000 at once. Ids that no memory has are ignored.

        `about` is written on the receipt. With `wait`, returns when the data has left the server's files,
        some 20 seconds later.
        """
        body = to_json({"ids": list(ids), **({} if about is None else {"about": about})})
        path = "/memories/forget" + to_query({"wait": wait, "space": space})
        return cast(Receipt, self._ask(Call("POST", path, body, {"content-type": "application/json"})))

    def export(self, **options: Unpack[ExportOptions]) -> Generator[Memory, None, None]:
        """All memories that match the filter, oldest first, streamed in one response.

        Leaving the loop early cancels the request. Raises CtxdError `network` when the response is cut off.
        """
        for part in self._export_parts(options):
            yield from part

    def import_(
        self, source: ImportSource, *, dry_run: bool = False, space: Optional[str] = None
    ) -> ImportReport:
        """Imports memories with their ids and times, such as those of `export`; only `content` is required.

        The source is read while it is sent. Importing the same memory again changes nothing, so after a
        failure the same call continues. The client's project is not added. `dry_run` only reports what would
        be done.
        """
        parts, report = Parts(), Report()
        for item in items_of(source):
            for lines in parts.add(item):
                report.add(self._import_part(lines, dry_run, space), len(lines))
        for lines in parts.end():
            report.add(self._import_part(lines, dry_run, space), len(lines))
        return report.total

    def etag(self, memory: Mapping[str, Any]) -> Optional[str]:
        """The ETag of a memory that `get`, `save` or `update` returned; None for any other mapping."""
        return memory.etag if isinstance(memory, Answer) else None

    def _placed(self, fields: Mapping[str, Any], **first: str) -> Dict[str, Any]:
        """Fields with the client's project, unless they name one."""
        own = {} if self.project is None else {"project": self.project}
        return {**first, **own, **fields}

    def _ask(self, call: Call) -> Any:
        return self._sender.send(call, read_json)

    def _get(self, path: str) -> Any:
        return self._ask(Call("GET", path, is_repeatable=True))

    def _post(self, path: str, body: object, idempotency_key: Optional[str]) -> Any:
        headers = {
            "content-type": "application/json",
            "idempotency-key": idempotency_key or secrets.token_hex(16),
        }
        return self._ask(Call("POST", path, to_json(body), headers, is_repeatable=True))

    def _list_parts(self, options: ListOptions) -> Generator[List[Memory], None, None]:
        return self._pages("/memories", {**self._placed(options), "limit": _LARGEST_PAGE})

    def _pages(self, path: str, query: Dict[str, Any]) -> Generator[List[Memory], None, None]:
        cursor: Optional[str] = None
        while True:
            page = self._get(path + to_query({**query, "cursor": cursor}))
            yield page["memories"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _export_parts(self, options: ExportOptions) -> Generator[List[Memory], None, None]:
        call = Call("GET", "/memories/export" + to_query(self._placed(options)), is_repeatable=True)
        response: Response = self._sender.send(call, lambda response: response)
        rest = b""
        try:
            with self._sender.failures():
                for piece in response.pieces():
                    *lines, rest = (rest + piece).split(b"\n")
                    yield [_parse(line) for line in lines]
            if rest:
                raise cut_off()
        finally:
            response.release()

    def _import_part(self, lines: List[bytes], dry_run: bool, space: Optional[str]) -> ImportReport:
        path = "/memories/import" + to_query({"dry_run": dry_run, "space": space})
        headers = {"content-type": "application/x-ndjson"}
        call = Call("POST", path, b"\n".join(lines) + b"\n", headers, is_repeatable=True)
        return cast(ImportReport, self._ask(call))


def _batches_of(memories: Iterable[Dict[str, Any]]) -> Generator[List[Dict[str, Any]], None, None]:
    batch: List[Dict[str, Any]] = []
    size = 0
    for memory in memories:
        batch.append(memory)
        size += len(to_json(memory))
        if len(batch) == _BATCH_MEMORIES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _path_of(id: str) -> str:
    """Raises CtxdError `memory_not_found` for an id that could lead to another path."""
    if not id.startswith("mem_"):
        raise CtxdError("memory_not_found", "Ids of memories begin with mem_.", status=404)
    return "/memories/" + quote(id, safe="")


def _parse(line: bytes) -> Memory:
    try:
        return cast(Memory, json.loads(line))
    except ValueError:
        raise cut_off() from None

"""The client that waits for its answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Iterable, Mapping
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Type, Union, cast
from urllib.parse import quote

from ._connections import Response
from ._json import Answer, check_deletion, to_json, to_query
from ._parts import ImportSource, Parts, Report, items_of
from ._send import Call, Sender, read_json
from .errors import CtxdError, broke_off
from .types import (
    DeletionFilter,
    ExportOptions,
    FoundMemory,
    ImportReport,
    ListOptions,
    Memory,
    MemoryChanges,
    MemoryFields,
    NewMemory,
    Page,
    PageOptions,
    SavedMemory,
    SearchOptions,
    Stats,
)

if TYPE_CHECKING:
    import ssl

    from typing_extensions import Self, Unpack

_BATCH = 256
_LARGEST_PAGE = 100


class Client:
    """The memories of one account, or of what a key of it may reach.

    Opens nothing until it is asked for something, and may be used by several threads at once. All calls
    raise CtxdError.
    """

    def __init__(
        self,
        key: str,
        *,
        url: str = "http://127.0.0.1:7733",
        project: Optional[str] = None,
        retries: int = 4,
        timeout: float = 60.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """Speaks to a ctxd server as the holder of a key.

        `key` is an API key (`ctxd key create`), or an OAuth access token. `project` is what memories are
        saved to, and searched, listed, exported and deleted in, unless a call says otherwise: `project=None`
        in one stands for no project, or for all. `retries` is how often a call is sent again when the server
        is busy or can't be reached, `timeout` the seconds to wait for an answer or its next part, each time.
        """
        self.project = project
        self._sender = Sender(url, key, retries=retries, timeout=timeout, ssl_context=ssl_context)

    def close(self) -> None:
        """Closes the connections that are idle. The client can be used again."""
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
        **fields: Unpack[MemoryFields],
    ) -> SavedMemory:
        """Saves a memory. What says exactly the same already is returned as it is.

        A call is safe to repeat with the same `idempotency_key`; without one, it gets its own. `similar` has
        the answer name memories that say nearly the same.
        """
        path = "/memories" + (to_query({"similar": True}) if similar else "")
        return cast(SavedMemory, self._post(path, self._placed(fields, content=content), idempotency_key))

    def save_all(
        self, memories: Iterable[NewMemory], *, idempotency_key: Optional[str] = None
    ) -> List[SavedMemory]:
        """Saves memories in the order given, all or none of each 256.

        When it fails, the same call with the same `idempotency_key` saves what is missing.
        """
        key = idempotency_key or secrets.token_hex(16)
        saved: List[SavedMemory] = []
        remaining = iter(memories)
        while part := list(islice(remaining, _BATCH)):
            body = {"memories": [self._placed(memory) for memory in part]}
            part_key = f"{key}.{len(saved)}" if saved else key
            saved += self._post("/memories/batch", body, part_key)["memories"]
        return saved

    def search(self, query: str, **options: Unpack[SearchOptions]) -> List[FoundMemory]:
        """Finds memories by meaning, the best first."""
        path = "/memories/search" + to_query(self._placed(options, q=query))
        return cast(List[FoundMemory], self._get(path)["memories"])

    def list(self, **options: Unpack[ListOptions]) -> Generator[Memory, None, None]:
        """All memories that pass, the newest first. They are fetched as the loop needs them."""
        for part in self._list_parts(options):
            yield from part

    def list_page(self, **options: Unpack[PageOptions]) -> Page:
        """One page of them; its `next_cursor` is the `cursor` of the next one."""
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
        """Changes a memory. Fields that are left out stay as they are.

        `if_match` is the memory as `get`, `save` or `update` returned it, or its ETag: the change is refused
        with `precondition_failed` if it has changed since. Raises CtxdError `memory_not_found`.
        """
        etag = if_match if if_match is None or isinstance(if_match, str) else self.etag(if_match)
        if if_match is not None and not etag:
            raise TypeError("The ETag of this memory is not known: read it with get.")
        headers = {"content-type": "application/json", **({"if-match": etag} if etag else {})}
        return cast(SavedMemory, self._ask(Call("PUT", _path_of(id), to_json(changes), headers)))

    def delete(self, id: str, *, history: bool = False) -> None:
        """Deletes a memory for good; with `history`, what it superseded and what superseded it too.

        Raises CtxdError `memory_not_found`.
        """
        self._ask(Call("DELETE", _path_of(id) + (to_query({"history": True}) if history else "")))

    def delete_where(self, **filter: Unpack[DeletionFilter]) -> int:
        """Deletes all memories that pass a filter, for good. With `project`, that one alone.

        Returns how many there were. Raises TypeError for a filter that is empty, or has an empty field.
        """
        check_deletion(filter)
        return int(self._ask(Call("DELETE", "/memories" + to_query(self._placed(filter))))["deleted"])

    def history(self, id: str) -> List[Memory]:
        """What a memory superseded, and what superseded it, with itself; the newest first."""
        return [memory for page in self._pages(_path_of(id) + "/history", {}) for memory in page]

    def stats(self) -> Stats:
        """Counts by tag, agent, project and day."""
        return cast(Stats, self._get("/stats"))

    def export(self, **options: Unpack[ExportOptions]) -> Generator[Memory, None, None]:
        """All memories that pass, the oldest first, as a stream of one request.

        Who leaves the loop early ends it. Raises CtxdError `network` when the answer breaks off.
        """
        for part in self._export_parts(options):
            yield from part

    def import_(self, source: ImportSource, *, dry_run: bool = False) -> ImportReport:
        """Brings memories in, with their ids and times: those of `export`, or with no more than `content`.

        They are read as they are sent. To import the same twice changes nothing, so that after a failure the
        same call goes on. The client's project is not added to them. `dry_run` only tells what would be done.
        """
        parts, report = Parts(), Report()
        for item in items_of(source):
            for lines in parts.add(item):
                report.add(self._import_part(lines, dry_run), len(lines))
        for lines in parts.end():
            report.add(self._import_part(lines, dry_run), len(lines))
        return report.total

    def etag(self, memory: Mapping[str, Any]) -> Optional[str]:
        """The ETag of a memory that `get`, `save` or `update` returned; None of others."""
        return memory.etag if isinstance(memory, Answer) else None

    def _placed(self, fields: Mapping[str, Any], **first: str) -> Dict[str, Any]:
        """Fields with the client's project, where they name none."""
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
                raise broke_off()
        finally:
            response.release()

    def _import_part(self, lines: List[bytes], dry_run: bool) -> ImportReport:
        path = "/memories/import" + to_query({"dry_run": dry_run})
        headers = {"content-type": "application/x-ndjson"}
        call = Call("POST", path, b"\n".join(lines) + b"\n", headers, is_repeatable=True)
        return cast(ImportReport, self._ask(call))


def _path_of(id: str) -> str:
    """Raises CtxdError `memory_not_found` for what would be another path."""
    if not id.startswith("mem_"):
        raise CtxdError("memory_not_found", "Ids of memories begin with mem_.", status=404)
    return "/memories/" + quote(id, safe="")


def _parse(line: bytes) -> Memory:
    try:
        return cast(Memory, json.loads(line))
    except ValueError:
        raise broke_off() from None

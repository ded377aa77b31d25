"""The client for ctxd, a private long-term memory for AI agents."""

from .async_client import AsyncClient
from .client import Client
from .errors import CtxdError, ErrorDetail
from .types import (
    DeletionFilter,
    ExportOptions,
    FoundMemory,
    ImportedMemory,
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
    TidyChoice,
    TidyGroup,
    TidyOptions,
    TidyOutcome,
    TidyReport,
)

__all__ = [
    "AsyncClient",
    "Client",
    "CtxdError",
    "DeletionFilter",
    "ErrorDetail",
    "ExportOptions",
    "FoundMemory",
    "ImportReport",
    "ImportedMemory",
    "ListOptions",
    "Memory",
    "MemoryChanges",
    "MemoryFields",
    "NewMemory",
    "Page",
    "PageOptions",
    "SavedMemory",
    "SearchOptions",
    "Stats",
    "TidyChoice",
    "TidyGroup",
    "TidyOptions",
    "TidyOutcome",
    "TidyReport",
]

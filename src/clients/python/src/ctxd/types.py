"""Types of requests and responses. A test compares them with the server's OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

#: A time. Without a time zone, it is in the zone of this machine.
Time = Union[str, datetime]


class Source(TypedDict):
    """Who saved a memory, as the server knows it."""

    via: Literal["api", "mcp", "dashboard", "import", "capture"]
    by: str
    id: str


class _Memory(TypedDict):
    id: str
    content: str
    tags: List[str]
    agent_id: Optional[str]
    session_id: Optional[str]
    project: Optional[str]
    importance: float
    pinned: bool
    supersedes: Optional[str]
    superseded_by: Optional[str]
    metadata: Dict[str, Any]
    source: Optional[Source]
    created_at: str
    updated_at: str
    expires_at: Optional[str]


class Memory(_Memory, total=False):
    """
    A memory. `space` is there for members of a space: its name, or `None` outside of it. `changed_since` is there if it
    has been changed since the time of `as_of`.
    """

    changed_since: bool
    space: Optional[str]


class Matched(TypedDict):
    """The matched passage of a memory. `start` and `end` are its position in `content`."""

    text: str
    start: int
    end: int


class _Scored(Memory):
    score: float
    matched: Matched


class FoundMemory(_Scored, total=False):
    """A search result."""

    newer: str
    replaces: List[str]
    alike: List[str]
    explanation: Dict[str, float]


class Warning(TypedDict):
    """A note of the server about a memory that it saved."""

    code: Literal["secret"]
    path: str
    message: str


class _Hinted(TypedDict):
    id: str
    score: float
    kind: Literal["near", "changed", "superseded"]


class Similar(_Hinted, total=False):
    """
    A memory that says nearly the same (`near`), something else about the same subject (`changed`), or the same, and was
    superseded by `superseded_by` (`superseded`).
    """

    superseded_by: str


class SavedMemory(Memory, total=False):
    """A memory that was saved or changed."""

    warnings: List[Warning]
    similar: List[Similar]


class MemoryFields(TypedDict, total=False):
    """The fields of a memory to save, without `content`."""

    tags: Sequence[str]
    agent_id: str
    session_id: str
    project: Optional[str]
    importance: float
    pinned: bool
    supersedes: Optional[str]
    metadata: Mapping[str, Any]
    expires_at: Optional[Time]


class _WithContent(TypedDict):
    content: str


class NewMemory(_WithContent, MemoryFields):
    """A memory to save. Only `content` is required."""


class MemoryChanges(TypedDict, total=False):
    """The fields to change. Omitted fields stay as they are."""

    content: str
    tags: Sequence[str]
    agent_id: Optional[str]
    session_id: Optional[str]
    project: Optional[str]
    importance: float
    pinned: bool
    metadata: Mapping[str, Any]
    expires_at: Optional[Time]


class ImportedMemory(_WithContent, total=False):
    """A memory as in an export. Only `content` is required."""

    id: str
    tags: Sequence[str]
    agent_id: Optional[str]
    session_id: Optional[str]
    project: Optional[str]
    importance: float
    pinned: bool
    supersedes: Optional[str]
    superseded_by: Optional[str]
    metadata: Mapping[str, Any]
    source: Optional[Source]
    created_at: Time
    updated_at: Time
    expires_at: Optional[Time]


class DeletionFilter(TypedDict, total=False):
    """Filters of a deletion, at least one. With `project`, only memories of that project are deleted."""

    tags: Sequence[str]
    tags_match: Literal["any", "all"]
    agent_id: str
    session_id: str
    project: Optional[str]
    project_only: bool
    source: str
    captured: bool
    created_before: Time
    space: str


class ExportOptions(DeletionFilter, total=False):
    """Filters of an export. `project=None` exports all projects, even if the client has a project."""

    created_after: Time


class ListOptions(ExportOptions, total=False):
    """Filters of a list. `project=None` lists all projects, even if the client has a project."""

    include_superseded: bool
    as_of: Time


class PageOptions(ListOptions, total=False):
    """A page of a list. `cursor` is the `next_cursor` of the previous page."""

    limit: int
    sort: Literal["newest", "importance", "most_found", "never_found"]
    cursor: str


class SearchOptions(ListOptions, total=False):
    """Options of a search. `project=None` searches all projects, even if the client has a project."""

    limit: int
    min_score: float
    mode: Literal["hybrid", "semantic", "keyword"]
    known: bool
    decay: bool
    explain: bool


class Page(TypedDict):
    """A page of a list. `next_cursor` is None on the last page."""

    memories: List[Memory]
    next_cursor: Optional[str]


class Skipped(TypedDict):
    """A line of an import that was not saved."""

    line: int
    outcome: Literal["kept", "invalid"]
    reason: str


class ImportReport(TypedDict):
    """The outcome of an import. Each line that is not empty is counted once."""

    created: int
    updated: int
    unchanged: int
    kept: int
    invalid: int
    masked: int
    skipped: List[Skipped]


class TagCount(TypedDict):
    tag: str
    memories: int


class AgentCount(TypedDict):
    agent_id: Optional[str]
    memories: int


class ProjectCount(TypedDict):
    project: Optional[str]
    memories: int
    changed_at: str


class DayCount(TypedDict):
    day: str
    memories: int


class Fading(TypedDict):
    """How far memories alike in age and importance have faded."""

    age_days: float
    importance: float
    retention: float
    memories: int


class Stats(TypedDict):
    """Counts by tag, agent, project and day."""

    memories: int
    bytes: Optional[int]
    oldest: Optional[str]
    newest: Optional[str]
    tags: List[TagCount]
    agents: List[AgentCount]
    projects: List[ProjectCount]
    days: List[DayCount]
    fading: List[Fading]


TidyKind = Literal[
    "restatements",
    "contradictions",
    "never_found",
    "expiring",
    "secrets",
    "revoked",
    "small_projects",
]
TidyAction = Literal["supersede", "delete", "pin", "expire", "merge"]


class TidyCounts(TypedDict):
    """The number of groups of each kind; None if it is not known."""

    restatements: int
    contradictions: int
    never_found: Optional[int]
    expiring: int
    secrets: Optional[int]
    revoked: int
    small_projects: int


class _TidyTarget(TypedDict, total=False):
    keep: str
    project: str


class TidyProposal(_TidyTarget):
    """What to do with a group."""

    action: TidyAction


class TidyGroup(TypedDict):
    """Memories that could be tidied together."""

    id: str
    kind: TidyKind
    memories: List[Memory]
    proposal: TidyProposal
    actions: List[TidyAction]
    reason: str


class TidyReport(TypedDict):
    """What could be tidied: counts, and groups with proposals."""

    kinds: TidyCounts
    compared: Optional[float]
    groups: List[TidyGroup]
    next_cursor: Optional[str]


class _TidyAction(TypedDict, total=False):
    action: TidyAction


class TidyChoice(_TidyAction):
    """A group to tidy, with another action if its own proposal is not wanted."""

    id: str


class TidyOutcome(TypedDict):
    """What tidying changes, and the id by which it can be undone for ten seconds."""

    superseded: int
    deleted: int
    pinned: int
    expiring: int
    moved: int
    undo: Optional[str]


class TidyOptions(TypedDict, total=False):
    """Options of a report."""

    kind: TidyKind
    limit: int
    cursor: str
    space: str


class AboutMemory(TypedDict):
    """A memory that is about a subject, or may be."""

    id: str
    found_by: Literal["text", "fields", "version", "perhaps"]
    excerpt: str
    created_at: str
    project: Optional[str]
    captured: bool
    superseded: bool


class SessionAbout(TypedDict):
    """A session of such memories, and how many others it has."""

    session_id: str
    others: int


class SpaceAbout(TypedDict):
    """A space of yours with such memories."""

    space: str
    memories: int


class FoundAbout(TypedDict):
    """What is kept about a person or a subject."""

    memories: List[AboutMemory]
    more: int
    sessions: List[SessionAbout]
    spaces: List[SpaceAbout]


class Receipt(TypedDict):
    """The proof that memories were deleted: counts and times, nothing of what they said."""

    version: str
    account: str
    by: Optional[str]
    about: Optional[str]
    deleted: int
    captured: int
    superseded: int
    asked_at: str
    deleted_at: str
    leaves_files_by: str
    left_files_at: Optional[str]

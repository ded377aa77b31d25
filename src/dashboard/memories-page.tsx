/** @jsxRuntime automatic @jsxImportSource #pages */

import type { FoundMemory } from "../memories/found-memory.ts";
import { createMarker } from "../memories/matched/marks.ts";
import type { Memory } from "../memories/memory.ts";
import type { SearchMode } from "../memories/ranking/mode.ts";
import { HTMX, LIVE } from "../pages/assets.ts";
import { ButtonLink } from "../pages/button.tsx";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { EmptyState, Notice } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import type { PendingChange } from "../undo/pending-changes.ts";
import { canTakeAll, isFiltered, MOST_FOUND, type View, viewPath } from "./memories-view.ts";
import { MemoryItem } from "./memory-item.tsx";
import { SearchForm } from "./memory-search-form.tsx";
import type { Source } from "./memory-sources.ts";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "./navigation.tsx";
import { memoryCount, percent } from "./number-text.ts";
import { Page } from "./page.tsx";
import { afterAll, PendingChanges } from "./pending-changes.tsx";
import { type ProjectCounts, ProjectNames, ProjectSwitch } from "./project-switch.tsx";
import { SelectionFields } from "./selection-form.tsx";
import type { Visit } from "./visit.ts";

/** The form for a new memory, with what it begins with. */
export function newPath(begin: { project?: string; supersedes?: string }): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(begin)) if (value) parameters.set(name, value);
  return parameters.size > 0 ? `${MEMORY_PATHS.new}?${parameters}` : MEMORY_PATHS.new;
}

/** Memories as a list, the newest first, or as a search found them, the best first. */
export type Shown =
  | ({ kind: "list"; memories: readonly Memory[]; total: number } & Ways)
  | { kind: "found"; memories: readonly FoundMemory[]; mode: SearchMode };

/** Cursors of the pages around one; `null` where there is none. */
interface Ways {
  nextCursor: string | null;
  previousCursor: string | null;
}

/** The page on which memories are searched, browsed and selected. */
export function MemoriesPage({
  visit,
  view,
  shown,
  position,
  projects,
  sources,
  waiting,
  problem,
}: {
  visit: Visit;
  view: View;
  /** Where the account's memories are, for who follows them. */
  position: string;
  /** `null` when what was asked for can't be. */
  shown: Shown | null;
  projects: ProjectCounts;
  sources: readonly Source[];
  /** What is shown as if it were done already. */
  waiting: readonly PendingChange[];
  problem?: string | undefined;
}): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memories"
      actions={
        <>
          <ButtonLink href={MEMORY_PATHS.import}>Import</ButtonLink>
          <ButtonLink href={MEMORY_PATHS.export}>Export</ButtonLink>
          <ButtonLink href={newPath({ project: view.project })} kind="main">
            Add a memory
          </ButtonLink>
        </>
      }
      problem={problem}
      assets={[HTMX, LIVE]}
    >
      <SearchForm view={view} sources={sources} />
      <ProjectSwitch view={view} projects={projects} />
      <div
        id="results"
        data-live={isLive(view) ? "memories" : undefined}
        data-live-at={position}
        data-live-noun="memory"
      >
        {shown && <Results visit={visit} view={view} shown={shown} waiting={waiting} />}
        <PendingChanges waiting={waiting} view={view} token={visit.token} />
      </div>
      <ProjectNames projects={projects} />
    </Page>
  );
}

/** Whether what is saved comes in at the top: in the newest ones, and not in answers to a question. */
function isLive({ q, cursor }: View): boolean {
  return q === "" && cursor === "";
}

function Results({
  visit,
  view,
  shown,
  waiting,
}: {
  visit: Visit;
  view: View;
  shown: Shown;
  waiting: readonly PendingChange[];
}): Markup {
  const { memories } = shown;
  if (memories.length === 0) return <NoResults view={view} />;
  const mark = shown.kind === "found" ? createMarker(view.q) : undefined;
  const hasMore = shown.kind === "list" && shown.total > memories.length;
  return (
    <PostForm action={MEMORY_PATHS.selection} token={visit.token} class="results">
      <input type="hidden" name="view" value={viewPath(view)} />
      <div class="results-line">
        <p role="status">{summary(shown, view)}</p>
        <button type="button" class="link" data-select-all="id" hidden={true}>
          Select all on this page
        </button>
      </div>
      {shown.kind === "found" && shown.mode === "keyword" && (
        <Notice>The server has just started: for some seconds it searches by words alone.</Notice>
      )}
      <ul class="memories">
        {memories.map((memory) => (
          <li>
            <MemoryItem memory={afterAll(memory, waiting)} mark={mark} view={view} />
          </li>
        ))}
      </ul>
      {shown.kind === "found" && <RestLink view={view} count={memories.length} />}
      {shown.kind === "found" && <Weights found={shown.memories} />}
      {shown.kind === "list" && <PageWays view={view} ways={shown} />}
      <SelectionFields hasMore={canTakeAll(view) && hasMore} />
    </PostForm>
  );
}

/** To the pages of newer and of older memories. */
function PageWays({
  view,
  ways: { nextCursor, previousCursor },
}: {
  view: View;
  ways: Ways;
}): Markup {
  if (nextCursor === null && previousCursor === null) return Fragment({});
  const to = (cursor: string) => viewPath({ ...view, cursor });
  return (
    <nav class="pager" aria-label="Pages of memories">
      <div class="actions">
        {previousCursor !== null && (
          <>
            <ButtonLink href={to("")}>Newest</ButtonLink>
            <ButtonLink href={to(previousCursor)}>Newer</ButtonLink>
          </>
        )}
      </div>
      {nextCursor !== null && <ButtonLink href={to(nextCursor)}>Older</ButtonLink>}
    </nav>
  );
}

/** To what a search leaves out as no answer, and back. */
function RestLink({ view, count }: { view: View; count: number }): Markup {
  const isShown = view.rest !== "";
  if (!isShown && count === MOST_FOUND) return Fragment({});
  return (
    <p class="hint">
      <a href={viewPath({ ...view, rest: isShown ? "" : "1" })}>
        {isShown ? "Show only what is likely to answer" : "Show what is less likely to answer, too"}
      </a>
    </p>
  );
}

/** How the parts of a score come together. */
function Weights({ found }: { found: readonly FoundMemory[] }): Markup {
  const [best] = found;
  if (!best?.explanation) return Fragment({});
  return (
    <p class="hint">
      {`In a score, ×2 doubles the odds that a memory answers, ×0.5 halves them. Fading takes at most ${percent(best.explanation.decay)} of a score. `}
      <a href={`${HELP_PATH}/search`}>How memories are found</a>
    </p>
  );
}

function summary(shown: Shown, { rest }: View): string {
  if (shown.kind === "list") return memoryCount(shown.total);
  const { length } = shown.memories;
  const which = rest === "" ? "best" : "nearest";
  return length < MOST_FOUND
    ? `${memoryCount(length)}, the ${which} first`
    : `The ${which} ${memoryCount(length)}`;
}

function NoResults({ view }: { view: View }): Markup {
  const isAll = view.q === "" && !isFiltered(view);
  if (isAll && view.cursor === "") {
    return (
      <EmptyState title="No memories yet">
        <p>
          <a href={PATHS.connect}>Connect an agent</a>, which will save what it learns, or{" "}
          <a href={MEMORY_PATHS.new}>add a memory</a> yourself.
        </p>
      </EmptyState>
    );
  }
  if (view.q !== "" && view.rest === "") {
    return (
      <EmptyState title="Nothing is known about this">
        <p>
          Ask in other words, or <a href={viewPath({ ...view, rest: "1" })}>show what is nearest</a>
          .
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing found">
      <p>
        Ask in other words, or <a href={PATHS.memories}>show all memories</a>.
      </p>
    </EmptyState>
  );
}

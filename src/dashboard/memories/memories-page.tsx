/** @jsxRuntime automatic @jsxImportSource #pages */
import { createHighlighter } from "../../memories/matched/highlights.ts";
import type { FoundMemory } from "../../memories/model/found-memory.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { SearchMode } from "../../memories/ranking/question.ts";
import { LIVE } from "../../pages/assets.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { EmptyState, Notice } from "../../pages/layout.tsx";
import { memoryCount, percent } from "../../text/number-text.ts";
import type { PendingChange } from "../../undo/undoable.ts";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import { mayChange, type Visit } from "../session.ts";
import { AsOf } from "./as-of.tsx";
import { FilterChips } from "./filter-chips.tsx";
import { CursorLinks, type Cursors, Orders } from "./list-links.tsx";
import {
  canTakeAll,
  isFiltered,
  MAX_FOUND,
  type Source,
  type View,
  viewPath,
} from "./memories-view.ts";
import { MemoryItem } from "./memory-item.tsx";
import { SearchForm, SelectionFields, type Suggested, Suggestions } from "./memory-search-form.tsx";
import { afterChanges, PendingChanges } from "./pending-changes.tsx";
import { type ProjectCounts, ProjectSwitch } from "./project-switch.tsx";

/** The path of the form for a new memory, with initial values. */
export function newPath(initial: { project?: string; supersedes?: string }): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(initial)) if (value) parameters.set(name, value);
  return parameters.size > 0 ? `${MEMORY_PATHS.new}?${parameters}` : MEMORY_PATHS.new;
}

/** A page of the list, or the results of a search, best first. */
export type Shown =
  | ({ kind: "list"; memories: readonly Memory[]; total: number } & Cursors & {
        /** Superseded memories that match the filters and are not shown. */
        superseded: number;
      })
  | {
      kind: "found";
      memories: readonly FoundMemory[];
      mode: SearchMode;
      /** Answers in other projects, if this one has none. */
      elsewhere: number;
    };

/** The page for searching, browsing and selecting memories. */
export function MemoriesPage({
  visit,
  view,
  shown,
  position,
  projects,
  sources,
  suggested,
  pending,
  secrets,
  problem,
}: {
  visit: Visit;
  view: View;
  /** The position of the account's memories, from which the page follows changes. */
  position: string;
  /** `null` if the request was refused. */
  shown: Shown | null;
  projects: ProjectCounts;
  sources: readonly Source[];
  suggested: Suggested;
  /** Pending changes. The list is shown as if they were applied. */
  pending: readonly PendingChange[];
  /** Kinds of secrets in memories, by id. */
  secrets: ReadonlyMap<string, string>;
  problem?: string | undefined;
}) {
  // New memories appear at the top of the list.
  const isWriter = mayChange(visit);
  const isFirstPage = view.q === "" && view.cursor === "" && view.as_of === "";
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memories"
      actions={
        <>
          {isWriter && <ButtonLink href={MEMORY_PATHS.import}>Import</ButtonLink>}
          <ButtonLink href={MEMORY_PATHS.export}>Export</ButtonLink>
          {isWriter && <ButtonLink href={MEMORY_PATHS.tidy}>Tidy</ButtonLink>}
          {isWriter && <ButtonLink href={MEMORY_PATHS.forget}>Forget</ButtonLink>}
          {isWriter && (
            <ButtonLink href={newPath({ project: view.project })} kind="main">
              Add a memory
            </ButtonLink>
          )}
        </>
      }
      problem={problem}
      assets={[LIVE]}
    >
      <SearchForm view={view} sources={sources} accountId={visit.account.id} />
      <ProjectSwitch view={view} projects={projects} />
      <div
        id="results"
        data-live={isFirstPage ? "memories" : undefined}
        data-live-at={position}
        data-live-noun="memory"
      >
        <AsOf day={view.as_of} back={viewPath({ ...view, cursor: "", as_of: "" })} />
        <FilterChips view={view} sources={sources} />
        {shown && <Results {...{ visit, view, shown, pending, secrets }} />}
        {isWriter && <PendingChanges pending={pending} back={viewPath(view)} token={visit.token} />}
      </div>
      <Suggestions {...suggested} projects={projects.flatMap(({ project }) => project ?? [])} />
    </Page>
  );
}

function Results({
  visit,
  view,
  shown,
  pending,
  secrets,
}: {
  visit: Visit;
  view: View;
  shown: Shown;
  pending: readonly PendingChange[];
  secrets: ReadonlyMap<string, string>;
}) {
  const { memories } = shown;
  const isWriter = mayChange(visit);
  if (memories.length === 0) {
    return <NoResults view={view} elsewhere={shown.kind === "found" ? shown.elsewhere : 0} />;
  }
  const mark = shown.kind === "found" ? createHighlighter(view.q) : undefined;
  const hasMore = shown.kind === "list" && shown.total > memories.length;
  return (
    <PostForm action={MEMORY_PATHS.selection} token={visit.token} class="results">
      <input type="hidden" name="view" value={viewPath(view)} />
      <div class="results-line spread">
        <p role="status">
          {summary(shown, view)}
          {shown.kind === "list" && shown.superseded > 0 && (
            <>
              {", and "}
              <a href={viewPath({ ...view, cursor: "", history: "1" })}>
                {`${shown.superseded.toLocaleString("en")} superseded`}
              </a>
            </>
          )}
        </p>
        {shown.kind === "list" && <Orders view={view} />}
        <div class="actions">
          {viewPath({ ...view, cursor: "", rest: "" }) !== PATHS.memories && (
            <button type="button" class="link" data-save={true} hidden={true}>
              Save this search
            </button>
          )}
          {isWriter && (
            <button type="button" class="link" data-select-all="id" hidden={true}>
              Select all on this page
            </button>
          )}
        </div>
      </div>
      {shown.kind === "found" && shown.mode === "keyword" && (
        <Notice>The server has just started. For a few seconds it searches by words only.</Notice>
      )}
      <ul class="memories">
        {memories.map((memory) => (
          <li>
            <MemoryItem
              memory={afterChanges(memory, pending)}
              secrets={secrets.get(memory.id)}
              mark={mark}
              view={view}
              isChosen={isWriter}
            />
          </li>
        ))}
      </ul>
      {shown.kind === "found" && <FloorLink view={view} count={memories.length} />}
      {shown.kind === "found" && <ScoreHint found={shown.memories} />}
      {shown.kind === "list" && <CursorLinks view={view} cursors={shown} />}
      {isWriter && <SelectionFields hasMore={canTakeAll(view) && hasMore} />}
    </PostForm>
  );
}

/** The link that also shows results below the floor, or hides them again. */
function FloorLink({ view, count }: { view: View; count: number }) {
  const isShown = view.rest !== "";
  if (!isShown && count === MAX_FOUND) return Fragment({});
  return (
    <p class="hint">
      <a href={viewPath({ ...view, rest: isShown ? "" : "1" })}>
        {isShown ? "Show only likely answers" : "Show less likely answers too"}
      </a>
    </p>
  );
}

function ScoreHint({ found }: { found: readonly FoundMemory[] }) {
  const [best] = found;
  if (!best?.explanation) return Fragment({});
  return (
    <p class="hint">
      {`In the parts of a score, ×2 doubles the odds that a memory answers the question and ×0.5 halves them. Fading lowers a score by at most ${percent(best.explanation.decay)}. `}
      <a href={`${HELP_PATH}/search`}>How memories are found</a>
    </p>
  );
}

function summary(shown: Shown, { rest }: View): string {
  if (shown.kind === "list") return memoryCount(shown.total);
  const { length } = shown.memories;
  const which = rest === "" ? "best" : "nearest";
  return length < MAX_FOUND
    ? `${memoryCount(length)}, ${which} first`
    : `The ${which} ${memoryCount(length)}`;
}

function NoResults({ view, elsewhere }: { view: View; elsewhere: number }) {
  const isAll = view.q === "" && !isFiltered(view);
  if (isAll && view.cursor === "") {
    return (
      <EmptyState title="No memories yet">
        <p>
          <a href={PATHS.connect}>Connect an agent</a> that saves what it learns, or{" "}
          <a href={MEMORY_PATHS.new}>add a memory</a> yourself.
        </p>
      </EmptyState>
    );
  }
  if (view.q !== "" && view.rest === "") {
    return (
      <EmptyState title={`Nothing ${view.as_of === "" ? "is" : "was"} known about this`}>
        {elsewhere > 0 && (
          <p>
            <a href={viewPath({ ...view, project: "", unfiled: "" })}>
              {memoryCount(elsewhere)} in other projects
            </a>
          </p>
        )}
        <p>
          Use other words, or{" "}
          <a href={viewPath({ ...view, rest: "1" })}>show the nearest memories</a>.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing found">
      <p>
        Use other words, or <a href={PATHS.memories}>show all memories</a>.
      </p>
    </EmptyState>
  );
}

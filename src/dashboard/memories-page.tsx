/** @jsxRuntime automatic @jsxImportSource #pages */

import type { FoundMemory } from "../memories/found-memory.ts";
import { createMarker } from "../memories/matched/marks.ts";
import type { Memory } from "../memories/memory.ts";
import type { SearchMode } from "../memories/ranking/mode.ts";
import { HTMX } from "../pages/assets.ts";
import { ButtonLink } from "../pages/button.tsx";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { EmptyState, Notice } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { countOf } from "./count-of.ts";
import type { Visit } from "./guard.tsx";
import { canTakeAll, isFiltered, MOST_FOUND, type View, viewPath } from "./memories-view.ts";
import { MemoryItem, percent } from "./memory-item.tsx";
import { SearchForm } from "./memory-search-form.tsx";
import type { Source } from "./memory-sources.ts";
import { HELP_PATH, PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import { type ProjectCounts, ProjectNames, ProjectSwitch } from "./project-switch.tsx";
import { SelectionFields } from "./selection-form.tsx";

/** Paths below the page of memories. */
export const MEMORY_PATHS = {
  new: `${PATHS.memories}/new`,
  export: `${PATHS.memories}/export`,
  /** Offers the export, for a browser that stays where it is when a file comes. */
  exportOffer: `${PATHS.memories}/export/offer`,
  import: `${PATHS.memories}/import`,
  selection: `${PATHS.memories}/selection`,
} as const;

/** The form for a new memory, with what it begins with. */
export function newPath(begin: { project?: string; supersedes?: string }): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(begin)) if (value) parameters.set(name, value);
  return parameters.size > 0 ? `${MEMORY_PATHS.new}?${parameters}` : MEMORY_PATHS.new;
}

/** Memories as a list, the newest first, or as a search found them, the best first. */
export type Shown =
  | { kind: "list"; memories: readonly Memory[]; nextCursor: string | null }
  | { kind: "found"; memories: readonly FoundMemory[]; mode: SearchMode };

/** The page on which memories are searched, browsed and selected. */
export function MemoriesPage({
  visit,
  view,
  shown,
  projects,
  sources,
  problem,
}: {
  visit: Visit;
  view: View;
  /** `null` when what was asked for can't be. */
  shown: Shown | null;
  projects: ProjectCounts;
  sources: readonly Source[];
  problem?: string | undefined;
}): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memories"
      lead="What your agents have saved. Search as you would ask a person: words need not be the same."
      problem={problem}
      assets={[HTMX]}
    >
      <div class="toolbar actions">
        <ButtonLink href={newPath({ project: view.project })} kind="main">
          Add a memory
        </ButtonLink>
        <ButtonLink href={MEMORY_PATHS.export}>Export</ButtonLink>
        <ButtonLink href={MEMORY_PATHS.import}>Import</ButtonLink>
      </div>
      <ProjectSwitch view={view} projects={projects} />
      <SearchForm view={view} sources={sources} />
      <div id="results">{shown && <Results visit={visit} view={view} shown={shown} />}</div>
      <ProjectNames projects={projects} />
    </Page>
  );
}

function Results({ visit, view, shown }: { visit: Visit; view: View; shown: Shown }): Markup {
  const { memories } = shown;
  if (memories.length === 0) return <NoResults view={view} />;
  const nextCursor = shown.kind === "list" ? shown.nextCursor : null;
  const mark = shown.kind === "found" ? createMarker(view.q) : undefined;
  return (
    <PostForm action={MEMORY_PATHS.selection} token={visit.token} class="results">
      <input type="hidden" name="view" value={viewPath({ ...view, cursor: "" })} />
      <div class="results-line">
        <p role="status">{summary(shown, view)}</p>
        <button type="button" class="link" data-select-all="id" hidden={true}>
          Select all on this page
        </button>
      </div>
      {shown.kind === "found" && shown.mode === "keyword" && (
        <Notice>The server has just started: for some seconds it searches by words alone.</Notice>
      )}
      {shown.kind === "found" && <Weights found={shown.memories} />}
      <ul class="memories">
        {memories.map((memory) => (
          <li>
            <MemoryItem memory={memory} mark={mark} view={view} />
          </li>
        ))}
      </ul>
      {shown.kind === "found" && <RestLink view={view} count={memories.length} />}
      <SelectionFields hasMore={canTakeAll(view) && (view.cursor !== "" || nextCursor !== null)} />
      {(view.cursor !== "" || nextCursor !== null) && (
        <nav class="pager" aria-label="Pages of memories">
          {view.cursor !== "" && (
            <ButtonLink href={viewPath({ ...view, cursor: "" })}>Back to the newest</ButtonLink>
          )}
          {nextCursor !== null && (
            <ButtonLink href={viewPath({ ...view, cursor: nextCursor })}>Older</ButtonLink>
          )}
        </nav>
      )}
    </PostForm>
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
      {`×2 doubles the odds that a memory answers, ×0.5 halves them. Fading takes at most ${percent(best.explanation.decay)} of a score. `}
      <a href={`${HELP_PATH}/search`}>How memories are found</a>
    </p>
  );
}

function summary({ kind, memories }: Shown, { rest }: View): string {
  const { length } = memories;
  const count = countOf(length);
  if (kind === "list") return `${count}, the newest first`;
  const which = rest === "" ? "best" : "nearest";
  return length < MOST_FOUND ? `${count}, the ${which} first` : `The ${which} ${count}`;
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

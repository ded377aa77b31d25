/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { Choice } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Notice } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { ConfirmPage } from "./confirm.tsx";
import type { Visit } from "./guard.tsx";
import { newPath } from "./memories-page.tsx";
import { MemoryFacts } from "./memory-facts.tsx";
import { Fields } from "./memory-fields.tsx";
import type { Entries } from "./memory-form.ts";
import { MemoryHistory } from "./memory-history.tsx";
import { nameOf } from "./memory-item.tsx";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";

/** The page on which a memory is written. */
export function NewMemoryPage({
  visit,
  entries,
  former,
  problem,
}: {
  visit: Visit;
  entries: Entries;
  /** What was true until now, if this takes its place. */
  former: Memory | null;
  problem?: string;
}): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title={former ? "What is true now" : "Add a memory"}
      problem={problem}
    >
      {former && (
        <Notice>
          It takes the place of “<bdi>{nameOf(former.content)}</bdi>”, which is kept as history.
        </Notice>
      )}
      <PostForm action={PATHS.memories} token={visit.token} class="panel">
        {former && <input type="hidden" name="supersedes" value={former.id} />}
        <Fields entries={entries} isNew={true} />
        <div class="actions">
          <Button kind="main">Save the memory</Button>
          <ButtonLink href={former ? pathOf(former) : PATHS.memories}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

/** A memory, to be read, changed or deleted. */
export function MemoryPage({
  visit,
  memory,
  history,
  etag,
  retention,
  entries,
  problem,
}: {
  visit: Visit;
  memory: Memory;
  /** It, and what was true before and since, the newest first. */
  history: readonly Memory[];
  /** Names the state that is shown, so that a change made meanwhile is not lost. */
  etag: string;
  /** What is left of it at its age, 0 to 1. */
  retention: number;
  entries: Entries;
  problem?: string;
}): Markup {
  const path = pathOf(memory);
  const { superseded_by } = memory;
  return (
    <Page visit={visit} section="memories" title="Memory" problem={problem}>
      {superseded_by !== null && (
        <Notice>
          This was true once.{" "}
          <a href={`${PATHS.memories}/${superseded_by}`}>Something else has taken its place.</a>
        </Notice>
      )}
      <MemoryFacts memory={memory} retention={retention} />
      <PostForm action={path} token={visit.token} class="panel">
        <input type="hidden" name="etag" value={etag} />
        <Fields entries={entries} isNew={false} />
        <div class="actions">
          <Button kind="main">Save changes</Button>
          {superseded_by === null && (
            <ButtonLink href={newPath({ supersedes: memory.id })}>Something has changed</ButtonLink>
          )}
          <ButtonLink href={`${path}/delete`} kind="danger" asks={true}>
            Delete
          </ButtonLink>
        </div>
      </PostForm>
      <MemoryHistory memory={memory} history={history} />
      <p>
        <a href={PATHS.memories}>Back to all memories</a>
      </p>
    </Page>
  );
}

/** Asks once before a memory is deleted. */
export function MemoryQuestion({ visit, memory }: { visit: Visit; memory: Memory }): Markup {
  const hasHistory = memory.supersedes !== null || memory.superseded_by !== null;
  return (
    <ConfirmPage
      visit={visit}
      section="memories"
      title="Delete this memory?"
      action={`${pathOf(memory)}/delete`}
      confirm="Delete the memory"
      cancel={pathOf(memory)}
    >
      <p>
        “<bdi>{nameOf(memory.content)}</bdi>” is deleted for good and can't be brought back.
      </p>
      {hasHistory && (
        <Choice name="history" value="1">
          All of its history, too
        </Choice>
      )}
    </ConfirmPage>
  );
}

/** The page of a memory. */
export function pathOf({ id }: Pick<Memory, "id">): string {
  return `${PATHS.memories}/${id}`;
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import type { Fading } from "../memories/ranking/retention.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { Choice } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Notice } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { ConfirmPage } from "./confirm.tsx";
import type { Visit } from "./guard.tsx";
import { newPath } from "./memories-page.tsx";
import { InSession, NearIt } from "./memory-around.tsx";
import { MemoryFacts } from "./memory-facts.tsx";
import { MemoryFading } from "./memory-fading.tsx";
import { MemoryHistory } from "./memory-history.tsx";
import { nameOf } from "./memory-item.tsx";
import { MemoryText } from "./memory-text.tsx";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";

/** A memory with all that is around it. */
export interface Surroundings {
  /** It, and what was true before and since, the newest first; empty where it was ever the same. */
  history: readonly Memory[];
  /** What has taken its place, as of now; `null` while it holds itself. */
  current: Memory | null;
  fading: Fading;
  /** In its session, the oldest first. */
  before: readonly Memory[];
  after: readonly Memory[];
  /** In meaning, the nearest first; `null` where that is not known yet. */
  near: readonly { memory: Memory; score: number }[] | null;
}

/** A memory, to be read. */
export function MemoryPage({
  visit,
  memory,
  around,
}: {
  visit: Visit;
  memory: Memory;
  around: Surroundings;
}): Markup {
  const { history, current, fading, before, after, near } = around;
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memory"
      actions={<Actions visit={visit} memory={memory} />}
    >
      {current && (
        <Notice>
          This was true once. What is true now:{" "}
          <a href={pathOf(current)}>
            <bdi>{nameOf(current.content)}</bdi>
          </a>
        </Notice>
      )}
      <div class="memory-page">
        <MemoryText memory={memory} />
        <aside>
          <MemoryFacts memory={memory} />
          {memory.superseded_by === null && <MemoryFading memory={memory} fading={fading} />}
        </aside>
        <div class="memory-around">
          <MemoryHistory memory={memory} history={history} />
          <InSession memory={memory} before={before} after={after} />
          <NearIt near={near} />
        </div>
      </div>
    </Page>
  );
}

/** What can be done with it. */
function Actions({ visit, memory }: { visit: Visit; memory: Memory }): Markup {
  const path = pathOf(memory);
  const { pinned, superseded_by } = memory;
  return (
    <>
      <a class="button plain" href={editPath(memory)} data-key="e" aria-keyshortcuts="e">
        Edit
      </a>
      {superseded_by === null && (
        <ButtonLink href={newPath({ supersedes: memory.id })}>Something has changed</ButtonLink>
      )}
      <PostForm action={`${path}/pin`} token={visit.token}>
        <Button name="pinned" value={pinned ? "0" : "1"}>
          {pinned ? "Unpin" : "Pin"}
        </Button>
      </PostForm>
      <ButtonLink href={`${path}/delete`} kind="danger" asks={true}>
        Delete
      </ButtonLink>
    </>
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

/** The page on which it is changed. */
export function editPath(memory: Pick<Memory, "id">): string {
  return `${pathOf(memory)}/edit`;
}

/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Memory } from "../../memories/model/memory.ts";
import type { Fading } from "../../memories/ranking/retention.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Choice } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Notice } from "../../pages/notice.tsx";
import { PostForm } from "../../sign-in/form.tsx";
import { ConfirmPage } from "../confirm.tsx";
import { titleOf } from "../excerpt.ts";
import { newPath } from "../memories/memories-page.tsx";
import { memoryPath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../visit.ts";
import { MemoryFading } from "./memory-fading.tsx";
import { MemoryHistory } from "./memory-history.tsx";
import { MemoryProperties } from "./memory-properties.tsx";
import { MemoryText } from "./memory-text.tsx";
import { SessionMemories, SimilarMemories, type SimilarMemory } from "./related-memories.tsx";

/** What the page of a memory shows besides the memory. */
export interface Context {
  /** All versions including this one, newest first; empty if there is only this one. */
  history: readonly Memory[];
  /** The newest version; `null` if this is it. */
  current: Memory | null;
  fading: Fading;
  /** The memories before and after this one in its session, oldest first. */
  before: readonly Memory[];
  after: readonly Memory[];
  /** Memories with a similar meaning, most similar first; `null` while they are not known yet. */
  similar: readonly SimilarMemory[] | null;
}

/** The page of one memory. */
export function MemoryPage({
  visit,
  memory,
  context,
}: {
  visit: Visit;
  memory: Memory;
  context: Context;
}): Markup {
  const { history, current, fading, before, after, similar } = context;
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memory"
      actions={<Actions visit={visit} memory={memory} />}
    >
      {current && (
        <Notice>
          This memory is out of date. The current one:{" "}
          <a href={memoryPath(current.id)}>
            <bdi>{titleOf(current.content)}</bdi>
          </a>
        </Notice>
      )}
      <div class="memory-page">
        <MemoryText memory={memory} />
        <aside>
          <MemoryProperties memory={memory} />
          {memory.superseded_by === null && <MemoryFading memory={memory} fading={fading} />}
        </aside>
        <div class="memory-related">
          <MemoryHistory memory={memory} history={history} />
          <SessionMemories memory={memory} before={before} after={after} />
          <SimilarMemories similar={similar} />
        </div>
      </div>
    </Page>
  );
}

/** The buttons beside the heading. */
function Actions({ visit, memory }: { visit: Visit; memory: Memory }): Markup {
  const path = memoryPath(memory.id);
  const { pinned, superseded_by } = memory;
  return (
    <>
      <a class="button plain" href={`${path}/edit`} data-key="e" aria-keyshortcuts="e">
        Edit
      </a>
      {superseded_by === null && (
        <ButtonLink href={newPath({ supersedes: memory.id })}>Replace</ButtonLink>
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

/** Asks for confirmation before a memory is deleted. */
export function MemoryQuestion({ visit, memory }: { visit: Visit; memory: Memory }): Markup {
  const hasHistory = memory.supersedes !== null || memory.superseded_by !== null;
  return (
    <ConfirmPage
      visit={visit}
      section="memories"
      title="Delete this memory?"
      action={`${memoryPath(memory.id)}/delete`}
      confirm="Delete the memory"
      cancel={memoryPath(memory.id)}
    >
      <p>
        “<bdi>{titleOf(memory.content)}</bdi>” will be deleted permanently. You can't undo this.
      </p>
      {hasHistory && (
        <Choice name="history" value="1">
          Delete its older and newer versions too
        </Choice>
      )}
    </ConfirmPage>
  );
}

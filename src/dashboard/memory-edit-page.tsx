/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Memory } from "../memories/memory.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Notice } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { titleOf } from "./excerpt.ts";
import { Fields } from "./memory-fields.tsx";
import type { Entries } from "./memory-form.ts";
import { memoryPath, PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";

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
          It takes the place of “<bdi>{titleOf(former.content)}</bdi>”, which is kept as history.
        </Notice>
      )}
      <PostForm action={PATHS.memories} token={visit.token} class="panel slim memory-form">
        {former && <input type="hidden" name="supersedes" value={former.id} />}
        <Fields entries={entries} />
        <div class="actions">
          <Button kind="main">Save the memory</Button>
          <ButtonLink href={former ? memoryPath(former.id) : PATHS.memories}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

/** The page on which a memory is changed. */
export function EditMemoryPage({
  visit,
  memory,
  etag,
  entries,
  problem,
}: {
  visit: Visit;
  memory: Memory;
  /** Names the state that is shown, so that a change made meanwhile is not lost. */
  etag: string;
  entries: Entries;
  problem?: string;
}): Markup {
  return (
    <Page visit={visit} section="memories" title="Edit the memory" problem={problem}>
      <PostForm action={memoryPath(memory.id)} token={visit.token} class="panel slim memory-form">
        <input type="hidden" name="etag" value={etag} />
        <Fields entries={entries} />
        <div class="actions">
          <Button kind="main">Save changes</Button>
          <ButtonLink href={memoryPath(memory.id)}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

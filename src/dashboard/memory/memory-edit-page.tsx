/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Memory } from "../../memories/model/memory.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Notice } from "../../pages/notice.tsx";
import { PostForm } from "../../sign-in/form.tsx";
import { titleOf } from "../excerpt.ts";
import { memoryPath, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../visit.ts";
import { MemoryFields } from "./memory-fields.tsx";
import type { Entries } from "./memory-form.ts";

/** The page for writing a new memory. */
export function NewMemoryPage({
  visit,
  entries,
  former,
  problem,
}: {
  visit: Visit;
  entries: Entries;
  /** The memory that the new one supersedes, if any. */
  former: Memory | null;
  problem?: string;
}): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title={former ? "Replace a memory" : "Add a memory"}
      problem={problem}
    >
      {former && (
        <Notice>
          The new memory replaces “<bdi>{titleOf(former.content)}</bdi>”, which stays in its
          history.
        </Notice>
      )}
      <PostForm action={PATHS.memories} token={visit.token} class="panel slim memory-form">
        {former && <input type="hidden" name="supersedes" value={former.id} />}
        <MemoryFields entries={entries} />
        <div class="actions">
          <Button kind="main">Save the memory</Button>
          <ButtonLink href={former ? memoryPath(former.id) : PATHS.memories}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

/** The page for editing a memory. */
export function EditMemoryPage({
  visit,
  memory,
  etag,
  entries,
  problem,
}: {
  visit: Visit;
  memory: Memory;
  /** The version of the memory that is shown. A change since then must not be overwritten. */
  etag: string;
  entries: Entries;
  problem?: string;
}): Markup {
  return (
    <Page visit={visit} section="memories" title="Edit memory" problem={problem}>
      <PostForm action={memoryPath(memory.id)} token={visit.token} class="panel slim memory-form">
        <input type="hidden" name="etag" value={etag} />
        <MemoryFields entries={entries} />
        <div class="actions">
          <Button kind="main">Save changes</Button>
          <ButtonLink href={memoryPath(memory.id)}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

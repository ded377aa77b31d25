/** @jsxRuntime automatic @jsxImportSource #pages */
import { LIMITS, type Memory } from "../../memories/model/memory.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Choice, Field, TextArea } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Notice } from "../../pages/notice.tsx";
import { titleOf } from "../excerpt.ts";
import { memoryPath, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { type Entries, NOTHING_ENTERED } from "./memory-form.ts";

/** Fields that are folded away unless they have a value. */
const FURTHER = [
  "importance",
  "pinned",
  "expires_at",
  "agent_id",
  "session_id",
  "metadata",
] as const;

/** The form fields of a memory. */
function MemoryFields({ entries }: { entries: Entries }): Markup {
  const isOpen = FURTHER.some((name) => entries[name] !== NOTHING_ENTERED[name]);
  return (
    <>
      <TextArea
        label="Text"
        name="content"
        value={entries.content}
        rows={8}
        required={true}
        autofocus={true}
        hint={`At most ${LIMITS.content.toLocaleString("en")} characters`}
      />
      <div class="row">
        <Field
          label="Tags"
          name="tags"
          value={entries.tags}
          hint="Separated by commas"
          autocomplete="off"
        />
        <Field
          label="Project"
          name="project"
          value={entries.project}
          maxlength={LIMITS.identifier}
          hint="Empty: the memory applies to all projects"
          autocomplete="off"
        />
      </div>
      <details open={isOpen}>
        <summary>More</summary>
        <Further entries={entries} />
      </details>
    </>
  );
}

function Further({ entries }: { entries: Entries }): Markup {
  return (
    <>
      <div class="row">
        <Field
          label="Importance"
          name="importance"
          type="number"
          min="0"
          max="1"
          step="any"
          value={entries.importance}
          hint="0 to 1. Important memories fade more slowly"
        />
        <Field
          label="Expires"
          name="expires_at"
          type="datetime-local"
          value={entries.expires_at}
          hint="In UTC. The memory is then deleted. Empty: never"
        />
      </div>
      <Choice name="pinned" value="1" checked={entries.pinned !== ""}>
        Pinned (never fades)
      </Choice>
      <div class="row">
        <Field
          label="Agent"
          name="agent_id"
          value={entries.agent_id}
          maxlength={LIMITS.identifier}
          autocomplete="off"
        />
        <Field
          label="Session"
          name="session_id"
          value={entries.session_id}
          maxlength={LIMITS.identifier}
          autocomplete="off"
        />
      </div>
      <TextArea
        label="Metadata"
        name="metadata"
        value={entries.metadata}
        rows={4}
        hint="A JSON object. It is stored with the memory but not searched"
      />
    </>
  );
}

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

/** @jsxRuntime automatic @jsxImportSource #pages */
import { LIMITS, type Memory } from "../../memories/model/memory.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Choice, Field, TextArea } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Notice } from "../../pages/layout.tsx";
import { titleOf } from "../../text/excerpt.ts";
import { memoryPath, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { SeenBy } from "../spaces/space-choice.tsx";
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

const IDENTIFIER = { maxlength: LIMITS.identifier, autocomplete: "off" } as const;

function MemoryFields({ entries }: { entries: Entries }) {
  const entry = (name: keyof Entries) => ({ name, value: entries[name] });
  return (
    <>
      <TextArea
        label="Text"
        {...entry("content")}
        rows={8}
        required={true}
        autofocus={true}
        hint={`At most ${LIMITS.content.toLocaleString("en")} characters`}
      />
      <div class="row">
        <Field label="Tags" {...entry("tags")} hint="Separated by commas" autocomplete="off" />
        <Field
          label="Project"
          {...entry("project")}
          hint="Empty: the memory applies to all projects"
          {...IDENTIFIER}
        />
      </div>
      <details open={FURTHER.some((name) => entries[name] !== NOTHING_ENTERED[name])}>
        <summary>More</summary>
        <div class="row">
          <Field
            label="Importance"
            type="number"
            min="0"
            max="1"
            step="any"
            {...entry("importance")}
            hint="0 to 1. Important memories fade more slowly"
          />
          <Field
            label="Expires"
            type="datetime-local"
            {...entry("expires_at")}
            hint="In UTC. The memory is then deleted. Empty: never"
          />
        </div>
        <Choice name="pinned" value="1" checked={entries.pinned !== ""}>
          Pinned (never fades)
        </Choice>
        <div class="row">
          <Field label="Agent" {...entry("agent_id")} {...IDENTIFIER} />
          <Field label="Session" {...entry("session_id")} {...IDENTIFIER} />
        </div>
        <TextArea
          label="Metadata"
          {...entry("metadata")}
          rows={4}
          hint="A JSON object. It is stored with the memory but not searched"
        />
      </details>
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
}) {
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
        <SeenBy visit={visit} />
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
}) {
  return (
    <Page visit={visit} section="memories" title="Edit memory" problem={problem}>
      <PostForm action={memoryPath(memory.id)} token={visit.token} class="panel slim memory-form">
        <SeenBy visit={visit} />
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

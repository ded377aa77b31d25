/** @jsxRuntime automatic @jsxImportSource #pages */
import { LIMITS } from "../../memories/model/memory.ts";
import { Choice, Field, TextArea } from "../../pages/field.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
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
export function MemoryFields({ entries }: { entries: Entries }): Markup {
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

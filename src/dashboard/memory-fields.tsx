/** @jsxRuntime automatic @jsxImportSource #pages */
import { LIMITS } from "../memories/memory.ts";
import { Choice, Field, TextArea } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { type Entries, NOTHING_ENTERED } from "./memory-form.ts";

/** What the form has besides the text, the tags and the project, with what it begins with. */
const FURTHER = [
  "importance",
  "pinned",
  "expires_at",
  "agent_id",
  "session_id",
  "metadata",
] as const;

/** The fields of a memory, in a form: those that few memories need are folded until they say something. */
export function Fields({ entries }: { entries: Entries }): Markup {
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
        hint={`What is to be remembered, in at most ${LIMITS.content.toLocaleString("en")} characters`}
      />
      <div class="row">
        <Field
          label="Tags"
          name="tags"
          value={entries.tags}
          hint="With commas between"
          autocomplete="off"
        />
        <Field
          label="Project"
          name="project"
          value={entries.project}
          maxlength={LIMITS.identifier}
          hint="Empty for what matters everywhere"
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
          hint="0 to 1: the higher, the slower it fades"
        />
        <Field
          label="Expires"
          name="expires_at"
          type="datetime-local"
          value={entries.expires_at}
          hint="In UTC; from then on it is forgotten. Empty for never"
        />
      </div>
      <Choice name="pinned" value="1" checked={entries.pinned !== ""}>
        Pinned: it never fades
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
        hint="A JSON object; kept with the memory, not searched"
      />
    </>
  );
}

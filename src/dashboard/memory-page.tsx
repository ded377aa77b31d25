/** @jsxRuntime automatic @jsxImportSource #pages */
import { LIMITS, type Memory, type MemorySource } from "../memories/memory.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { Field, TextArea } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { PostForm } from "../sign-in/form.tsx";
import type { Visit } from "./guard.tsx";
import type { Entries } from "./memory-form.ts";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";

/** The ways by which a memory comes, as people call them. */
const WAYS: Record<MemorySource["via"], string> = {
  api: "over the API",
  mcp: "as an agent",
  dashboard: "in the dashboard",
  import: "by an import",
  capture: "by capture",
};

/** The page on which a memory is written. */
export function NewMemoryPage({
  visit,
  entries,
  problem,
}: {
  visit: Visit;
  entries: Entries;
  problem?: string;
}): Markup {
  return (
    <Page visit={visit} section="memories" title="Add a memory" problem={problem}>
      <PostForm action={PATHS.memories} token={visit.token} class="panel">
        <Fields entries={entries} isNew={true} />
        <div class="actions">
          <Button kind="main">Save the memory</Button>
          <ButtonLink href={PATHS.memories}>Cancel</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

/** A memory, to be read, changed or deleted. */
export function MemoryPage({
  visit,
  memory,
  etag,
  retention,
  entries,
  problem,
}: {
  visit: Visit;
  memory: Memory;
  /** Names the state that is shown, so that a change made meanwhile is not lost. */
  etag: string;
  /** What is left of it at its age, 0 to 1. */
  retention: number;
  entries: Entries;
  problem?: string;
}): Markup {
  const path = `${PATHS.memories}/${memory.id}`;
  return (
    <Page visit={visit} section="memories" title="Memory" problem={problem}>
      <dl class="panel">
        <dt>Id</dt>
        <dd>
          <code>{memory.id}</code>
        </dd>
        <dt>Saved</dt>
        <dd>
          <Moment at={new Date(memory.created_at)} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Moment at={new Date(memory.updated_at)} />
        </dd>
        <dt>Retention</dt>
        <dd>
          {`${Math.round(100 * retention)} %: `}
          <span class="faint">falls with age, slower the more important it is</span>
        </dd>
        <Origin memory={memory} />
      </dl>
      <PostForm action={path} token={visit.token} class="panel">
        <input type="hidden" name="etag" value={etag} />
        <Fields entries={entries} isNew={false} />
        <div class="actions">
          <Button kind="main">Save changes</Button>
          <ButtonLink href={`${path}/delete`} kind="danger" asks={true}>
            Delete
          </ButtonLink>
        </div>
      </PostForm>
      <p>
        <a href={PATHS.memories}>Back to all memories</a>
      </p>
    </Page>
  );
}

/** What the form does not have, where the memory has it. */
function Origin({
  memory: { project, pinned, expires_at, supersedes, source },
}: {
  memory: Memory;
}): Markup {
  return (
    <>
      {project !== null && (
        <>
          <dt>Project</dt>
          <dd>
            <bdi>{project}</bdi>
          </dd>
        </>
      )}
      {pinned && (
        <>
          <dt>Pinned</dt>
          <dd>Yes</dd>
        </>
      )}
      {expires_at !== null && (
        <>
          <dt>Expires</dt>
          <dd>
            <Moment at={new Date(expires_at)} />
          </dd>
        </>
      )}
      {supersedes !== null && (
        <>
          <dt>Supersedes</dt>
          <dd>
            <a href={`${PATHS.memories}/${supersedes}`}>
              <code>{supersedes}</code>
            </a>
          </dd>
        </>
      )}
      {source !== null && (
        <>
          <dt>Written by</dt>
          <dd>
            <bdi>{source.by}</bdi> <span class="faint">{WAYS[source.via] ?? source.via}</span>
          </dd>
        </>
      )}
    </>
  );
}

function Fields({ entries, isNew }: { entries: Entries; isNew: boolean }): Markup {
  return (
    <>
      <TextArea
        label="Text"
        name="content"
        value={entries.content}
        rows={8}
        required={true}
        autofocus={isNew}
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
          label="Importance"
          name="importance"
          type="number"
          min="0"
          max="1"
          step="any"
          value={entries.importance}
          hint="0 to 1: the higher, the slower it fades"
          required={true}
        />
      </div>
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
      <details open={entries.metadata !== ""}>
        <summary>Metadata</summary>
        <TextArea
          label="Metadata"
          name="metadata"
          value={entries.metadata}
          rows={4}
          hint="A JSON object; kept with the memory, not searched"
        />
      </details>
    </>
  );
}

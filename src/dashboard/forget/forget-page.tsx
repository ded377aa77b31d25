/** @jsxRuntime automatic @jsxImportSource #pages */
import {
  type AboutMemory,
  FOUND_BY,
  FOUND_HEADINGS,
  type FoundAbout,
  type FoundBy,
  type Receipt,
  receiptText,
  STAYS_ELSEWHERE,
} from "../../memories/model/forgetting.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Choice, Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Done, EmptyState, Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf, titleOf } from "../../text/excerpt.ts";
import { memoryCount, peopleCount } from "../../text/number-text.ts";
import { viewPath } from "../memories/memories-view.ts";
import { HELP_PATH, MEMORY_PATHS, memoryPath, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";

/** The forms after the search, and the receipt as a page and as a file. */
export const FORGET_PATHS = {
  ask: `${MEMORY_PATHS.forget}/ask`,
  receipt: `${MEMORY_PATHS.forget}/receipt`,
  file: `${MEMORY_PATHS.forget}/receipt/file`,
} as const;

/** Memories that the page shows of each group, and sessions. Those of the first group may be deleted with the others. */
const SHOWN: Record<FoundBy, number> = { text: 25, fields: 8, version: 5, perhaps: 8 };
const MAX_SESSIONS = 5;
/** Characters of a text. */
const EXCERPT = 120;

/** The memories of a group, and how many of them the page shows. */
export function shownOf(memories: readonly AboutMemory[], kind: FoundBy): AboutMemory[] {
  return memories.filter(({ found_by }) => found_by === kind).slice(0, SHOWN[kind]);
}

/** The page that finds all about a person or a subject, and lets the person choose what is deleted. */
export function ForgetPage({
  visit,
  subject,
  found,
}: {
  visit: Visit;
  subject: string;
  /** Null before a search. */
  found: FoundAbout | null;
}) {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Forget a person or a subject"
      lead={
        <>
          Finds all that is kept about somebody or something, and deletes it permanently with a
          receipt. <a href={`${HELP_PATH}/security#forget-a-person`}>What it covers</a>
        </>
      }
    >
      <PostForm action={MEMORY_PATHS.forget} token={visit.token}>
        <div class="search-line">
          <Field
            label="A name, or words for a subject"
            name="subject"
            type="search"
            value={subject}
            maxlength={2000}
            autocomplete="off"
            required={true}
          />
          <Button>Find</Button>
        </div>
      </PostForm>
      {found && found.memories.length === 0 && (
        <EmptyState title="Nothing is kept about this">
          <p>No text, tag or other property of a memory names it.</p>
        </EmptyState>
      )}
      {found && found.memories.length > 0 && <Choices {...{ visit, subject, found }} />}
    </Page>
  );
}

function Choices({ visit, subject, found }: { visit: Visit; subject: string; found: FoundAbout }) {
  const { memories, more } = found;
  const countOf = (kind: FoundBy) => memories.filter(({ found_by }) => found_by === kind).length;
  const unshown = countOf("text") - shownOf(memories, "text").length;
  return (
    <PostForm action={FORGET_PATHS.ask} token={visit.token}>
      <input type="hidden" name="subject" value={subject} />
      {FOUND_BY.filter((kind) => countOf(kind) > 0).map((kind) => (
        <section aria-labelledby={`found-${kind}`}>
          <h2
            id={`found-${kind}`}
          >{`${FOUND_HEADINGS[kind]} (${countOf(kind).toLocaleString("en")})`}</h2>
          <ul class="memories">
            {shownOf(memories, kind).map((memory) => (
              <li>
                <Found memory={memory} />
              </li>
            ))}
          </ul>
          {kind === "text" && unshown > 0 && (
            <Choice name="others" value="1" checked={true}>
              {`and ${memoryCount(unshown)} more that name it`}
            </Choice>
          )}
          {kind !== "text" && countOf(kind) > SHOWN[kind] && (
            <p class="hint">{`and ${countOf(kind) - SHOWN[kind]} more`}</p>
          )}
        </section>
      ))}
      {more > 0 && <p>{`There are ${memoryCount(more)} more: search again afterwards.`}</p>}
      <Stays {...found} />
      {visit.place?.space && (
        <Notice>
          {`These are memories of the space “${visit.place.space.name}”. They are deleted for all its ${peopleCount(visit.place.people)}.`}
        </Notice>
      )}
      <div class="actions">
        <Button kind="danger">Delete the selected memories</Button>
        <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
      </div>
    </PostForm>
  );
}

/** A found memory with its box, which is ticked if its text names the subject. */
function Found({ memory }: { memory: AboutMemory }) {
  const { id, excerpt, created_at, project, found_by, captured, superseded } = memory;
  return (
    <article class="memory">
      <label class="memory-box">
        <input
          type="checkbox"
          name="id"
          value={id}
          checked={found_by === "text"}
          aria-label={`Delete “${titleOf(excerpt)}”`}
        />
      </label>
      <a class="memory-text" href={memoryPath(id)}>
        <bdi>{excerptOf(excerpt, EXCERPT)}</bdi>
      </a>
      <div class="memory-facts">
        {superseded && <span>Superseded</span>}
        {captured && <span>Captured</span>}
        {project !== null && (
          <span>
            <span class="hidden-text">Project </span>
            <bdi>{titleOf(project)}</bdi>
          </span>
        )}
      </div>
      <span class="memory-time">
        <Moment at={new Date(created_at)} />
      </span>
    </article>
  );
}

/** What is not deleted. */
function Stays({ sessions, spaces }: FoundAbout) {
  return (
    <section class="panel" aria-labelledby="stays">
      <h2 id="stays">What stays</h2>
      <ul>
        <li>What is not selected above. A tag or a project keeps its name.</li>
        {sessions.slice(0, MAX_SESSIONS).map(({ session_id, others }) => (
          <li>
            <a href={viewPath({ session_id, history: "1" })}>{memoryCount(others)}</a>
            {" of the session "}
            <bdi>{titleOf(session_id)}</bdi>
          </li>
        ))}
        {sessions.length > MAX_SESSIONS && (
          <li>{`Memories of ${sessions.length - MAX_SESSIONS} other sessions`}</li>
        )}
        {spaces.map(({ space, memories }) => (
          <li>
            {`${memoryCount(memories)} in the space `}
            <bdi>{space}</bdi>
          </li>
        ))}
        {STAYS_ELSEWHERE.map((each) => (
          <li>{each}</li>
        ))}
      </ul>
    </section>
  );
}

/** The page with the receipt of a deletion. */
export function ReceiptPage({
  visit,
  id,
  receipt,
}: {
  visit: Visit;
  id: string;
  receipt: Receipt;
}) {
  const query = `?${new URLSearchParams({ id })}`;
  const hasLeft = receipt.left_files_at !== null;
  return (
    <Page visit={visit} section="memories" title="Deleted, with a receipt">
      <Done>
        {`${memoryCount(receipt.deleted)} deleted. `}
        {hasLeft
          ? "No file of this server has their data any more."
          : "Their data leaves the files of this server within a minute."}
      </Done>
      <div class="panel">
        <pre tabindex={0}>{receiptText(receipt)}</pre>
        <p class="hint">It is kept here for an hour. Download it if you must show it.</p>
        <div class="actions">
          <ButtonLink href={FORGET_PATHS.file + query} kind="main">
            Download the receipt
          </ButtonLink>
          {!hasLeft && (
            <ButtonLink href={FORGET_PATHS.receipt + query}>Check the files again</ButtonLink>
          )}
          <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
        </div>
      </div>
    </Page>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../../memories/model/memory.ts";
import type { Fading } from "../../memories/ranking/retention.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf, titleOf } from "../../text/excerpt.ts";
import { parseEnd } from "../../text/input-kinds.ts";
import { foreignMarkdown } from "../markdown.tsx";
import { AsOf } from "../memories/as-of.tsx";
import { newPath } from "../memories/memories-page.tsx";
import { viewPath } from "../memories/memories-view.ts";
import { memoryPath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import { mayChange, type Visit } from "../session.ts";
import { MemoryHistory } from "./memory-history.tsx";
import { MemoryFading, MemoryProperties } from "./memory-properties.tsx";

/** A text with more characters or lines is folded. */
const MAX_CHARACTERS = 1_500;
const MAX_LINES = 20;

const TEXT_ID = "memory-text";

/**
 * The full text of a memory, with its tags and copy buttons.
 * @param way `all` for the whole text, `raw` for the whole text as it was written; else a long text is folded
 */
function MemoryText({
  memory: { id, content, tags },
  way,
  day,
}: {
  memory: Memory;
  way: string | null;
  day: string;
}) {
  const characters = [...content].length;
  const isLong =
    characters > MAX_CHARACTERS || content.split("\n", MAX_LINES + 1).length > MAX_LINES;
  const isFolded = isLong && way === null;
  const plain = <p>{content}</p>;
  const formatted = foreignMarkdown(content) ?? plain;
  const path = (show: string) => {
    const parameters = new URLSearchParams({ ...(show && { show }), ...(day && { as_of: day }) });
    return `${memoryPath(id)}${parameters.size > 0 ? `?${parameters}` : ""}#${TEXT_ID}`;
  };
  const json = `/api${memoryPath(id)}`;
  return (
    <article class="panel memory-article">
      <div id={TEXT_ID} class={isFolded ? "memory-content folded" : "memory-content"} dir="auto">
        {way === "raw" ? plain : formatted}
      </div>
      {isFolded && (
        <p class="unfold">
          <a href={path("all")}>{`Show all ${characters.toLocaleString("en")} characters`}</a>
        </p>
      )}
      <div class="memory-foot spread">
        {tags.length > 0 && (
          <ul class="memory-tags" aria-label="Tags">
            {tags.map((tag) => (
              <li>
                <a class="badge" href={viewPath({ tags: tag })}>
                  <bdi>{tag}</bdi>
                </a>
              </li>
            ))}
          </ul>
        )}
        <div class="actions">
          {String(formatted) !== String(plain) && (
            <a class="button plain small" href={path(way === "raw" ? "" : "raw")}>
              {way === "raw" ? "Show formatted" : "Show as written"}
            </a>
          )}
          {COPIES.map(([label, field]) => (
            <button
              type="button"
              class="plain small"
              data-copy-url={json}
              data-copy-field={field}
              hidden={true}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
    </article>
  );
}

/** Buttons that copy a field of the memory, or all of it. */
const COPIES = [
  ["Copy text", "content"],
  ["Copy as JSON", undefined],
] as const;

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
  /** Kinds of the secrets in the memory, if there are any. */
  secrets: string | undefined;
  /** Memories with a similar meaning, most similar first, with score 1 for the same text; `null` while not known yet. */
  similar: readonly { memory: Memory; score: number }[] | null;
}

/** The page of one memory. */
export function MemoryPage({
  visit,
  memory,
  day,
  context,
}: {
  visit: Visit;
  memory: Memory;
  /** A day in the past on which the page shows the history; empty for the present. */
  day: string;
  context: Context;
}) {
  const { history, current, fading, before, after, secrets, similar } = context;
  return (
    <Page
      visit={visit}
      section="memories"
      title="Memory"
      actions={mayChange(visit) ? <Actions visit={visit} memory={memory} /> : undefined}
    >
      <AsOf day={day} back={memoryPath(memory.id)} />
      {day !== "" && <Since memory={memory} day={day} isOld={current !== null} />}
      {current && (
        <Notice>
          {day === ""
            ? "This memory is out of date. The current one: "
            : "Another version held then: "}
          <a href={memoryPath(current.id, day)}>
            <bdi>{titleOf(current.content)}</bdi>
          </a>
        </Notice>
      )}
      {secrets !== undefined && (
        <Notice>
          {`This memory contains what looks like a secret: ${secrets}. `}
          {mayChange(visit) ? (
            <a href={`${memoryPath(memory.id)}/edit`}>Remove it from the text</a>
          ) : (
            "Ask who wrote it to remove it from the text"
          )}
          , and replace the secret where it is used if others may have seen it.
        </Notice>
      )}
      <div class="memory-page">
        <MemoryText memory={memory} way={visit.url.searchParams.get("show")} day={day} />
        <aside>
          <MemoryProperties memory={memory} />
          {memory.superseded_by === null && day === "" && (
            <MemoryFading memory={memory} fading={fading} />
          )}
        </aside>
        <div class="memory-related">
          <MemoryHistory memory={memory} history={history} current={current ?? memory} day={day} />
          <SessionMemories memory={memory} before={before} after={after} day={day} />
          <SimilarMemories similar={similar} />
        </div>
      </div>
    </Page>
  );
}

/** What has happened to a memory since a day. */
function Since({ memory, day, isOld }: { memory: Memory; day: string; isOld: boolean }) {
  const { superseded_by, created_at, updated_at } = memory;
  const end = parseEnd(day) ?? Number.POSITIVE_INFINITY;
  if (Date.parse(created_at) > end) return <Notice>This memory did not exist then.</Notice>;
  const isChanged = Date.parse(updated_at) > end;
  const isSuperseded = superseded_by !== null && !isOld;
  if (!isChanged && !isSuperseded) return Fragment({});
  return (
    <Notice>
      {isChanged && "This memory has been changed since then. "}
      {isSuperseded && (
        <>
          It held then, and <a href={memoryPath(superseded_by)}>has been superseded since</a>.
        </>
      )}
    </Notice>
  );
}

function Actions({ visit, memory }: { visit: Visit; memory: Memory }) {
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

/** Memories of the same session that are shown: at most three before and three after the memory. */
export const MAX_SESSION_MEMORIES = 3;
/** Memories with a similar meaning that are shown. */
export const MAX_SIMILAR = 5;

/** Characters of each text that are shown. */
const EXCERPT = 160;

/** The memories of the same session around this one, oldest first. Renders nothing if there are none. */
function SessionMemories({
  memory,
  before,
  after,
  day,
}: Pick<Context, "before" | "after"> & { memory: Memory; day: string }) {
  if (before.length + after.length === 0) return Fragment({});
  return (
    <section>
      <h2>In the same session</h2>
      <ol class="related">
        {[...before, memory, ...after].map((each) => (
          <li aria-current={each === memory ? "true" : undefined}>
            <Title memory={each} day={day} />
            <Moment at={new Date(each.created_at)} />
          </li>
        ))}
      </ol>
      <p class="hint">
        <a href={viewPath({ session_id: memory.session_id ?? "", history: "1", as_of: day })}>
          Show the whole session
        </a>
      </p>
    </section>
  );
}

/** The memories with a similar meaning, most similar first. Renders nothing if there are none. */
export function SimilarMemories({ similar }: Pick<Context, "similar">) {
  if (similar?.length === 0) return Fragment({});
  return (
    <section>
      <h2>Similar memories</h2>
      {similar === null ? (
        <p class="faint">
          The server is still loading your memories. Reload this page in a moment.
        </p>
      ) : (
        <>
          <ol class="related">
            {similar.map(({ memory, score }) => (
              <li>
                <Title memory={memory} />
                <span class="score-total">{score.toFixed(2)}</span>
              </li>
            ))}
          </ol>
          <p class="hint">1: the same text. 0: no more alike than any two texts.</p>
        </>
      )}
    </section>
  );
}

function Title({ memory: { id, content }, day = "" }: { memory: Memory; day?: string }) {
  return (
    <a class="memory-text" href={memoryPath(id, day)}>
      <bdi>{excerptOf(content, EXCERPT)}</bdi>
    </a>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { excerptOf } from "./excerpt.ts";
import { viewPath } from "./memories-view.ts";
import type { Surroundings } from "./memory-page.tsx";
import { PATHS } from "./navigation.tsx";

/** Memories of a session that are shown before and after one, and what is near it. */
export const MOST_BESIDE = 3;
export const MOST_NEAR = 5;

/** Characters of a text that is shown. */
const EXCERPT = 160;

/** What was saved in the same session before and after a memory, the oldest first; nothing where nothing was. */
export function InSession({
  memory,
  before,
  after,
}: {
  memory: Memory;
  before: readonly Memory[];
  after: readonly Memory[];
}): Markup {
  if (before.length + after.length === 0) return Fragment({});
  return (
    <section>
      <h2>Around it in its session</h2>
      <ol class="beside">
        {[...before, memory, ...after].map((each) => (
          <li aria-current={each === memory ? "true" : undefined}>
            <Title memory={each} />
            <Moment at={new Date(each.created_at)} />
          </li>
        ))}
      </ol>
      <p class="hint">
        <a href={viewPath({ session_id: memory.session_id ?? "", history: "1" })}>
          All of the session
        </a>
      </p>
    </section>
  );
}

/** What is near a memory in meaning, the nearest first; nothing where nothing is. */
export function NearIt({ near }: Pick<Surroundings, "near">): Markup {
  if (near === null) {
    return (
      <section>
        <h2>Near it in meaning</h2>
        <p class="faint">
          The server is still reading your memories. Open the page again in a moment.
        </p>
      </section>
    );
  }
  if (near.length === 0) return Fragment({});
  return (
    <section>
      <h2>Near it in meaning</h2>
      <ol class="beside">
        {near.map(({ memory, score }) => (
          <li>
            <Title memory={memory} />
            <span class="score-total">{score.toFixed(2)}</span>
          </li>
        ))}
      </ol>
      <p class="hint">1 is the same text, and 0 what any two texts have in common.</p>
    </section>
  );
}

function Title({ memory: { id, content } }: { memory: Memory }): Markup {
  return (
    <a class="memory-text" href={`${PATHS.memories}/${id}`}>
      <bdi>{excerptOf(content, EXCERPT)}</bdi>
    </a>
  );
}

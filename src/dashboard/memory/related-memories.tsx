/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Memory } from "../../memories/model/memory.ts";
import { Fragment, type Markup } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf } from "../excerpt.ts";
import { viewPath } from "../memories/memories-view.ts";
import { memoryPath } from "../navigation.tsx";

/** Memories of the same session that are shown: at most three before and three after the memory. */
export const MAX_SESSION_MEMORIES = 3;
/** Memories with a similar meaning that are shown. */
export const MAX_SIMILAR = 5;

/** Characters of each text that are shown. */
const EXCERPT = 160;

/** The memories of the same session around this one, oldest first. Renders nothing if there are none. */
export function SessionMemories({
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
      <h2>In the same session</h2>
      <ol class="related">
        {[...before, memory, ...after].map((each) => (
          <li aria-current={each === memory ? "true" : undefined}>
            <Title memory={each} />
            <Moment at={new Date(each.created_at)} />
          </li>
        ))}
      </ol>
      <p class="hint">
        <a href={viewPath({ session_id: memory.session_id ?? "", history: "1" })}>
          Show the whole session
        </a>
      </p>
    </section>
  );
}

/** A memory with a similar meaning; the score is 1 for the same text. */
export interface SimilarMemory {
  readonly memory: Memory;
  readonly score: number;
}

/** The memories with a similar meaning, most similar first. Renders nothing if there are none. */
export function SimilarMemories({ similar }: { similar: readonly SimilarMemory[] | null }): Markup {
  if (similar === null) {
    return (
      <section>
        <h2>Similar memories</h2>
        <p class="faint">
          The server is still loading your memories. Reload this page in a moment.
        </p>
      </section>
    );
  }
  if (similar.length === 0) return Fragment({});
  return (
    <section>
      <h2>Similar memories</h2>
      <ol class="related">
        {similar.map(({ memory, score }) => (
          <li>
            <Title memory={memory} />
            <span class="score-total">{score.toFixed(2)}</span>
          </li>
        ))}
      </ol>
      <p class="hint">1 is the same text. 0 is what any two texts have in common.</p>
    </section>
  );
}

function Title({ memory: { id, content } }: { memory: Memory }): Markup {
  return (
    <a class="memory-text" href={memoryPath(id)}>
      <bdi>{excerptOf(content, EXCERPT)}</bdi>
    </a>
  );
}

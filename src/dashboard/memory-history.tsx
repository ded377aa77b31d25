/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { nameOf } from "./memory-item.tsx";
import { PATHS } from "./navigation.tsx";

/** Memories of a history that a page shows. */
export const MOST_OF_HISTORY = 50;

/** What was true and what is, the newest first; nothing where it was ever the same. */
export function MemoryHistory({
  memory,
  history,
}: {
  memory: Memory;
  history: readonly Memory[];
}): Markup {
  if (history.length < 2) return Fragment({});
  return (
    <section class="panel">
      <h2>History</h2>
      <ol class="history">
        {history.map((each) => (
          <li aria-current={each.id === memory.id ? "true" : undefined}>
            <a class="memory-text" href={`${PATHS.memories}/${each.id}`}>
              <bdi>{nameOf(each.content)}</bdi>
            </a>
            <span class="faint">
              <Moment at={new Date(each.created_at)} />
              {each.superseded_by === null ? ", true now" : ""}
            </span>
          </li>
        ))}
      </ol>
      {history.length === MOST_OF_HISTORY && (
        <p class="hint">
          <a href={`${PATHS.memories}/${history.at(-1)?.id}`}>Older ones</a>
        </p>
      )}
    </section>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { viewPath } from "./memories-view.ts";

/** A text with more characters or lines than these is folded. */
const LONG = 1_500;
const MANY_LINES = 20;

/** Addresses in a text, without the marks that end a sentence, and without what is not seen. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"'`]+[^\s\p{C}<>"'`.,;:!?)\]}]/giu;
/** Addresses of a text that are links: more would be too many to step through. */
const MOST_LINKS = 20;
const TEXT_ID = "memory-text";

/** What a memory says, set to be read, with its tags and what copies it. */
export function MemoryText({ memory: { id, content, tags } }: { memory: Memory }): Markup {
  const characters = [...content].length;
  const isLong = characters > LONG || content.split("\n", MANY_LINES + 1).length > MANY_LINES;
  return (
    <article class="panel memory-article">
      <p id={TEXT_ID} class={isLong ? "memory-content folded" : "memory-content"} dir="auto">
        {withLinks(content)}
      </p>
      {isLong && (
        <label class="unfold">
          <input type="checkbox" autocomplete="off" />
          Show all {characters.toLocaleString("en")} characters
        </label>
      )}
      <div class="memory-foot">
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
          <button type="button" class="plain small" data-copy-from={TEXT_ID} hidden={true}>
            Copy text
          </button>
          <button
            type="button"
            class="plain small"
            data-copy-url={`/api/memories/${id}`}
            hidden={true}
          >
            Copy as JSON
          </button>
        </div>
      </div>
    </article>
  );
}

/** A text whose first web addresses are links. Where they lead, nobody learns what is read here. */
function withLinks(text: string): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const { 0: address, index } of text.matchAll(ADDRESS).take(MOST_LINKS)) {
    parts.push(
      text.slice(end, index),
      <a href={address} rel="noreferrer nofollow">
        {address}
      </a>,
    );
    end = index + address.length;
  }
  return [...parts, text.slice(end)];
}

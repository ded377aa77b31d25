/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../../memories/model/memory.ts";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { viewPath } from "../memories/memories-view.ts";

/** A text with more characters or lines is folded. */
const MAX_CHARACTERS = 1_500;
const MAX_LINES = 20;

/** Web addresses in a text, without punctuation that ends a sentence and without invisible characters. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"'`]+[^\s\p{C}<>"'`.,;:!?)\]}]/giu;
/** Addresses that become links. More would be tedious for the keyboard. */
const MAX_LINKS = 20;
const TEXT_ID = "memory-text";

/** The full text of a memory, with its tags and copy buttons. */
export function MemoryText({ memory: { id, content, tags } }: { memory: Memory }): Markup {
  const characters = [...content].length;
  const isLong =
    characters > MAX_CHARACTERS || content.split("\n", MAX_LINES + 1).length > MAX_LINES;
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

/** The text with its first web addresses as links. The linked sites do not receive the address of this page. */
function withLinks(text: string): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const { 0: address, index } of text.matchAll(ADDRESS).take(MAX_LINKS)) {
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

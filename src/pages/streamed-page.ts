import { Markup } from "./jsx-runtime.ts";

/** Marks the place of the streamed parts in a page. Text is escaped, so no other content looks like it. */
export const SLOT = Markup.element("template", { id: "to-come" });

/**
 * Streams a page without scripts: its beginning at once, then each part in place of `SLOT`, and its end after the
 * last part.
 */
export async function* streamPage(
  page: Markup,
  parts: AsyncIterable<Markup>,
): AsyncGenerator<string, void> {
  const [before = "", after = ""] = `<!doctype html>\n${page}\n`.split(`${SLOT}`);
  yield before;
  for await (const part of parts) yield `${part}`;
  yield after;
}

import { Markup } from "./jsx-runtime.ts";

/** What a page has where the rest of it is to come. Text is escaped: nothing else looks like it. */
export const SLOT = Markup.element("template", { id: "to-come" });

/**
 * A page that is sent as it is made: its beginning at once, then each part in the place of `SLOT`,
 * and its end after the last one. It needs no script.
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

import { Value } from "@sinclair/typebox/value";
import { PICTURES } from "../../pages/assets.ts";
import { type Child, jsx } from "../../pages/jsx-runtime.ts";
import { ReadElement, toChild } from "../markdown.tsx";
import { HELP_PATH } from "../navigation.tsx";

const parse = (text: string): unknown =>
  Bun.markdown.react(text, undefined, { headings: { ids: true } });

/** Renders Markdown as part of a page. HTML in the Markdown is shown as text. */
export function markdown(text: string): Child {
  const read = parse(text);
  for (const block of insideOf(read)) nameColumns(block);
  return toChild(read, (name, { src, alt, href, align, id, column }, children) => {
    if (name === "img") return jsx(name, { src: PICTURES[`${src}`]?.path, alt: `${alt}` });
    return jsx(name, {
      ...(typeof id === "string" && { id }),
      ...(typeof href === "string" && { href: served(href) }),
      ...(typeof align === "string" && { align }),
      ...(typeof column === "string" && { "data-label": column }),
      children,
    });
  });
}

const insideOf = (read: unknown): readonly unknown[] =>
  Value.Check(ReadElement, read) ? [read.props.children].flat() : [];

/** Most columns of a table that a reader still tells apart when a phone shows its cells below each other. */
const MOST_UNNAMED = 2;

/** Names the columns of a wide table in its cells. */
function nameColumns(block: unknown): void {
  if (!Value.Check(ReadElement, block) || block.type !== "table") return;
  const [head, body] = insideOf(block);
  const names = insideOf(insideOf(head)[0]).map((cell) => plain(cell).trim());
  if (names.length <= MOST_UNNAMED) return;
  for (const row of insideOf(body))
    for (const [index, cell] of insideOf(row).entries())
      if (index > 0 && Value.Check(ReadElement, cell)) cell.props.column = names[index];
}

/** The address of a link. Pages name each other by their files, so that the links also work in an editor and on GitHub. */
function served(href: string): string {
  return href.replace(/^([\w-]+)\.md(?=#|$)/, `${HELP_PATH}/$1`);
}

/** A heading of a page with the text below it, up to the next heading. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The sections of a page in Markdown, as plain text. */
export function sectionsOf(text: string): readonly Section[] {
  const sections: { id: string; title: string; text: string }[] = [];
  for (const block of insideOf(parse(text))) {
    const words = plain(block).replaceAll(/\s+/g, " ").trim();
    const id = Value.Check(ReadElement, block) ? block.props.id : undefined;
    const last = sections.at(-1);
    if (typeof id === "string") sections.push({ id, title: words, text: "" });
    else if (last) last.text += `${words} `;
  }
  return sections;
}

const INLINE = ["a", "code", "del", "em", "strong"];

/** The text of an element, with spaces between blocks and cells. */
function plain(read: unknown): string {
  if (typeof read === "string") return read;
  if (Array.isArray(read)) return read.map(plain).join("");
  if (!Value.Check(ReadElement, read)) return "";
  const text = plain(read.props.children);
  return INLINE.includes(String(read.type)) ? text : `${text} `;
}

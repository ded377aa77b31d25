/** @jsxRuntime automatic @jsxImportSource #pages */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Child, Fragment, jsx, type Markup } from "../pages/jsx-runtime.ts";

/** Elements in the output of Bun's Markdown parser have the form of React's. */
export const ReadElement = Type.Object({
  type: Type.Unknown(),
  props: Type.Record(Type.String(), Type.Unknown()),
});
type Attributes = Readonly<Record<string, unknown>>;

/** Renders an element with its content. `undefined` renders it as it is, without attributes. */
type RenderElement = (name: string, attributes: Attributes, children: Child) => Markup | undefined;

type RenderText = (text: string) => Child;
const asItIs: RenderText = (text) => text;
/** Elements whose text has no links. */
const VERBATIM: ReadonlySet<unknown> = new Set(["a", "code", "pre"]);

/** Renders the output of the parser. */
export function toChild(read: unknown, render: RenderElement, renderText = asItIs): Child {
  if (typeof read === "string") return renderText(read);
  if (Array.isArray(read)) return read.map((each) => toChild(each, render, renderText));
  if (!Value.Check(ReadElement, read)) return null;
  const { children: inside, ...attributes } = read.props;
  const children = toChild(inside, render, VERBATIM.has(read.type) ? asItIs : renderText);
  if (typeof read.type !== "string") return Fragment({ children });
  // The keyboard must be able to scroll code, and a wide table.
  if (read.type === "pre") return jsx("pre", { tabindex: 0, children: jsx("code", { children }) });
  return render(read.type, attributes, children) ?? jsx(read.type, { children });
}

/** Larger texts are not rendered: their page would be too large, or would block other requests. */
const MAX = { elements: 2_000, depth: 40, cells: 2_000, links: 20 };
/** What may become a link: not of this server, and without invisible characters. */
const ADDRESS = /^(?:https?:\/\/|mailto:)[^\s\p{C}<>"'`\\]+$/iu;
/** Addresses in a text, without punctuation that ends a sentence. */
const IN_TEXT = /https?:\/\/[^\s\p{C}<>"'`\\]+[^\s\p{C}<>"'`\\.,;:!?)\]}]/giu;
const PLAIN: ReadonlySet<string> = new Set(
  "p br hr blockquote ul thead tbody tr td em strong del code".split(" "),
);

/**
 * Renders the Markdown of a memory, which anyone may have written. It makes no request: pictures are links. HTML is
 * shown as text. Headings are all of level 2, since they need not be in an order. Returns null for a text that is too
 * large to be rendered.
 */
export function foreignMarkdown(text: string): Markup | null {
  const read = Bun.markdown.react(text, undefined, {
    noHtmlBlocks: true,
    noHtmlSpans: true,
    noIndentedCodeBlocks: true,
    // Each row is filled up to the width of its table, which may be a thousand times as much as the text.
    tables: mostCells(text) <= MAX.cells,
  });
  if (!isSmall(read)) return null;
  const link = createLinks();
  const withLinks: RenderText = (text) => {
    let end = 0;
    const parts = [...text.matchAll(IN_TEXT)].flatMap(({ 0: address, index }) => {
      const before = text.slice(end, index);
      end = index + address.length;
      return [before, link(address, address)];
    });
    return [...parts, text.slice(end)];
  };
  return <>{toChild(read, createForeignElements(link), withLinks)}</>;
}

type Link = (address: string, children: Child) => Markup;

/** Makes the links of one text: more would be tedious for the keyboard. Linked sites do not receive the page's address. */
function createLinks(): Link {
  let links = 0;
  return (address, children) => {
    if (!ADDRESS.test(address) || ++links > MAX.links) return Fragment({ children });
    return (
      <a href={address} rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  };
}

/** Renders the elements of a text of others. */
function createForeignElements(link: Link): RenderElement {
  const special: Record<string, (attributes: Attributes, children: Child) => Markup | undefined> = {
    a: ({ href }, children) => link(`${href}`, isEmpty(children) ? `${href}` : children),
    img: ({ src, alt }) =>
      Fragment({ children: [alt ? `${alt}: ` : "", link(`${src}`, `${src}`)] }),
    li: ({ checked }, children) =>
      checked === undefined
        ? undefined
        : jsx("li", { class: "task", children: [checked ? "☑ " : "☐ ", children] }),
    ol: ({ start }, children) => jsx("ol", { start: Number(start), children }),
    table: (_, children) => jsx("table", { tabindex: 0, children }),
    th: (_, children) => jsx(isEmpty(children) ? "td" : "th", { children }),
  };
  return (name, attributes, children) => {
    if (special[name]) return special[name](attributes, children);
    if (PLAIN.has(name)) return undefined;
    // Headings without a text would be announced as such.
    const isHeading = /^h\d$/.test(name) && !isEmpty(children);
    return isHeading ? jsx("h2", { class: name, children }) : Fragment({ children });
  };
}

const isEmpty = (children: Child) => Array.isArray(children) && children.length === 0;

/** The most cells that a table of a text can have. */
function mostCells(text: string): number {
  const lines = text.split("\n");
  return lines.length * Math.max(...lines.map((line) => line.split("|").length));
}

function isSmall(read: unknown): boolean {
  let level: unknown[] = [read];
  let elements = 0;
  for (let depth = 0; level.length > 0; depth++) {
    elements += level.length;
    if (elements > MAX.elements || depth > MAX.depth) return false;
    level = level.flatMap((each) => (Value.Check(ReadElement, each) ? each.props.children : []));
  }
  return true;
}

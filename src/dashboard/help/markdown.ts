import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Child, Fragment, jsx } from "../../pages/jsx-runtime.ts";

/** An element in the output of Bun's Markdown parser, which has the form of React's. */
const ReadElement = Type.Object({
  type: Type.Unknown(),
  props: Type.Record(Type.String(), Type.Unknown()),
});

/** Renders Markdown as part of a page. HTML in the Markdown is shown as text. */
export function markdown(text: string): Child {
  return toChild(Bun.markdown.react(text, undefined, { headings: { ids: true } }));
}

function toChild(read: unknown): Child {
  if (typeof read === "string") return read;
  if (Array.isArray(read)) return read.map(toChild);
  if (!Value.Check(ReadElement, read)) return null;
  const { children: inside, href, align, id } = read.props;
  const children = toChild(inside);
  if (typeof read.type !== "string") return Fragment({ children });
  // The keyboard must be able to scroll code.
  if (read.type === "pre") return jsx("pre", { tabindex: 0, children: jsx("code", { children }) });
  return jsx(read.type, {
    ...(typeof id === "string" && { id }),
    ...(typeof href === "string" && { href }),
    ...(typeof align === "string" && { align }),
    children,
  });
}

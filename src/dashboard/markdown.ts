import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Child, Fragment, jsx } from "../pages/jsx-runtime.ts";

/** What Bun's reader of Markdown makes: elements as React has them, texts and lists of both. */
const ReadElement = Type.Object({
  type: Type.Unknown(),
  props: Type.Record(Type.String(), Type.Unknown()),
});

/** Markdown as part of a page. What it has in HTML is text. */
export function markdown(text: string): Child {
  return toChild(Bun.markdown.react(text));
}

function toChild(read: unknown): Child {
  if (typeof read === "string") return read;
  if (Array.isArray(read)) return read.map(toChild);
  if (!Value.Check(ReadElement, read)) return null;
  const { children: inside, href, align } = read.props;
  const children = toChild(inside);
  if (typeof read.type !== "string") return Fragment({ children });
  // Code is scrolled with the keyboard too.
  if (read.type === "pre") return jsx("pre", { tabindex: 0, children: jsx("code", { children }) });
  return jsx(read.type, {
    ...(typeof href === "string" && { href }),
    ...(typeof align === "string" && { align }),
    children,
  });
}

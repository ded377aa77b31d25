import { attributesToString, escapeHtml, isVoidElement } from "@kitajs/html";

/**
 * The JSX runtime of our pages. The library renders attributes and knows the elements; but its own
 * runtime takes every child for markup unless it is told otherwise each time, and its lint for that
 * does not run on our compiler. Here text is escaped because of its type: only what JSX made is
 * markup.
 */
export class Markup {
  readonly #html: string;

  private constructor(html: string) {
    this.#html = html;
  }

  static element(name: string, { children, ...attributes }: Props): Markup {
    const opening = `<${name}${attributesToString(escapeValues(attributes))}>`;
    return new Markup(isVoidElement(name) ? opening : `${opening}${render(children)}</${name}>`);
  }

  static fragment(children: Child): Markup {
    return new Markup(render(children));
  }

  toString(): string {
    return this.#html;
  }
}

/** What may stand between two tags. `null`, `undefined` and booleans are nothing. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[];

interface Props {
  children?: Child;
  [name: string]: unknown;
}

/** The library leaves `&` as it is, by which `&lt` in a value would come back as `<`. */
function escapeValues(attributes: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" ? escapeHtml(value) : value,
    ]),
  );
}

function render(child: Child): string {
  if (child === null || child === undefined || typeof child === "boolean") return "";
  if (child instanceof Markup) return child.toString();
  if (typeof child === "object") return child.map(render).join("");
  return escapeHtml(String(child));
}

/** Makes an element, or calls a component. The compiler writes these calls. */
export function jsx(type: string | ((props: Props) => Markup), props: Props): Markup {
  return typeof type === "function" ? type(props) : Markup.element(type, props);
}

export { jsx as jsxDEV, jsx as jsxs };

/** `<>…</>` */
export function Fragment({ children }: { children?: Child }): Markup {
  return Markup.fragment(children);
}

type Elements = globalThis.JSX.IntrinsicElements;
/** Attributes whose text would be markup or code, and ones that only the library's runtime has. */
type Unsafe = "children" | "safe" | "attrs" | "style" | "srcdoc" | `on${string}`;

/** What the compiler checks JSX against. */
export namespace JSX {
  export type Element = Markup;
  export interface ElementChildrenAttribute {
    // biome-ignore lint/complexity/noBannedTypes: its name is all that counts.
    children: {};
  }
  export type IntrinsicElements = {
    [Name in Exclude<keyof Elements, "script" | "style">]: Omit<Elements[Name], Unsafe> & {
      children?: Child;
    };
  } & {
    /** A script of ours by its path: the policy of pages allows no other. */
    script: { src: string; defer: true };
  };
}

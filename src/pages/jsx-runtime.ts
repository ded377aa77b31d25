import { attributesToString, escapeHtml, isVoidElement } from "@kitajs/html";

/**
 * The JSX runtime of our pages. The library renders attributes and has the types of elements. Its own runtime treats
 * every string as markup unless the code escapes it, and its lint rule for that does not run with our compiler. Here
 * the type decides: strings are escaped, and only values made by JSX are markup.
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

/** The content of an element. `null`, `undefined` and booleans render nothing. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[];

interface Props {
  children?: Child;
  [name: string]: unknown;
}

/** Escapes attribute values. The library leaves `&` as it is, so a browser would read `&lt` in a value as `<`. */
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

/** Makes an element or calls a component. The compiler generates these calls. */
export function jsx(type: string | ((props: Props) => Markup), props: Props): Markup {
  return typeof type === "function" ? type(props) : Markup.element(type, props);
}

export { jsx as jsxDEV, jsx as jsxs };

/** `<>…</>` */
export function Fragment({ children }: { children?: Child }): Markup {
  return Markup.fragment(children);
}

type Elements = globalThis.JSX.IntrinsicElements;
/** Attributes whose value would be markup or code, and attributes of the library's own runtime. */
type Unsafe = "children" | "safe" | "attrs" | "style" | "srcdoc" | `on${string}`;

/** The types against which the compiler checks JSX. */
export namespace JSX {
  export type Element = Markup;
  export interface ElementChildrenAttribute {
    // biome-ignore lint/complexity/noBannedTypes: TypeScript reads only the name of the property.
    children: {};
  }
  export type IntrinsicElements = {
    [Name in Exclude<keyof Elements, "script" | "style">]: Omit<Elements[Name], Unsafe> & {
      children?: Child;
    };
  } & {
    /** A script by its path. The content security policy allows only scripts of this server. */
    script: { src: string; defer: true };
  };
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "./jsx-runtime.ts";

/** `main`: the one thing that a page is for. `danger`: what can't be undone. `link`: looks like text. */
export type ButtonKind = "main" | "plain" | "danger" | "link";

interface ButtonProps {
  kind?: ButtonKind;
  /** With `value`: what the form says when this button has sent it. */
  name?: string;
  value?: string;
  /** The form that it sends, when it stands outside of that. */
  form?: string;
  children?: Child;
}

/** Sends its form. */
export function Button({ kind = "plain", children, ...attributes }: ButtonProps): Markup {
  return (
    <button type="submit" class={kind} {...attributes}>
      {children}
    </button>
  );
}

/**
 * Goes to another page, looking like a button.
 * @param asks the page is a `Confirm`: where scripts run, it opens as a dialog on this page
 */
export function ButtonLink({
  href,
  kind = "plain",
  asks = false,
  children,
}: {
  href: string;
  kind?: ButtonKind;
  asks?: boolean;
  children?: Child;
}): Markup {
  return (
    <a class={`button ${kind}`} href={href} data-dialog={asks}>
      {children}
    </a>
  );
}

/** A text to take along, with a button that copies it where scripts run. */
export function Copyable({ text, label }: { text: string; label: string }): Markup {
  return (
    <div class="copyable">
      <code tabindex={0}>{text}</code>
      <button type="button" class="plain" data-copy={text} hidden={true}>
        Copy<span class="hidden-text"> {label}</span>
      </button>
    </div>
  );
}

/** Several lines to take along, as they are. */
export function CopyableText({ text, label }: { text: string; label: string }): Markup {
  return (
    <div class="copyable-text">
      <pre tabindex={0}>{text}</pre>
      <button type="button" class="plain small" data-copy={text} hidden={true}>
        Copy<span class="hidden-text"> {label}</span>
      </button>
    </div>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child } from "./jsx-runtime.ts";

/** `main`: the main action of a page. `danger`: an action that can't be undone. `link`: looks like text. */
export type ButtonKind = "main" | "plain" | "danger" | "link";

interface ButtonProps {
  kind?: ButtonKind;
  /** With `value`: the field that the form sends when this button was pressed. */
  name?: string;
  value?: string;
  children?: Child;
}

/** A button that sends its form. */
export function Button({ kind = "plain", children, ...attributes }: ButtonProps) {
  return (
    <button type="submit" class={kind} {...attributes}>
      {children}
    </button>
  );
}

/**
 * A link that looks like a button.
 * @param asks whether the target is a `ConfirmPage`: with scripts it opens as a dialog
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
}) {
  return (
    <a class={`button ${kind}`} href={href} data-dialog={asks}>
      {children}
    </a>
  );
}

interface CopyableProps {
  text: string;
  /** What it is, for screen readers. */
  label: string;
}

/** A button that copies a text. It works only with scripts. */
export function CopyButton({ text, label, kind }: CopyableProps & { kind: string }) {
  return (
    <button type="button" class={kind} data-copy={text} hidden={true}>
      Copy<span class="hidden-text"> {label}</span>
    </button>
  );
}

/** A text with a button that copies it. */
export function Copyable({ text, label }: CopyableProps) {
  return (
    <div class="copyable">
      <code tabindex={0}>{text.split(" ").map(wholeWord)}</code>
      <CopyButton text={text} label={label} kind="plain" />
    </div>
  );
}

/** A word of a command, so that no line ends after the hyphens of an option. */
function wholeWord(word: string, place: number): Child {
  return [place > 0 && " ", word.startsWith("-") ? <span>{word}</span> : word];
}

/** Several lines of text with a button that copies them. */
export function CopyableText({ text, label }: CopyableProps) {
  return (
    <div class="copyable-text">
      <pre tabindex={0}>{text}</pre>
      <CopyButton text={text} label={label} kind="plain small" />
    </div>
  );
}

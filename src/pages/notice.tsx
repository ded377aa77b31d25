/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "./jsx-runtime.ts";

/** An error message, which screen readers announce. */
export function Problem({ children }: { children?: Child }): Markup {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

/** A success message, which screen readers announce. */
export function Done({ children }: { children?: Child }): Markup {
  return (
    <p class="done" role="status">
      {children}
    </p>
  );
}

/** A hint to read before continuing. */
export function Notice({ children }: { children?: Child }): Markup {
  return <p class="notice">{children}</p>;
}

/** Shown in place of an empty list, with links to its first entry. */
export function EmptyState({ title, children }: { title: string; children?: Child }): Markup {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

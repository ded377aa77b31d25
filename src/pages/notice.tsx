/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "./jsx-runtime.ts";

/** What is wrong with what was just sent, where a screen reader announces it. */
export function Problem({ children }: { children?: Child }): Markup {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

/** What was just done, where a screen reader announces it. */
export function Done({ children }: { children?: Child }): Markup {
  return (
    <p class="done" role="status">
      {children}
    </p>
  );
}

/** Something to know before going on. */
export function Notice({ children }: { children?: Child }): Markup {
  return <p class="notice">{children}</p>;
}

/** What stands where a list will be, with the way to its first entry. */
export function EmptyState({ title, children }: { title: string; children?: Child }): Markup {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

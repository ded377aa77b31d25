/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "../pages/jsx-runtime.ts";

/** One matter of a page with several: what it is about, and beside that what it is and what can be done. */
export function Setting({
  id,
  title,
  about,
  children,
}: {
  /** Of its heading, on this page. */
  id: string;
  title: Child;
  /** What it is for, in a sentence or two. */
  about?: Child;
  children?: Child;
}): Markup {
  return (
    <section class="setting" aria-labelledby={id}>
      <div class="setting-head">
        <h2 id={id}>{title}</h2>
        {about !== undefined && <p>{about}</p>}
      </div>
      <div class="setting-body">{children}</div>
    </section>
  );
}

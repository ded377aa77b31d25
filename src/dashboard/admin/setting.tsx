/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "../../pages/jsx-runtime.ts";

/** One section of a page with several: a heading with an explanation, and its content beside them. */
export function Setting({
  id,
  title,
  about,
  children,
}: {
  /** Id of the heading; unique on the page. */
  id: string;
  title: Child;
  /** One or two sentences that explain the section. */
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

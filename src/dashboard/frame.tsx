/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "../pages/jsx-runtime.ts";

/** The frame of the dashboard's and the help's pages: a column at the side, and the main part. */
export function Frame({ side, children }: { side: Child; children?: Child }): Markup {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="/">
            ctxd
          </a>
          <button type="button" class="menu" popovertarget="side-content">
            Menu
          </button>
          <div id="side-content" class="side-content" popover="auto">
            {side}
          </div>
        </header>
        <main id="main" tabindex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../pages/button.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import type { Visit } from "./guard.tsx";
import { MEMORY_PATHS } from "./memories-page.tsx";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";

/** Offers all memories as a file. */
export function ExportPage({ visit }: { visit: Visit }): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Export memories"
      lead="All your memories as one file: a memory a line, as JSON."
    >
      <div class="actions">
        <ButtonLink href={MEMORY_PATHS.export} kind="main">
          Download the file
        </ButtonLink>
        <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
      </div>
    </Page>
  );
}

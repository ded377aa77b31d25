/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../pages/button.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";

/** Offers all memories as a file. */
export function ExportPage({ visit }: { visit: Visit }): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Export memories"
      lead="All your memories as one file, yours to keep and to take elsewhere."
    >
      <div class="panel slim">
        <p>
          The file has a memory a line, as JSON (JSONL): its text, tags, project, agent, session,
          history, source and times. <a href={MEMORY_PATHS.import}>Import</a> takes it as it is,
          here and on any other ctxd. <a href={`${HELP_PATH}/move`}>How memories are moved</a>
        </p>
        <div class="actions">
          <ButtonLink href={MEMORY_PATHS.export} kind="main">
            Download the file
          </ButtonLink>
          <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
        </div>
      </div>
    </Page>
  );
}

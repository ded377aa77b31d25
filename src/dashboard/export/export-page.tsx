/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../../pages/button.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../visit.ts";

/** The page that offers all memories as a file. */
export function ExportPage({ visit }: { visit: Visit }): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Export memories"
      lead="Download all your memories as one file, to keep or to move elsewhere."
    >
      <div class="panel slim">
        <p>
          Each line of the file is one memory as JSON (JSONL): text, tags, project, agent, session,
          history, source and times. You can <a href={MEMORY_PATHS.import}>import</a> the file here
          or on any other ctxd. <a href={`${HELP_PATH}/move`}>How memories are moved</a>
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

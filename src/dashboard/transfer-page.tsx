/** @jsxRuntime automatic @jsxImportSource #pages */
import type { ImportReport } from "../memories/memory.ts";
import { Button, ButtonLink } from "../pages/button.tsx";
import { Choice } from "../pages/field.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Done } from "../pages/notice.tsx";
import { Table } from "../pages/table.tsx";
import { PostForm } from "../sign-in/form.tsx";
import type { Visit } from "./guard.tsx";
import { MEMORY_PATHS } from "./memories-page.tsx";
import { PATHS } from "./navigation.tsx";
import { Page } from "./page.tsx";

/** Lines that the page names. */
const MOST_NAMED = 50;

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

/** The page on which a file of memories is brought in, and what came of it. */
export function ImportPage({
  visit,
  report,
  isDryRun = false,
}: {
  visit: Visit;
  report: ImportReport | null;
  /** Whether it was only tried. */
  isDryRun?: boolean;
}): Markup {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Import memories"
      lead="Brings in a file as Export makes it: a memory a line, as JSON. The same file twice changes nothing."
    >
      {report && <Report report={report} isDryRun={isDryRun} />}
      <PostForm
        action={MEMORY_PATHS.import}
        token={visit.token}
        class="panel"
        enctype="multipart/form-data"
      >
        <div class="field">
          <label for="file">File</label>
          <input
            id="file"
            name="file"
            type="file"
            accept=".jsonl,.ndjson,.json,.txt"
            required={true}
            aria-describedby="file-hint"
          />
          <p class="hint" id="file-hint">
            Up to 32 MiB; <code>ctxd import</code> takes more. A few hundred memories take about ten
            seconds.
          </p>
        </div>
        <Choice name="dry_run" value="true">
          Only say what would be done
        </Choice>
        <div class="actions">
          <Button kind="main">Import the file</Button>
          <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
        </div>
      </PostForm>
    </Page>
  );
}

function Report({ report, isDryRun }: { report: ImportReport; isDryRun: boolean }): Markup {
  const { created, updated, unchanged, kept, invalid, skipped } = report;
  return (
    <>
      <Done>{isDryRun ? "Nothing is changed yet. It would be:" : "The file is imported:"}</Done>
      <dl class="panel">
        <dt>New</dt>
        <dd>{created}</dd>
        <dt>Replaced by newer ones</dt>
        <dd>{updated}</dd>
        <dt>Here already</dt>
        <dd>{unchanged}</dd>
        <dt>Left as they are here</dt>
        <dd>{kept}</dd>
        <dt>Lines that are no memory</dt>
        <dd>{invalid}</dd>
      </dl>
      {skipped.length > 0 && (
        <Table
          caption="Lines that were left out"
          rows={skipped.slice(0, MOST_NAMED)}
          columns={[
            { title: "Line", isHeader: true, cell: ({ line }) => line },
            { title: "Why", cell: ({ reason }) => reason },
          ]}
        />
      )}
    </>
  );
}

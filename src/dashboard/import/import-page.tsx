/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Reading } from "../../import/read-files.ts";
import { countOf, describeFiles, isUnderstood, type Totals } from "../../import/transfer.ts";
import type { ImportedMemory } from "../../memories/model/memory.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Choice, Field } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { Done, Notice, Problem } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { SLOT } from "../../pages/page-response.tsx";
import { type Column, Table } from "../../pages/table.tsx";
import { excerptOf } from "../../text/excerpt.ts";
import { memoryCount } from "../../text/number-text.ts";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { SeenBy } from "../spaces/space-choice.tsx";

/** Rows of the tables of files and records that were not imported. */
const MAX_ROWS = 50;
/** Characters of a memory that a preview shows. */
const EXCERPT = 300;

/** The form that imports the files of a preview, and the one that undoes an import. */
export const PREVIEWED_PATH = `${MEMORY_PATHS.import}/previewed`;
export const UNDO_PATH = `${MEMORY_PATHS.import}/undo`;

/** An import that can be undone. */
export interface LastImport {
  id: string;
  /** The memories that it has created. */
  ids: readonly string[];
  /** The files, in words. */
  about: string;
  at: Date;
}

const LEAD = (
  <>
    Import exports of ChatGPT, Claude and other memory servers, notes, tables and documents.{" "}
    <a href={`${HELP_PATH}/import-export`}>What can be imported</a>
  </>
);

/** The page for importing files. During an import, its progress and then its outcome are streamed in place of `SLOT`. */
export function ImportPage({
  visit,
  isImporting = false,
  undo = null,
}: {
  visit: Visit;
  isImporting?: boolean;
  /** The last import, if it can be undone. */
  undo?: LastImport | null;
}) {
  return (
    <Page visit={visit} section="memories" title="Import memories" lead={LEAD}>
      {undo && (
        <div class="panel slim">
          <p>
            Your last import: {memoryCount(undo.ids.length)} from {undo.about},{" "}
            <Moment at={undo.at} />
          </p>
          <UndoForm token={visit.token} undo={undo} />
        </div>
      )}
      {isImporting && (
        <div class="progress" role="status">
          {SLOT}
        </div>
      )}
      <SeenBy visit={visit} />
      <ImportForm visit={visit} />
    </Page>
  );
}

function ImportForm({ visit }: { visit: Visit }) {
  return (
    <PostForm
      action={MEMORY_PATHS.import}
      token={visit.token}
      class="panel slim"
      enctype="multipart/form-data"
    >
      <div class="field file-drop">
        <label for="file">Files</label>
        <input
          id="file"
          name="file"
          type="file"
          multiple={true}
          required={true}
          aria-describedby="file-hint"
        />
        <p class="hint" id="file-hint">
          Choose files or drop them here: the ZIP file of ChatGPT or Claude, JSON, CSV, Markdown,
          text or PDF. Up to 32 MiB in total; <code>ctxd import</code> takes larger files. Importing
          a file again changes nothing.
        </p>
      </div>
      <Field
        label="Project"
        name="project"
        maxlength={128}
        hint="For memories whose file names no project. Empty: no project"
      />
      <Choice name="dry_run" value="true">
        Only show what would be imported
      </Choice>
      <div class="actions">
        <Button kind="main">Import the files</Button>
        <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
      </div>
    </PostForm>
  );
}

/** The progress of an import. The stylesheet shows only the newest one. */
export function ImportProgress({
  reading,
  totals,
  isTrial,
}: Pick<Result, "reading" | "totals" | "isTrial">) {
  const share = reading.share();
  const percent = share === null ? null : Math.floor(100 * share);
  return (
    <p class="step">
      <span>
        {isTrial ? "Reading" : "Importing"}: {countOf(totals).toLocaleString("en")} memories
        {percent !== null && `, ${percent} %`}
      </span>
      <progress
        aria-label="Progress"
        {...(percent !== null && { value: String(percent), max: "100" })}
      />
    </p>
  );
}

/** What an import has done so far, or a preview would do. */
export interface Result {
  reading: Reading;
  totals: Totals;
  isTrial: boolean;
  /** Why the import stopped; null if it is complete. */
  problem: string | null;
}

/** Deletes what an import has created. */
function UndoForm({ token, undo }: { token: string; undo: LastImport }) {
  return (
    <PostForm action={UNDO_PATH} token={token}>
      <input type="hidden" name="import" value={undo.id} />
      <Button kind="danger">Undo: delete {memoryCount(undo.ids.length)}</Button>
    </PostForm>
  );
}

/** The outcome of an import. */
export function ImportOutcome({
  token,
  kept,
  undo,
  ...result
}: Result & {
  token: string;
  /** Names the files of a preview, which can be imported at once; null if they are not kept. */
  kept: string | null;
  undo: LastImport | null;
}) {
  const { reading, totals, isTrial } = result;
  const { files, leftOut } = reading;
  const unread = files.filter((file) => file.problem !== null);
  return (
    <div class="step">
      <Verdict {...result} />
      {isUnderstood(totals) && <Counts totals={totals} />}
      {kept !== null && (
        <PostForm action={PREVIEWED_PATH} token={token}>
          <input type="hidden" name="kept" value={kept} />
          <Button kind="main">Import these</Button>
        </PostForm>
      )}
      {undo && <UndoForm token={token} undo={undo} />}
      {totals.masked > 0 && <Notice>Secrets were masked in {memoryCount(totals.masked)}.</Notice>}
      {isTrial && <Samples totals={totals} />}
      {unread.length > 0 && (
        <Table
          caption="Files that could not be read"
          rows={unread.slice(0, MAX_ROWS)}
          columns={[
            { title: "File", cell: ({ name }) => name || "This file" },
            { title: "Why", cell: (file) => file.problem },
          ]}
        />
      )}
      {totals.failures > 0 && (
        <Table
          caption={`Could not be imported: ${totals.failures}`}
          rows={totals.failed.slice(0, MAX_ROWS)}
          columns={[
            { title: "Place", cell: ({ at }) => at },
            { title: "Why", cell: ({ reason }) => reason },
          ]}
        />
      )}
      <Remarks rows={[...leftOut, ...totals.notes]} />
    </div>
  );
}

function Verdict({ reading, totals, isTrial, problem }: Result) {
  if (problem !== null) {
    const advice = isUnderstood(totals) && !isTrial && " Import the same files again to continue.";
    return (
      <Problem>
        {problem}
        {advice}
      </Problem>
    );
  }
  if (!isUnderstood(totals))
    return <Problem>The files contain nothing that can be imported.</Problem>;
  const files = describeFiles(reading.files);
  return isTrial ? (
    <Done>Nothing is changed yet. The import of {files} would give:</Done>
  ) : (
    <Done>
      Imported from {files}: <a href={PATHS.memories}>show memories</a>
    </Done>
  );
}

function Counts({ totals }: { totals: Totals }) {
  const { created, updated, unchanged, kept } = totals;
  const rows: [string, number][] = [
    ["New", created],
    ["Replaced by newer versions", updated],
    ["Already here", unchanged],
    ["Older than the memories here, which stay", kept],
  ];
  return (
    <dl class="panel counts">
      {rows.map(
        ([name, count], index) =>
          (index === 0 || count > 0) && (
            <div>
              <dt>{name}</dt>
              <dd>{count.toLocaleString("en")}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Samples({ totals }: { totals: Totals }): Markup | null {
  if (totals.samples.length === 0) return null;
  const facts: Column<ImportedMemory>[] = [
    { title: "Project", cell: ({ project }) => project },
    { title: "Tags", cell: ({ tags = [] }) => tags.join(", ") },
    { title: "Day", cell: ({ created_at }) => created_at?.slice(0, 10) },
  ];
  return (
    <Table
      caption="The first memories"
      rows={totals.samples}
      columns={[
        {
          title: "Text",
          cell: ({ content }) => excerptOf(content, EXCERPT),
        },
        ...facts.filter(({ cell }) => totals.samples.some(cell)),
      ]}
    />
  );
}

function Remarks({ rows }: { rows: readonly (readonly [string, number])[] }): Markup | null {
  if (rows.length === 0) return null;
  return (
    <ul class="remarks">
      {rows.map(([what, count]) => (
        <li>
          {what}: {count.toLocaleString("en")}
        </li>
      ))}
    </ul>
  );
}

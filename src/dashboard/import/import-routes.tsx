/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { describeError } from "../../http/errors.ts";
import { requestId } from "../../http/observer.ts";
import type { FormWithFiles } from "../../http/requests/form.ts";
import { SourceError } from "../../import/files/source.ts";
import { readInWorker } from "../../import/read-in-worker.ts";
import { createTotals, transfer } from "../../import/transfer.ts";
import { parseLines } from "../../memories/http/transfer-routes.ts";
import { Project } from "../../memories/model/memory.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { PAGE_ROUTE, streamedPage } from "../../pages/page-response.tsx";
import { problemOf } from "../../text/input-kinds.ts";
import type { Streamed } from "../guard.tsx";
import { MEMORY_PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { credentialOf, type Visit } from "../session.ts";
import { ImportOutcome, ImportPage, ImportProgress } from "./import-page.tsx";

/** The total size of the files. The API has no limit. */
const MAX_BYTES = 32 << 20;
/** Milliseconds between two updates of the progress. */
const INTERVAL_MS = 500;

/** Imports files of all formats that `ctxd import` reads, and streams the progress. */
export function addImportPage({ guard, pages, memories, record, log }: Parts): void {
  /** Imports the files. Yields the progress, then the outcome. */
  async function* importFiles(
    { account, reach, request, stillSignedIn }: Visit,
    { files, project, isTrial }: ReturnType<typeof readUpload>,
  ): AsyncGenerator<Markup, void> {
    const reading = readInWorker(files, { project });
    const totals = createTotals();
    const send = (lines: readonly string[]) =>
      memories.import(reach, parseLines(new Blob([lines.join("\n")]).stream()), {
        source: { via: "import", ...credentialOf(account) },
        dryRun: isTrial,
        stillAllowed: stillSignedIn,
      });
    const progress = () => <ImportProgress reading={reading} totals={totals} isTrial={isTrial} />;
    let problem: string | null = null;
    try {
      yield progress();
      let next = performance.now() + INTERVAL_MS;
      for await (const _ of transfer(reading, totals, send)) {
        if (performance.now() < next) continue;
        next = performance.now() + INTERVAL_MS;
        yield progress();
      }
    } catch (error) {
      problem =
        error instanceof SourceError
          ? error.message
          : describeError(error, { log, id: requestId(request) }).message;
    } finally {
      const amount = totals.created + totals.updated;
      if (!isTrial) record(request, "memories_imported", { accountId: account.id, amount });
    }
    yield <ImportOutcome reading={reading} totals={totals} isTrial={isTrial} problem={problem} />;
  }

  pages.get(MEMORY_PATHS.import, (visit) => <ImportPage visit={visit} />);
  pages.routes.post(
    MEMORY_PATHS.import,
    ({ request, server }) => {
      // Embedding may take longer than the time limit of idle connections.
      server?.timeout(request, 0);
      return guard.upload(
        request,
        (visit, form) => streamed(visit, importFiles(visit, readUpload(form))),
        MAX_BYTES,
      );
    },
    PAGE_ROUTE,
  );
}

/** @throws AppError `validation_failed` */
function readUpload(form: FormWithFiles) {
  const files = form.getAll("file").filter((file) => file instanceof File);
  if (files.every(({ size }) => size === 0)) {
    throw new AppError("validation_failed", "Choose a file that is not empty.");
  }
  const entered = form.get("project");
  const project = typeof entered === "string" && entered.trim() !== "" ? entered.trim() : null;
  const problem = project === null ? null : problemOf(Project, project);
  if (problem !== null) throw new AppError("validation_failed", `The project ${problem}.`);
  return { files, project, isTrial: form.has("dry_run") };
}

function streamed(visit: Visit, parts: AsyncGenerator<Markup, void>): Streamed {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return {
    response: streamedPage(<ImportPage visit={visit} isImporting={true} />, parts, resolve),
    ended,
  };
}

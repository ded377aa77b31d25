/** @jsxRuntime automatic @jsxImportSource #pages */
import { LRUCache } from "lru-cache";
import { createSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { describeError } from "../../http/errors.ts";
import { requestId } from "../../http/observer.ts";
import type { FormWithFiles } from "../../http/requests/form.ts";
import { SourceError } from "../../import/files/source.ts";
import type { Reading } from "../../import/read-files.ts";
import { readInWorker } from "../../import/read-in-worker.ts";
import { createTotals, describeFiles, isUnderstood, transfer } from "../../import/transfer.ts";
import { requireScope } from "../../keys/reach.ts";
import { parseLines } from "../../memories/http/transfer-routes.ts";
import { Project } from "../../memories/model/memory.ts";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { PAGE_ROUTE, streamedPage } from "../../pages/page-response.tsx";
import { problemOf } from "../../text/input-kinds.ts";
import { memoryCount } from "../../text/number-text.ts";
import type { Streamed } from "../guard.tsx";
import { MEMORY_PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { credentialOf, memoryFacts, type Visit } from "../session.ts";
import {
  ImportOutcome,
  ImportPage,
  ImportProgress,
  type LastImport,
  PREVIEWED_PATH,
  type Result,
  UNDO_PATH,
} from "./import-page.tsx";

/** The total size of the files. The API has no limit. */
const MAX_BYTES = 32 << 20;
/** Milliseconds between two updates of the progress. */
const INTERVAL_MS = 500;
/** Milliseconds for which an import can be undone, and the most memories of all accounts' imports. */
const UNDO_MS = 60 * 60_000;
const MAX_UNDO = 1_000_000;
/** Memories that are deleted at once. */
const BATCH = 250;

/** Imports files of all formats that `ctxd import` reads, streams the progress, and undoes an import. */
export function addImportPage({ guard, pages, memories, undoable, record, log }: Parts): void {
  const previews = createPreviews();
  /** The last import of each person into each account. */
  const last = new LRUCache<string, LastImport>({
    maxSize: MAX_UNDO,
    sizeCalculation: ({ ids }) => ids.length + 1,
    ttl: UNDO_MS,
    ttlAutopurge: true,
  });

  /** Imports the files. Yields the progress, then the outcome. */
  async function* importFiles(visit: Visit, upload: Upload): AsyncGenerator<Markup, void> {
    const { account, reach, request, stillSignedIn } = visit;
    const { files, project, isTrial } = upload;
    const reading = readInWorker(files, { project });
    const totals = createTotals();
    const ids: string[] = [];
    const send = (lines: readonly string[]) =>
      memories.import(reach, parseLines(new Blob([lines.join("\n")]).stream()), {
        source: { via: "import", ...credentialOf(account) },
        dryRun: isTrial,
        stillAllowed: stillSignedIn,
        onCreated: (created) => ids.push(...created),
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
      problem = reasonOf(error, request);
    } finally {
      if (!isTrial) ended(visit, { amount: totals.created + totals.updated, ids, reading });
    }
    yield showOutcome(visit, upload, { reading, totals, isTrial, problem });
  }

  const showOutcome = (visit: Visit, upload: Upload, result: Result): Markup => {
    const { isTrial, problem, totals } = result;
    const isWhole = problem === null && isUnderstood(totals);
    const kept = isTrial && isWhole ? previews.keep(keyOf(visit), upload) : null;
    if (!isTrial && isWhole) previews.drop(keyOf(visit));
    const undo = !isTrial && totals.created > 0 ? (last.get(keyOf(visit)) ?? null) : null;
    return <ImportOutcome {...result} token={visit.token} kept={kept} undo={undo} />;
  };

  const reasonOf = (error: unknown, request: Request): string =>
    error instanceof SourceError
      ? error.message
      : describeError(error, { log, id: requestId(request) }).message;

  const ended = (
    visit: Visit,
    { amount, ids, reading }: { amount: number; ids: readonly string[]; reading: Reading },
  ): void => {
    record(visit.request, "memories_imported", { ...memoryFacts(visit), amount });
    if (ids.length === 0) return;
    const about = describeFiles(reading.files);
    last.set(keyOf(visit), { id: createSecret(""), ids, about, at: new Date() });
  };

  const undo = async (visit: Visit, importId: string | null) => {
    const { reach } = visit;
    const undone = last.get(keyOf(visit));
    if (undone?.id !== importId) {
      throw new AppError("not_found", "This import can't be undone any more.");
    }
    last.delete(keyOf(visit));
    let count = 0;
    for (let from = 0; from < undone.ids.length; from += BATCH) {
      const ids = undone.ids.slice(from, from + BATCH);
      count += await undoable.applyNow(reach, { kind: "delete", ids });
    }
    const notice = `The import is undone: ${memoryCount(count)} deleted.`;
    return { to: MEMORY_PATHS.import, notice };
  };

  pages.get(MEMORY_PATHS.import, (visit) => {
    requireScope(visit.reach, "memories:write");
    return <ImportPage visit={visit} undo={last.get(keyOf(visit)) ?? null} />;
  });
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
  pages.routes.post(
    PREVIEWED_PATH,
    ({ request, server }) => {
      server?.timeout(request, 0);
      return guard.act(request, (visit, form) => {
        const upload = previews.find(keyOf(visit), form.get("kept") ?? "");
        return streamed(visit, importFiles(visit, { ...upload, isTrial: false })).response;
      });
    },
    PAGE_ROUTE,
  );
  pages.routes.post(
    UNDO_PATH,
    ({ request, server }) => {
      server?.timeout(request, 0);
      return guard.act(request, (visit, form) => undo(visit, form.get("import")));
    },
    PAGE_ROUTE,
  );
}

/** The name of what is kept of a person in the account or space of a page. */
const keyOf = ({ account, reach }: Visit) => `${account.id} ${reach.accountId}`;

/** Milliseconds for which the files of a preview are kept, and bytes of the files of all accounts. */
const PREVIEW_MS = 15 * 60_000;
const MAX_PREVIEWS = 3 * MAX_BYTES;

/** Keeps the files of each person's last preview in memory, so that they can be imported without choosing them again. */
function createPreviews() {
  const kept = new LRUCache<string, Upload & { id: string }>({
    maxSize: MAX_PREVIEWS,
    sizeCalculation: ({ files }) => files.reduce((sum, { size }) => sum + size, 1),
    ttl: PREVIEW_MS,
    ttlAutopurge: true,
  });
  return {
    /** Returns the name of what is kept. */
    keep(key: string, upload: Upload): string {
      const id = createSecret("");
      kept.set(key, { ...upload, id });
      return id;
    },
    /** @throws AppError `not_found` if another preview came since, or too much time has passed */
    find(key: string, id: string): Upload {
      const upload = kept.get(key);
      if (upload?.id !== id) {
        const message = "The files of this preview are no longer kept. Choose them again.";
        throw new AppError("not_found", message);
      }
      return upload;
    },
    drop: (key: string) => void kept.delete(key),
  };
}

type Upload = ReturnType<typeof readUpload>;

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

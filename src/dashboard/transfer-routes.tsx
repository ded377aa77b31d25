/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import { NDJSON, parseLines, toStream } from "../memories/transfer-routes.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { MEMORY_PATHS } from "./memories-page.tsx";
import type { ProofGuard } from "./proof-guard.ts";
import { credentialOf } from "./session-principal.ts";
import { ExportPage, ImportPage } from "./transfer-page.tsx";

/** Bytes of a file that is brought in. The API takes any length. */
const MAX_FILE = 32 << 20;

/** Taking all memories elsewhere as a file, and bringing a file in. */
export function createTransferRoutes({
  guard,
  proved,
  memories,
  record,
}: {
  guard: Guard;
  proved: ProofGuard;
  memories: Pick<Memories, "export" | "import">;
  record: RecordEvent;
}) {
  return new Elysia()
    .get(
      MEMORY_PATHS.export,
      ({ request }) =>
        proved.show(
          request,
          async ({ account, stillSignedIn }) => {
            const pages = await memories.export(wholeAccount(account.id), {});
            record(request, "memories_exported", { accountId: account.id });
            const day = new Date().toISOString().slice(0, 10);
            return new Response(toStream(pages, stillSignedIn), {
              headers: {
                "content-type": NDJSON,
                "content-disposition": `attachment; filename="ctxd-memories-${day}.jsonl"`,
              },
            });
          },
          MEMORY_PATHS.exportOffer,
        ),
      PAGE_ROUTE,
    )
    .get(
      MEMORY_PATHS.exportOffer,
      ({ request }) => proved.show(request, (visit) => <ExportPage visit={visit} />),
      PAGE_ROUTE,
    )
    .get(
      MEMORY_PATHS.import,
      ({ request }) => guard.show(request, (visit) => <ImportPage visit={visit} report={null} />),
      PAGE_ROUTE,
    )
    .post(
      MEMORY_PATHS.import,
      ({ request, server }) => {
        // Embedding takes longer than an idle connection may live.
        server?.timeout(request, 0);
        return guard.upload(
          request,
          async (visit, form) => {
            const file = form.get("file");
            if (!(file instanceof File) || file.size === 0) {
              throw new AppError("validation_failed", "Choose a file that has lines in it.");
            }
            const report = await memories.import(
              wholeAccount(visit.account.id),
              parseLines(file.stream()),
              {
                source: { via: "import", ...credentialOf(visit.account) },
                dryRun: form.has("dry_run"),
                mayRead: true,
                stillAllowed: visit.stillSignedIn,
              },
            );
            const facts = { accountId: visit.account.id, amount: report.created + report.updated };
            if (!form.has("dry_run")) record(request, "memories_imported", facts);
            return <ImportPage visit={visit} report={report} isDryRun={form.has("dry_run")} />;
          },
          MAX_FILE,
        );
      },
      PAGE_ROUTE,
    );
}

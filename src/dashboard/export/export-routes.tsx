/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { RecordEvent } from "../../http/record-event.ts";
import type { Room } from "../../http/room.ts";
import { wholeAccount } from "../../keys/reach.ts";
import { NDJSON, toStream } from "../../memories/http/transfer-routes.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import type { ProofGuard } from "../account/proof-guard.ts";
import { PAGE_ROUTE } from "../guard.tsx";
import { MEMORY_PATHS } from "../navigation.tsx";
import { ExportPage } from "./export-page.tsx";

/** The download of all memories as a file. */
export function createExportRoutes({
  proved,
  memories,
  record,
  room,
}: {
  proved: ProofGuard;
  memories: Pick<Memories, "export">;
  record: RecordEvent;
  room: Room;
}) {
  return new Elysia()
    .get(
      MEMORY_PATHS.export,
      ({ request }) =>
        proved.show(
          request,
          async ({ account, stillSignedIn }) => {
            const pages = room.hold(
              { accountId: account.id },
              request,
              await memories.export(wholeAccount(account.id), {}),
            );
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
    );
}

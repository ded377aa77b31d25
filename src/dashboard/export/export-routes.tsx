/** @jsxRuntime automatic @jsxImportSource #pages */

import { NDJSON, toStream } from "../../memories/http/transfer-routes.ts";
import type { Memory } from "../../memories/model/memory.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { HELP_PATH, MEMORY_PATHS, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Parts } from "../parts.ts";
import { memoryFacts, type Visit } from "../session.ts";

/** @param project only its memories; null for all */
function ExportPage({ visit, project }: { visit: Visit; project: string | null }) {
  return (
    <Page
      visit={visit}
      section="memories"
      title="Export memories"
      lead={
        <>
          Download all {project === null ? "your memories" : "memories of the project "}
          {project !== null && <bdi>{project}</bdi>} as one file, to keep or to move elsewhere.
        </>
      }
    >
      <div class="panel slim">
        <p>
          Each line of the file is one memory as JSON (JSONL): text, tags, project, agent, session,
          history, source and times. You can <a href={MEMORY_PATHS.import}>import</a> the file here
          or on any other ctxd. <a href={`${HELP_PATH}/import-export`}>How memories are moved</a>
        </p>
        <div class="actions">
          <ButtonLink href={MEMORY_PATHS.export + visit.url.search} kind="main">
            Download the file
          </ButtonLink>
          <ButtonLink href={PATHS.memories}>Back to all memories</ButtonLink>
        </div>
      </div>
    </Page>
  );
}

/** Sends memories as a file. */
export function exportFile(
  { record, room, turns }: Pick<Parts, "record" | "room" | "turns">,
  visit: Visit,
  memories: AsyncGenerator<Memory[]>,
): Response {
  const { account, request, stillSignedIn } = visit;
  const found = room.hold({ accountId: account.id }, request, memories);
  record(request, "memories_exported", memoryFacts(visit));
  const day = new Date().toISOString().slice(0, 10);
  const stream = toStream(found, stillSignedIn, (read) => turns.step(account.id, read));
  return new Response(stream, {
    headers: {
      "content-type": NDJSON,
      "content-disposition": `attachment; filename="ctxd-memories-${day}.jsonl"`,
    },
  });
}

/** The download of all memories as a file. */
export function addExportPages({ guard, pages, memories, ...parts }: Parts): void {
  const exportedProject = ({ url }: Visit) => url.searchParams.get("project");
  pages.proved.get(MEMORY_PATHS.exportOffer, (visit) => (
    <ExportPage visit={visit} project={exportedProject(visit)} />
  ));
  pages.get(MEMORY_PATHS.export, async (visit) => {
    // A browser that downloads a file after the proof would stay on the page of the proof.
    const asked = await guard.askForProof(visit, null, MEMORY_PATHS.exportOffer + visit.url.search);
    if (asked) return asked;
    const project = exportedProject(visit);
    const filter = project === null ? {} : { projects: [project] };
    return exportFile(parts, visit, await memories.export(visit.reach, filter));
  });
}

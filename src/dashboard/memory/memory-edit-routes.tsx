/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import type { Etags } from "../../http/responses.ts";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { MEMORY_PATHS, memoryPath, PATHS } from "../navigation.tsx";
import { ownSource } from "../session-principal.ts";
import { EditMemoryPage, NewMemoryPage } from "./memory-edit-page.tsx";
import {
  changesOf,
  entriesAfter,
  entriesOf,
  MAX_FORM,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
} from "./memory-form.ts";
import { secretNotice } from "./secret-notice.ts";

type Service = Pick<Memories, "find" | "get" | "save" | "secrets" | "update">;

/** The pages for adding and editing memories. */
export function createMemoryEditRoutes({
  guard,
  memories,
  etags,
}: {
  guard: Guard;
  memories: Service;
  etags: Etags;
}) {
  return new Elysia()
    .use(createNewRoutes({ guard, memories }))
    .get(
      `${PATHS.memories}/:id/edit`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          const etag = (await etags.maker())(memory);
          const entries = entriesOf(memory);
          return <EditMemoryPage visit={visit} memory={memory} etag={etag} entries={entries} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.act(
          request,
          async ({ account }, form) => {
            const present = await memories.get(wholeAccount(account.id), params.id);
            const changes = changesOf(readEntries(form), present);
            const etagOf = await etags.maker();
            const isShown = (memory: Memory) => etagOf(memory) === form.get("etag");
            if (changes) {
              const source = ownSource(account);
              await memories.update(wholeAccount(account.id), params.id, changes, {
                source,
                isExpected: isShown,
              });
            }
            const notice = changes
              ? `The changes are saved.${secretNotice(memories, changes)}`
              : "Nothing has changed.";
            return { to: memoryPath(present.id), notice };
          },
          async (visit, problem, form) => {
            const memory = await memories.get(wholeAccount(visit.account.id), params.id);
            // The ETag stays the old one, so that sending the form again does not overwrite a change the person has not seen.
            const etag = form.get("etag") ?? "";
            const entries = readEntries(form);
            return (
              <EditMemoryPage
                visit={visit}
                memory={memory}
                etag={etag}
                entries={entries}
                problem={problem}
              />
            );
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    );
}

function createNewRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  /** The memory that the form replaces; null if none. */
  const formerOf = async (accountId: string, id: string | null): Promise<Memory | null> =>
    id ? await memories.get(wholeAccount(accountId), id) : null;

  return new Elysia()
    .get(
      MEMORY_PATHS.new,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const { searchParams } = visit.url;
          const former = await formerOf(visit.account.id, searchParams.get("supersedes"));
          const project = searchParams.get("project") ?? "";
          const entries = former ? entriesAfter(former) : { ...NOTHING_ENTERED, project };
          return <NewMemoryPage visit={visit} entries={entries} former={former} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      PATHS.memories,
      ({ request }) =>
        guard.act(
          request,
          async ({ account }, form) => {
            const input = newMemoryOf(readEntries(form));
            const { memory, isNew } = await memories.save(wholeAccount(account.id), input, {
              source: ownSource(account),
            });
            const notice = isNew ? "The memory is saved." : "You already have this memory.";
            return { to: memoryPath(memory.id), notice: notice + secretNotice(memories, input) };
          },
          async (visit, problem, form) => {
            const entries = readEntries(form);
            const reach = wholeAccount(visit.account.id);
            const former = await memories.find(reach, entries.supersedes);
            return (
              <NewMemoryPage visit={visit} entries={entries} former={former} problem={problem} />
            );
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    );
}

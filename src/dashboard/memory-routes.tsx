/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Etags } from "../http/etag.ts";
import { createCheck } from "../http/validation.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import {
  LIMITS,
  type Memory,
  type MemoryChanges,
  type MemorySource,
  Tag,
} from "../memories/memory.ts";
import type { Markup } from "../pages/jsx-runtime.ts";
import { ConfirmPage } from "./confirm.tsx";
import { type Guard, PAGE_ROUTE, type Visit } from "./guard.tsx";
import { MEMORY_PATHS, MemoriesPage, type Shown } from "./memories-page.tsx";
import { listRequest, readView, searchRequest, type View } from "./memories-view.ts";
import {
  changesOf,
  type Entries,
  entriesOf,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
} from "./memory-form.ts";
import { nameOf } from "./memory-item.tsx";
import { MemoryPage, NewMemoryPage } from "./memory-page.tsx";
import { removeSelected, tagSelected } from "./memory-selection.ts";
import { PATHS } from "./navigation.tsx";
import { credentialOf } from "./session-principal.ts";

/** Bytes of the form of a memory: every character of the longest text can take twelve. */
const MAX_FORM = 512 << 10;
/** Memories that a question names before it counts the others. */
const NAMED = 5;

const checkTag = createCheck(Tag);

type Service = Pick<
  Memories,
  "get" | "list" | "remove" | "retention" | "save" | "search" | "secrets" | "update"
>;

/** The pages of memories: search and browse, add, open, change, delete, and many at once. */
export function createMemoryPageRoutes(dependencies: {
  guard: Guard;
  memories: Service;
  etags: Etags;
}) {
  return new Elysia()
    .use(createListRoutes(dependencies))
    .use(createSelectionRoutes(dependencies))
    .use(createMemoryRoutes(dependencies));
}

function createListRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  const find = async (accountId: string, view: View): Promise<Shown> => {
    if (view.q === "") {
      return { kind: "list", ...(await memories.list(wholeAccount(accountId), listRequest(view))) };
    }
    return {
      kind: "found",
      ...(await memories.search(wholeAccount(accountId), searchRequest(view))),
    };
  };

  return new Elysia()
    .get(
      PATHS.memories,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const view = readView(visit.url.searchParams);
          try {
            const shown = await find(visit.account.id, view);
            return <MemoriesPage visit={visit} view={view} shown={shown} />;
          } catch (error) {
            if (!(error instanceof AppError) || error.status >= 500) throw error;
            const { message } = error;
            return <MemoriesPage visit={visit} view={view} shown={null} problem={message} />;
          }
        }),
      PAGE_ROUTE,
    )
    .get(
      MEMORY_PATHS.new,
      ({ request }) =>
        guard.show(request, (visit) => <NewMemoryPage visit={visit} entries={NOTHING_ENTERED} />),
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
              source: sourceOf(account),
            });
            const notice = isNew ? "The memory is saved." : "This is known already, just so.";
            return { to: pathOf(memory), notice: notice + secretNotice(memories, input) };
          },
          (visit, problem, form) => (
            <NewMemoryPage visit={visit} entries={readEntries(form)} problem={problem} />
          ),
          MAX_FORM,
        ),
      PAGE_ROUTE,
    );
}

function createSelectionRoutes({ guard, memories }: { guard: Guard; memories: Service }) {
  const idsOf = (form: URLSearchParams): string[] => {
    const ids = [...new Set(form.getAll("id"))].slice(0, LIMITS.page);
    if (ids.length > 0) return ids;
    throw new AppError("validation_failed", "No memory is selected. Go back and tick some.");
  };

  const askToDelete = async (visit: Visit, ids: readonly string[]): Promise<Markup> => {
    const named = await Promise.all(
      ids.slice(0, NAMED).map((id) => memories.get(wholeAccount(visit.account.id), id)),
    );
    return (
      <ConfirmPage
        visit={visit}
        section="memories"
        title={`Delete ${countOf(ids.length)}?`}
        action={`${MEMORY_PATHS.selection}/delete`}
        confirm={`Delete ${countOf(ids.length)}`}
        cancel={PATHS.memories}
      >
        {ids.map((id) => (
          <input type="hidden" name="id" value={id} />
        ))}
        <ul>
          {named.map(({ content }) => (
            <li>
              <bdi>{nameOf(content)}</bdi>
            </li>
          ))}
          {ids.length > NAMED && <li>{`and ${ids.length - NAMED} more`}</li>}
        </ul>
        <p>They are deleted for good and can't be brought back.</p>
      </ConfirmPage>
    );
  };

  const tag = async ({ account }: Visit, form: URLSearchParams, isAdded: boolean) => {
    const name = checkTag(form.get("tag")).trim();
    const change = (tags: readonly string[]) => {
      const others = tags.filter((each) => each !== name);
      return isAdded ? [...others, name] : others;
    };
    const count = await tagSelected(memories, account.id, idsOf(form), change);
    const done = isAdded ? "now have" : "no longer have";
    return { to: PATHS.memories, notice: `${countOf(count)} ${done} the tag “${name}”.` };
  };

  return new Elysia()
    .post(
      MEMORY_PATHS.selection,
      ({ request }) =>
        guard.act(request, (visit, form) => {
          const action = form.get("action");
          if (action === "delete") return askToDelete(visit, idsOf(form));
          return tag(visit, form, action !== "untag");
        }),
      PAGE_ROUTE,
    )
    .post(
      `${MEMORY_PATHS.selection}/delete`,
      ({ request }) =>
        guard.act(request, async ({ account }, form) => {
          const count = await removeSelected(memories, account.id, idsOf(form));
          return { to: PATHS.memories, notice: `Deleted for good: ${countOf(count)}.` };
        }),
      PAGE_ROUTE,
    );
}

function createMemoryRoutes({
  guard,
  memories,
  etags,
}: {
  guard: Guard;
  memories: Service;
  etags: Etags;
}) {
  const page = async (
    visit: Visit,
    memory: Memory,
    entries: Entries,
    problem?: string,
    etag?: string,
  ) => (
    <MemoryPage
      visit={visit}
      memory={memory}
      etag={etag ?? (await etags.maker())(memory)}
      retention={memories.retention(memory)}
      entries={entries}
      {...(problem !== undefined && { problem })}
    />
  );

  return new Elysia()
    .get(
      `${PATHS.memories}/:id`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          return page(visit, memory, entriesOf(memory));
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
              const source = sourceOf(account);
              await memories.update(wholeAccount(account.id), params.id, changes, {
                source,
                isExpected: isShown,
              });
            }
            const notice = changes
              ? `The changes are saved.${secretNotice(memories, changes)}`
              : "Nothing has changed.";
            return { to: pathOf(present), notice };
          },
          async (visit, problem, form) => {
            const memory = await memories.get(wholeAccount(visit.account.id), params.id);
            // With the old ETag, so that what was changed meanwhile is not written over unseen.
            const etag = form.get("etag") ?? "";
            return page(visit, memory, readEntries(form), problem, etag);
          },
          MAX_FORM,
        ),
      PAGE_ROUTE,
    )
    .get(
      `${PATHS.memories}/:id/delete`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const memory = await memories.get(wholeAccount(visit.account.id), params.id);
          return (
            <ConfirmPage
              visit={visit}
              section="memories"
              title="Delete this memory?"
              action={`${pathOf(memory)}/delete`}
              confirm="Delete the memory"
              cancel={pathOf(memory)}
            >
              <p>
                “<bdi>{nameOf(memory.content)}</bdi>” is deleted for good and can't be brought back.
              </p>
            </ConfirmPage>
          );
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.memories}/:id/delete`,
      ({ request, params }) =>
        guard.act(request, async ({ account }) => {
          await memories.remove(wholeAccount(account.id), params.id);
          return { to: PATHS.memories, notice: "The memory is deleted for good." };
        }),
      PAGE_ROUTE,
    );
}

function sourceOf(account: Visit["account"]): MemorySource {
  return { via: "dashboard", ...credentialOf(account) };
}

/** What to add where something was saved that looks like a secret; empty else. */
function secretNotice({ secrets }: Pick<Service, "secrets">, texts: MemoryChanges): string {
  const kinds = secrets.warnings(texts)?.warnings.map(({ message }) => message) ?? [];
  return kinds.map((kind) => ` ${kind}`).join("");
}

function pathOf({ id }: Memory): string {
  return `${PATHS.memories}/${id}`;
}

function countOf(count: number): string {
  return count === 1 ? "1 memory" : `${count} memories`;
}

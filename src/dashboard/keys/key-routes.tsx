/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { type KeyRecord, type Keys, keyFacts } from "../../keys/keys.ts";
import { boundOf } from "../../pages/form.tsx";
import type { ProofGuard } from "../account/proof-guard.tsx";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { PATHS } from "../navigation.tsx";
import { createKeyInSession, type ShownOnce } from "../session.ts";
import { expiryOf, scopesOf } from "./key-choices.ts";
import { type KeyAction, KeyQuestion, KeysPage } from "./keys-page.tsx";

/** The page of API keys: create, revoke, regenerate. */
export function createKeyRoutes({
  guard,
  proved,
  keys,
  shownOnce,
  clock,
  record: recordEvent,
}: {
  guard: Guard;
  proved: ProofGuard;
  keys: Pick<Keys, "create" | "list" | "revoke">;
  shownOnce: ShownOnce;
  clock: () => number;
  record: RecordEvent;
}) {
  /** A key that is not revoked. */
  const find = async (accountId: string, id: string): Promise<KeyRecord> => {
    const key = (await keys.list(accountId)).find((each) => each.id === id);
    if (key?.revokedAt === null) return key;
    throw new AppError("not_found", "Your account has no such key, or it was revoked.");
  };
  const showQuestion = (request: Request, id: string, action: KeyAction) =>
    guard.show(request, async (visit) => (
      <KeyQuestion visit={visit} record={await find(visit.account.id, id)} action={action} />
    ));
  /** The page that shows a new key. */
  const createdPath = (id: string) => `${PATHS.keys}?${new URLSearchParams({ made: id })}`;

  return new Elysia()
    .get(
      PATHS.keys,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const list = await keys.list(visit.account.id);
          const id = visit.url.searchParams.get("made") ?? "";
          const made = list.find((each) => each.id === id);
          const key = made ? await shownOnce.take(visit.session, id) : null;
          const fresh = made && key !== null ? { key, name: made.name } : null;
          return <KeysPage visit={visit} keys={list} now={clock()} fresh={fresh} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      PATHS.keys,
      ({ request }) =>
        proved.act(
          request,
          async (visit, form) => {
            const { key, record } = await createKeyInSession(keys, visit, {
              name: form.get("name") ?? "",
              scopes: scopesOf(form.get("scope")),
              expiresAt: expiryOf(form.get("expires"), clock()),
              bound: boundOf(form),
            });
            recordEvent(request, "key_created", keyFacts(record));
            await shownOnce.put(visit.session, record.id, key);
            return { to: createdPath(record.id) };
          },
          async (visit, problem, form) => (
            <KeysPage
              visit={visit}
              keys={await keys.list(visit.account.id)}
              now={clock()}
              problem={problem}
              entered={form}
            />
          ),
        ),
      PAGE_ROUTE,
    )
    .get(
      `${PATHS.keys}/:id/revoke`,
      ({ request, params }) => showQuestion(request, params.id, "revoke"),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.keys}/:id/revoke`,
      ({ request, params }) =>
        guard.act(request, async ({ account }) => {
          const revoked = await keys.revoke(account.id, params.id);
          const { name } = revoked;
          recordEvent(request, "key_revoked", keyFacts(revoked));
          return { to: PATHS.keys, notice: `The key “${name}” is revoked.` };
        }),
      PAGE_ROUTE,
    )
    .get(
      `${PATHS.keys}/:id/regenerate`,
      ({ request, params }) => showQuestion(request, params.id, "regenerate"),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.keys}/:id/regenerate`,
      ({ request, params }) =>
        proved.act(request, async (visit) => {
          const { account, session } = visit;
          const { name, scopes, expiresAt, bound } = await find(account.id, params.id);
          // The new key comes first. If it can't be created, the old one keeps working.
          const { key, record } = await createKeyInSession(keys, visit, {
            name,
            scopes,
            expiresAt,
            bound,
          });
          recordEvent(request, "key_created", keyFacts(record));
          recordEvent(request, "key_revoked", keyFacts(await keys.revoke(account.id, params.id)));
          await shownOnce.put(session, record.id, key);
          return { to: createdPath(record.id), notice: `The old key “${name}” is revoked.` };
        }),
      PAGE_ROUTE,
    );
}

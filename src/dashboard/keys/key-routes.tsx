/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { type KeyRecord, keyFacts } from "../../keys/keys.ts";
import { boundOf, boundSpaceOf } from "../../pages/form.tsx";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { createKeyInSession, type Visit } from "../session.ts";
import { expiryOf, KeysPage, scopesOf } from "./keys-page.tsx";

/** The page of API keys: create, revoke, regenerate. */
export function addKeyPages(parts: Parts): void {
  const { pages, keys, shownOnce, clock, record } = parts;
  /** A key that is not revoked. */
  const find = async (accountId: string, id: string): Promise<KeyRecord> => {
    const key = (await keys.list(accountId)).find((each) => each.id === id);
    if (key?.revokedAt === null) return key;
    throw new AppError("not_found", "Your account has no such key, or it was revoked.");
  };
  const lossOf = async ({ account }: Visit, id: string, loss: string) => {
    const { name, prefix } = await find(account.id, id);
    return (
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>{" "}
        (<code>{prefix}…</code>) {loss}
      </p>
    );
  };
  const createdPath = (id: string) => `${PATHS.keys}?${new URLSearchParams({ made: id })}`;

  pages.get(PATHS.keys, async (visit) => {
    const list = await keys.list(visit.account.id);
    const id = visit.url.searchParams.get("made") ?? "";
    const made = list.find((each) => each.id === id);
    const key = made ? await shownOnce.take(visit.session, id) : null;
    const fresh = made && key !== null ? { key, name: made.name } : null;
    return <KeysPage visit={visit} keys={list} now={clock()} fresh={fresh} />;
  });
  pages.proved.post(
    PATHS.keys,
    async (visit, form) => {
      const id = await createKeyInSession(parts, visit, {
        name: form.get("name") ?? "",
        scopes: scopesOf(form.get("scope")),
        expiresAt: expiryOf(form.get("expires"), clock()),
        bound: boundOf(form),
        spaceId: boundSpaceOf(form, visit.spaces),
      });
      return { to: createdPath(id) };
    },
    async (visit, problem, form) => {
      const list = await keys.list(visit.account.id);
      return <KeysPage visit={visit} keys={list} now={clock()} problem={problem} entered={form} />;
    },
  );
  pages.confirmed(
    `${PATHS.keys}/:id/revoke`,
    "keys",
    async (visit, id) => ({
      title: "Revoke this key?",
      confirm: "Revoke the key",
      cancel: PATHS.keys,
      text: await lossOf(visit, id, REVOKED),
    }),
    async ({ account, request }, _, id) => {
      const revoked = await keys.revoke(account.id, id);
      record(request, "key_revoked", keyFacts(revoked));
      return { to: PATHS.keys, notice: `The key “${revoked.name}” is revoked.` };
    },
  );
  pages.proved.confirmed(
    `${PATHS.keys}/:id/regenerate`,
    "keys",
    async (visit, id) => ({
      title: "Regenerate this key?",
      confirm: "Regenerate the key",
      cancel: PATHS.keys,
      text: await lossOf(visit, id, REGENERATED),
    }),
    async (visit, _, id) => {
      const { account, request } = visit;
      const { name, scopes, expiresAt, bound, spaceId } = await find(account.id, id);
      // The new key comes first. If it can't be created, the old one keeps working.
      const wanted = { name, scopes, expiresAt, bound, spaceId };
      const made = await createKeyInSession(parts, visit, wanted);
      record(request, "key_revoked", keyFacts(await keys.revoke(account.id, id)));
      return { to: createdPath(made), notice: `The old key “${name}” is revoked.` };
    },
  );
}

const REVOKED =
  "stops working at once for every program that uses it. You can't undo this. Your memories stay.";
const REGENERATED =
  "stops working at once. You get a new key with the same name, scope, project and expiry, which you must give to the programs that used the old one.";

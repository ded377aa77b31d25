/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { keyFacts } from "../../keys/keys.ts";
import { FULL_ACCESS } from "../../keys/scopes.ts";
import { boundOf } from "../../pages/form.tsx";
import { AGENT_EXPIRY, expiryOf } from "../keys/key-choices.ts";
import { PATHS } from "../navigation.tsx";
import { createPages } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import { createKeyInSession } from "../session.ts";
import { ConnectPage, connectPath, TARGETS, type Target } from "./connect-page.tsx";

/** The page with instructions for connecting agents, and the form that creates keys for them. */
export function createConnectRoutes({
  guard,
  proved,
  keys,
  shownOnce,
  config,
  connectCommand,
  clock,
  record: recordEvent,
}: Parts) {
  const pages = createPages(guard);
  const proving = createPages({ show: guard.show, act: proved.act }, { routes: pages.routes });
  pages.get(PATHS.connect, async (visit) => {
    const { searchParams } = visit.url;
    const target = findTarget(searchParams.get("to") ?? TARGETS[0]?.of.id);
    const made = searchParams.get("made");
    const key = made === null ? null : await shownOnce.take(visit.session, made);
    const record = (await keys.list(visit.account.id)).find(({ id }) => id === made);
    const fresh = key && record ? { key, expiresAt: record.expiresAt } : null;
    return (
      <ConnectPage
        visit={visit}
        target={target}
        publicUrl={config.publicUrl}
        fresh={fresh}
        connectCommand={connectCommand}
      />
    );
  });
  proving.post(PATHS.connect, async (visit, form) => {
    const target = findTarget(form.get("to"));
    const { key, record } = await createKeyInSession(keys, visit, {
      name: target.of.name,
      scopes: FULL_ACCESS,
      expiresAt: expiryOf(form.get("expires") ?? AGENT_EXPIRY, clock()),
      bound: boundOf(form),
    });
    recordEvent(visit.request, "key_created", keyFacts(record));
    await shownOnce.put(visit.session, record.id, key);
    return { to: connectPath(target, record.id) };
  });
  return pages.routes;
}

function findTarget(id: string | null | undefined): Target {
  const target = TARGETS.find(({ of }) => of.id === id);
  if (target) return target;
  throw new AppError("not_found", "This agent is not in the list. Choose one on the page Connect.");
}

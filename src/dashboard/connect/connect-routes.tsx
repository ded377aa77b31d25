/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { FULL_ACCESS } from "../../keys/scopes.ts";
import { boundOf, boundSpaceOf } from "../../pages/form.tsx";
import { AGENT_EXPIRY, expiryOf } from "../keys/keys-page.tsx";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { connectCommand, HOOK_OPTIONS } from "../server-status.ts";
import { createKeyInSession } from "../session.ts";
import type { Target } from "./connect-page.tsx";

/** Loaded when it is first opened: with the libraries of all configuration formats it takes 10 ms. */
const loadPage = () => import("./connect-page.tsx");

/** The page with instructions for connecting agents, and the form that creates keys for them. */
export function addConnectPage(parts: Parts): void {
  const { pages, keys, shownOnce, config, clock } = parts;
  pages.get(PATHS.connect, async (visit) => {
    const { ConnectPage, TARGETS } = await loadPage();
    const { searchParams } = visit.url;
    const target = findTarget(TARGETS, searchParams.get("to") ?? TARGETS[0]?.of.id);
    const made = searchParams.get("made");
    const key = made === null ? null : await shownOnce.take(visit.session, made);
    const commandOf = (words: string) => connectCommand(parts, visit.account, words);
    const record = (await keys.list(visit.account.id)).find(({ id }) => id === made);
    return (
      <ConnectPage
        visit={visit}
        target={target}
        publicUrl={config.publicUrl}
        fresh={key && record ? { key, expiresAt: record.expiresAt } : null}
        connect={commandOf(`connect ${target.of.id}`)}
        withHooks={commandOf(`connect ${target.of.id} ${HOOK_OPTIONS}`).command}
      />
    );
  });
  pages.proved.post(PATHS.connect, async (visit, form) => {
    const { connectPath, TARGETS } = await loadPage();
    const target = findTarget(TARGETS, form.get("to"));
    const made = await createKeyInSession(parts, visit, {
      name: target.of.name,
      scopes: FULL_ACCESS,
      expiresAt: expiryOf(form.get("expires") ?? AGENT_EXPIRY, clock()),
      bound: boundOf(form),
      spaceId: boundSpaceOf(form, visit.spaces),
    });
    return { to: connectPath(target, made) };
  });
}

function findTarget(targets: readonly Target[], id: string | null | undefined): Target {
  const target = targets.find(({ of }) => of.id === id);
  if (target) return target;
  throw new AppError("not_found", "This agent is not in the list. Choose one on the page Connect.");
}

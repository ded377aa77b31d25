/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record.ts";
import { type Keys, keyFacts } from "../keys/keys.ts";
import { SCOPES } from "../keys/scopes.ts";
import { ConnectPage, connectPath, TARGETS, type Target } from "./connect-page.tsx";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { PATHS } from "./navigation.tsx";
import type { ShownOnce } from "./shown-once.ts";

/** The page that says how to connect agents, and makes keys for them. */
export function createConnectRoutes({
  guard,
  keys,
  shownOnce,
  publicUrl,
  record: tell,
}: {
  guard: Guard;
  keys: Pick<Keys, "create">;
  shownOnce: ShownOnce;
  publicUrl: string;
  record: RecordEvent;
}) {
  return new Elysia()
    .get(
      PATHS.connect,
      ({ request }) =>
        guard.show(request, (visit) => {
          const { searchParams } = visit.url;
          const target = findTarget(searchParams.get("to") ?? TARGETS[0]?.of.id);
          const made = searchParams.get("made");
          const fresh = made === null ? null : shownOnce.take(visit.session, made);
          return <ConnectPage visit={visit} target={target} publicUrl={publicUrl} fresh={fresh} />;
        }),
      PAGE_ROUTE,
    )
    .post(
      PATHS.connect,
      ({ request }) =>
        guard.act(request, ({ account, session }, form) => {
          const target = findTarget(form.get("to"));
          const { key, record } = keys.create(account.id, {
            name: target.of.name,
            scopes: SCOPES,
            expiresAt: null,
          });
          tell(request, "key_created", keyFacts(record));
          shownOnce.put(session, record.id, key);
          return { to: connectPath(target, record.id) };
        }),
      PAGE_ROUTE,
    );
}

function findTarget(id: string | null | undefined): Target {
  const target = TARGETS.find(({ of }) => of.id === id);
  if (target) return target;
  throw new AppError("not_found", "This page knows no such agent: choose one under Connect.");
}

/** @jsxRuntime automatic @jsxImportSource #pages */

import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { RecordEvent } from "../http/record.ts";
import { toBound } from "../keys/bound.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import { type Grant, type Grants, grantFacts } from "../oauth/grants.ts";
import { ButtonLink } from "../pages/button.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { EmptyState } from "../pages/notice.tsx";
import { Pager, Table } from "../pages/table.tsx";
import { Allowed } from "../sign-in/bound-fields.tsx";
import { ConfirmPage } from "./confirm.tsx";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import { listPage } from "./list-page.ts";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME } from "./memory-sources.ts";
import { PATHS } from "./navigation.tsx";
import { memoryCount } from "./number-text.ts";
import { Page } from "./page.tsx";
import type { Visit } from "./visit.ts";
import { RemoveWritten } from "./written-routes.tsx";

/** The page of apps that a person has allowed to use their memories. */
export function createAppsRoutes({
  guard,
  grants,
  memories,
  record,
}: {
  guard: Guard;
  grants: Pick<Grants, "list" | "revoke">;
  memories: Pick<Memories, "count">;
  record: RecordEvent;
}) {
  const active = async (accountId: string) =>
    (await grants.list(accountId)).filter(({ revokedAt }) => revokedAt === null).reverse();

  return new Elysia()
    .get(
      PATHS.apps,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const all = await grants.list(visit.account.id);
          const ended = all.filter(({ revokedAt }) => revokedAt !== null).reverse();
          const reach = wholeAccount(visit.account.id);
          const byAgents = await memories.count(reach, { sourceId: LOCAL_SOURCE_ID });
          const working = await active(visit.account.id);
          return <AppsPage visit={visit} grants={working} ended={ended} byAgents={byAgents} />;
        }),
      PAGE_ROUTE,
    )
    .get(
      `${PATHS.apps}/:id/revoke`,
      ({ request, params }) =>
        guard.show(request, async (visit) => {
          const grant = (await active(visit.account.id)).find(({ id }) => id === params.id);
          if (!grant) throw new AppError("not_found", "This app is not connected any more.");
          return (
            <ConfirmPage
              visit={visit}
              section="apps"
              title="Disconnect this app?"
              action={`${PATHS.apps}/${grant.id}/revoke`}
              confirm="Disconnect"
              cancel={PATHS.apps}
            >
              <p>
                <strong>
                  <bdi>{grant.clientName}</bdi>
                </strong>{" "}
                can't use your memories any more, at once. To connect it again you have to allow it
                again. What it has saved stays.
              </p>
            </ConfirmPage>
          );
        }),
      PAGE_ROUTE,
    )
    .post(
      `${PATHS.apps}/:id/revoke`,
      ({ request, params }) =>
        guard.act(request, async ({ account }) => {
          const revoked = await grants.revoke(account.id, params.id);
          const { clientName } = revoked;
          record(request, "app_revoked", grantFacts(revoked));
          return { to: PATHS.apps, notice: `“${clientName}” is disconnected.` };
        }),
      PAGE_ROUTE,
    );
}

function AppsPage({
  visit,
  grants,
  ended,
  byAgents,
}: {
  visit: Visit;
  grants: readonly Grant[];
  ended: readonly Grant[];
  /** How many memories agents on this machine wrote. */
  byAgents: number;
}): Markup {
  const { items, ...ways } = listPage(grants, PATHS.apps, visit.url);
  return (
    <Page
      visit={visit}
      section="apps"
      title="Connected apps"
      lead="Apps that you have allowed to use your memories, each on a page of this server."
    >
      {grants.length === 0 ? (
        <EmptyState title="No app is connected">
          <p>
            Give an app the address of this server, and it asks you here. See{" "}
            <a href={PATHS.connect}>Connect</a>.
          </p>
        </EmptyState>
      ) : (
        <Table
          caption="Connected apps"
          rows={items}
          columns={[
            {
              title: "App",
              isHeader: true,
              cell: ({ clientName, redirectHost, createdAt }) => (
                <>
                  <bdi>{clientName}</bdi>
                  <span class="under">
                    goes back to <bdi>{redirectHost}</bdi>, allowed <Moment at={createdAt} />
                  </span>
                </>
              ),
            },
            {
              title: "May",
              cell: (grant) => <Allowed scopes={grant.scopes} bound={toBound(grant)} />,
            },
            { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
            { title: "Ends if unused", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
            {
              title: "Actions",
              isActions: true,
              cell: ({ id, clientName }) => (
                <div class="actions">
                  <ButtonLink href={`${PATHS.apps}/${id}/revoke`} kind="danger" asks={true}>
                    Disconnect<span class="hidden-text"> {clientName}</span>
                  </ButtonLink>
                  <RemoveWritten section="apps" id={id} name={clientName} />
                </div>
              ),
            },
          ]}
        />
      )}
      {ended.length > 0 && (
        <details>
          <summary>{`Disconnected within the last 30 days (${ended.length})`}</summary>
          <Table
            caption="Disconnected apps"
            rows={ended}
            columns={[
              { title: "App", isHeader: true, cell: ({ clientName }) => <bdi>{clientName}</bdi> },
              { title: "Disconnected", cell: ({ revokedAt }) => <Moment at={revokedAt} /> },
              {
                title: "Actions",
                isActions: true,
                cell: ({ id, clientName }) => (
                  <RemoveWritten section="apps" id={id} name={clientName} />
                ),
              },
            ]}
          />
        </details>
      )}
      {byAgents > 0 && (
        <section class="panel" aria-labelledby="agents">
          <h2 id="agents">{LOCAL_SOURCE_NAME}</h2>
          <p>{`They need no key and wrote ${memoryCount(byAgents)}.`}</p>
          <div class="actions">
            <RemoveWritten section="apps" id={LOCAL_SOURCE_ID} name={LOCAL_SOURCE_NAME} />
          </div>
        </section>
      )}
      <Pager label="Pages of apps" {...ways} />
    </Page>
  );
}

/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import { toBound } from "../../keys/reach.ts";
import { type Grant, grantFacts } from "../../oauth/grants.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { Allowed } from "../../pages/form.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { memoryCount } from "../../text/number-text.ts";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME } from "../memories/memories-view.ts";
import { PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { DeleteWrittenLink } from "./written-routes.tsx";

/** The page of apps that may use a person's memories. */
export function addAppsPages({ pages, grants, memories, record }: Parts): void {
  const isActive = ({ revokedAt }: Grant) => revokedAt === null;

  pages.get(PATHS.apps, async (visit) => {
    const newestFirst = (await grants.list(visit.account.id)).reverse();
    const byAgents = await memories.count(visit.reach, { sourceId: LOCAL_SOURCE_ID });
    const active = newestFirst.filter(isActive);
    const ended = newestFirst.filter((grant) => !isActive(grant));
    return <AppsPage visit={visit} grants={active} ended={ended} byAgents={byAgents} />;
  });
  pages.confirmed(
    `${PATHS.apps}/:id/revoke`,
    "apps",
    async ({ account }, wanted) => {
      const active = (await grants.list(account.id)).filter(isActive);
      const grant = active.find(({ id }) => id === wanted);
      if (!grant) throw new AppError("not_found", "This app is no longer connected.");
      return {
        title: "Disconnect this app?",
        confirm: "Disconnect",
        cancel: PATHS.apps,
        text: (
          <p>
            <strong>
              <bdi>{grant.clientName}</bdi>
            </strong>{" "}
            will lose access to your memories at once. You can connect it again later. The memories
            that it saved stay.
          </p>
        ),
      };
    },
    async ({ account, request }, _, id) => {
      const revoked = await grants.revoke(account.id, id);
      const { clientName } = revoked;
      record(request, "app_revoked", grantFacts(revoked));
      return { to: PATHS.apps, notice: `“${clientName}” is disconnected.` };
    },
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
  const { items, ...pager } = listPage(grants, PATHS.apps, visit.url);
  return (
    <Page
      visit={visit}
      section="apps"
      title="Connected apps"
      lead="Apps that you have allowed to use your memories."
    >
      {grants.length === 0 ? (
        <EmptyState title="No app is connected">
          <p>
            Enter the address of this server in an app. The app then asks you for access here. See{" "}
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
                    returns to <bdi>{redirectHost}</bdi>, connected <Moment at={createdAt} />
                  </span>
                </>
              ),
            },
            {
              title: "Access",
              cell: (grant) => <Allowed scopes={grant.scopes} bound={toBound(grant)} />,
            },
            { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
            { title: "Expires if unused", cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
            {
              title: "Actions",
              isActions: true,
              cell: ({ id, clientName }) => (
                <div class="actions">
                  <ButtonLink href={`${PATHS.apps}/${id}/revoke`} kind="danger" asks={true}>
                    Disconnect<span class="hidden-text"> {clientName}</span>
                  </ButtonLink>
                  <DeleteWrittenLink section="apps" id={id} name={clientName} />
                </div>
              ),
            },
          ]}
        />
      )}
      {ended.length > 0 && (
        <details>
          <summary>{`Disconnected in the last 30 days (${ended.length})`}</summary>
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
                  <DeleteWrittenLink section="apps" id={id} name={clientName} />
                ),
              },
            ]}
          />
        </details>
      )}
      {byAgents > 0 && (
        <section class="panel" aria-labelledby="agents">
          <h2 id="agents">{LOCAL_SOURCE_NAME}</h2>
          <p>{`They need no key. They wrote ${memoryCount(byAgents)}.`}</p>
          <div class="actions">
            <DeleteWrittenLink section="apps" id={LOCAL_SOURCE_ID} name={LOCAL_SOURCE_NAME} />
          </div>
        </section>
      )}
      <Pager label="Pages of apps" {...pager} />
    </Page>
  );
}

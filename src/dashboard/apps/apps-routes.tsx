/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import type { RouteFacts } from "../../http/record-event.ts";
import { keyFacts } from "../../keys/keys.ts";
import { toBound } from "../../keys/reach.ts";
import { type Grant, grantFacts } from "../../oauth/grants.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { Allowed } from "../../pages/form.tsx";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { memoryCount } from "../../text/number-text.ts";
import { createPause } from "../../timing/pause.ts";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME, viewPath } from "../memories/memories-view.ts";
import { PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";

/** The page of apps that may use a person's memories. */
export function addAppsPages({ pages, grants, memories, record }: Parts): void {
  const isActive = ({ revokedAt }: Grant) => revokedAt === null;

  pages.get(PATHS.apps, async (visit) => {
    const pause = createPause();
    const newestFirst = (await grants.list(visit.account.id)).reverse();
    await pause();
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
}) {
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
          ]}
          actions={({ id, clientName }) => (
            <div class="actions">
              <ButtonLink href={`${PATHS.apps}/${id}/revoke`} kind="danger" asks={true}>
                Disconnect<span class="hidden-text"> {clientName}</span>
              </ButtonLink>
              <DeleteWrittenLink section="apps" id={id} name={clientName} />
            </div>
          )}
        />
      )}
      {ended.length > 0 && (
        <details>
          <summary>{`Disconnected in the last 30 days (${ended.length})`}</summary>
          <Table
            caption="Disconnected apps"
            rows={ended}
            columns={[
              { title: "App", cell: ({ clientName }) => <bdi>{clientName}</bdi> },
              { title: "Disconnected", cell: ({ revokedAt }) => <Moment at={revokedAt} /> },
            ]}
            actions={({ id, clientName }) => (
              <DeleteWrittenLink section="apps" id={id} name={clientName} />
            )}
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

/** The key, app or local agents that wrote memories. */
interface Writer {
  id: string;
  name: string;
  /** Its fields in the security log. */
  facts: RouteFacts;
}

/** The page that deletes the memories that a key or an app wrote. */
function writtenPath(section: "keys" | "apps", id: string): string {
  return `${PATHS[section]}/${id}/written`;
}

/** The link to the page that deletes the memories that a key or an app wrote. */
export function DeleteWrittenLink({
  section,
  id,
  name,
}: {
  section: "keys" | "apps";
  id: string;
  name: string;
}) {
  return (
    <ButtonLink href={writtenPath(section, id)} kind="danger" asks={true}>
      Delete what it wrote<span class="hidden-text"> {name}</span>
    </ButtonLink>
  );
}

/**
 * Deletes at once all memories that a key or an app wrote, even after the key was revoked or the app disconnected.
 * The key may have been stolen, or its agent misled.
 */
export function addWrittenPages({ pages, keys, grants, memories, record }: Parts): void {
  const ofKey = async (accountId: string, id: string): Promise<Writer | undefined> =>
    (await keys.list(accountId))
      .map((key) => ({ id: key.id, name: key.name, facts: keyFacts(key) }))
      .find((each) => each.id === id);
  const ofApp = async (accountId: string, id: string): Promise<Writer | undefined> => {
    if (id === LOCAL_SOURCE_ID)
      return { id, name: LOCAL_SOURCE_NAME, facts: { accountId, subjectId: id } };
    return (await grants.list(accountId))
      .map((grant) => ({ id: grant.id, name: grant.clientName, facts: grantFacts(grant) }))
      .find((each) => each.id === id);
  };

  const addPage = (section: "keys" | "apps", find: typeof ofKey) => {
    const found = async (accountId: string, id: string): Promise<Writer> => {
      const writer = await find(accountId, id);
      if (writer) return writer;
      throw new AppError("not_found", "Your account has no such key or app.");
    };
    pages.confirmed(
      writtenPath(section, ":id"),
      section,
      async ({ account, reach }, wanted) => {
        const { id, name } = await found(account.id, wanted);
        const amount = await memories.count(reach, { sourceId: id });
        const count = memoryCount(amount);
        const isLocal = id === LOCAL_SOURCE_ID;
        const end = section === "keys" ? "revoke the key" : "disconnect the app";
        return {
          title: isLocal ? "Delete all that they wrote?" : "Delete all that it wrote?",
          confirm: `Delete ${count}`,
          cancel: PATHS[section],
          text: (
            <>
              <p>
                {`${count} that `}
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                {
                  " wrote will be deleted permanently. You can't undo this. Memories that they superseded become current again."
                }
                {isLocal ? "" : ` It can still write until you ${end}.`}
              </p>
              {amount > 0 && (
                <p>
                  <a href={viewPath({ source: id, history: "1" })}>Show them first</a>
                </p>
              )}
            </>
          ),
        };
      },
      async ({ account, reach, request }, _, wanted) => {
        const { id, name, facts } = await found(account.id, wanted);
        const amount = await memories.removeMatching(reach, { sourceId: id });
        record(request, "memories_deleted", { ...facts, amount });
        const notice = `${memoryCount(amount)} that “${name}” wrote are deleted permanently.`;
        return { to: PATHS[section], notice };
      },
    );
  };

  addPage("keys", ofKey);
  addPage("apps", ofApp);
}

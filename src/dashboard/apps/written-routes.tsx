/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import type { RecordEvent, RouteFacts } from "../../http/record-event.ts";
import { type Keys, keyFacts } from "../../keys/keys.ts";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { type Grants, grantFacts } from "../../oauth/grants.ts";
import { ButtonLink } from "../../pages/button.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { memoryCount } from "../../text/number-text.ts";
import { ConfirmPage } from "../confirm.tsx";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME, viewPath } from "../memories/memories-view.ts";
import { PATHS, type Section } from "../navigation.tsx";
import type { Visit } from "../session.ts";

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
}): Markup {
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
export function createWrittenRoutes({
  guard,
  keys,
  grants,
  memories,
  record,
}: {
  guard: Guard;
  keys: Pick<Keys, "list">;
  grants: Pick<Grants, "list">;
  memories: Pick<Memories, "count" | "removeMatching">;
  record: RecordEvent;
}) {
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

  const routesOf = (section: "keys" | "apps", find: typeof ofKey) => {
    const found = async (visit: Visit, id: string): Promise<Writer> => {
      const writer = await find(visit.account.id, id);
      if (writer) return writer;
      throw new AppError("not_found", "Your account has no such key or app.");
    };
    return new Elysia()
      .get(
        `${PATHS[section]}/:id/written`,
        ({ request, params }) =>
          guard.show(request, async (visit) => {
            const { id, name } = await found(visit, params.id);
            const count = await memories.count(wholeAccount(visit.account.id), { sourceId: id });
            return <Question visit={visit} section={section} id={id} name={name} count={count} />;
          }),
        PAGE_ROUTE,
      )
      .post(
        `${PATHS[section]}/:id/written`,
        ({ request, params }) =>
          guard.act(request, async (visit) => {
            const { id, name, facts } = await found(visit, params.id);
            const reach = wholeAccount(visit.account.id);
            const amount = await memories.removeMatching(reach, { sourceId: id });
            record(request, "memories_deleted", { ...facts, amount });
            const notice = `${memoryCount(amount)} that “${name}” wrote are deleted permanently.`;
            return { to: PATHS[section], notice };
          }),
        PAGE_ROUTE,
      );
  };

  return new Elysia().use(routesOf("keys", ofKey)).use(routesOf("apps", ofApp));
}

function Question({
  visit,
  section,
  id,
  name,
  count,
}: {
  visit: Visit;
  section: Section & ("keys" | "apps");
  id: string;
  name: string;
  count: number;
}): Markup {
  return (
    <ConfirmPage
      visit={visit}
      section={section}
      title={id === LOCAL_SOURCE_ID ? "Delete all that they wrote?" : "Delete all that it wrote?"}
      action={writtenPath(section, id)}
      confirm={`Delete ${memoryCount(count)}`}
      cancel={PATHS[section]}
    >
      <p>
        {`${memoryCount(count)} that `}
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {
          " wrote will be deleted permanently. You can't undo this. Memories that they superseded become current again."
        }
        {id === LOCAL_SOURCE_ID
          ? ""
          : ` It can still write until you ${section === "keys" ? "revoke the key" : "disconnect the app"}.`}
      </p>
      {count > 0 && (
        <p>
          <a href={viewPath({ source: id, history: "1" })}>Show them first</a>
        </p>
      )}
    </ConfirmPage>
  );
}

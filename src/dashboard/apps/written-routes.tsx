/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../../errors.ts";
import type { RouteFacts } from "../../http/record-event.ts";
import { keyFacts } from "../../keys/keys.ts";
import { grantFacts } from "../../oauth/grants.ts";
import { ButtonLink } from "../../pages/button.tsx";
import type { Markup } from "../../pages/jsx-runtime.ts";
import { memoryCount } from "../../text/number-text.ts";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME, viewPath } from "../memories/memories-view.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";

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

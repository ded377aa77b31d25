/** @jsxRuntime automatic @jsxImportSource #pages */

import { KEPT_DAYS } from "../../activity/activity.ts";
import { AppError } from "../../errors.ts";
import type { Child } from "../../pages/jsx-runtime.ts";
import { memoryCount } from "../../text/number-text.ts";
import { createPause } from "../../timing/pause.ts";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import { actorsOf, agentName, firstDay } from "../activity/activity-view.ts";
import { viewPath } from "../memories/memories-view.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { connectCommand } from "../server-status.ts";
import { AgentsPage, agentPath } from "./agents-page.tsx";
import { type Access, agentsOf, createAccessList, isActive } from "./agents-view.ts";

/** The former path of the page. */
const FORMER_PATH = "/apps";

/** The page of the agents, and its forms. */
export function addAgentsPages(parts: Parts): void {
  const { pages, keys, grants, memories, activity, reportAgents, record, clock } = parts;
  const listAccess = createAccessList(parts);

  /** A key or an app that can be used. */
  const find = async (accountId: string, id: string): Promise<Access> => {
    const [access] = await listAccess(accountId, id);
    if (access && access.kind !== "local" && isActive(access, clock())) return access;
    throw new AppError("not_found", "This agent is no longer connected.");
  };

  pages.get(FORMER_PATH, () => {
    return new Response(null, { status: 308, headers: { location: PATHS.agents } });
  });
  pages.get(PATHS.agents, async (visit) => {
    const { account, reach } = visit;
    const pause = createPause();
    const list = await listAccess(account.id);
    await pause();
    const counts = await activity.actors(account.id, firstDay(KEPT_DAYS, clock()));
    await pause();
    const actors = actorsOf(counts, account.id);
    const isLocal = actors.some(({ sourceId }) => sourceId === LOCAL_SOURCE_ID);
    await pause();
    const hasLocal = isLocal || (await memories.count(reach, { sourceId: LOCAL_SOURCE_ID })) > 0;
    await pause();
    const active = list.filter(
      (each) => isActive(each, clock()) && (each.kind !== "local" || hasLocal),
    );
    const agents = agentsOf(active, actors, await reportAgents(account.id));
    await pause();
    const ended = list.filter(({ kind, revokedAt }) => kind === "app" && revokedAt !== null);
    return (
      <AgentsPage
        visit={visit}
        agents={agents}
        ended={ended.reverse()}
        commandOf={(words) => connectCommand(parts, account, words).command}
      />
    );
  });

  /** Pauses a key or an app, or resumes it, and records that. @returns its name */
  const change = async (accountId: string, id: string, request: Request, isPaused: boolean) => {
    const { kind, name, facts } = await find(accountId, id);
    await (kind === "key" ? keys : grants).pause(accountId, id, isPaused);
    record(
      request,
      `${kind === "key" ? "key" : "app"}_${isPaused ? "paused" : "resumed"}`,
      facts(),
    );
    return name;
  };
  pages.confirmed(
    agentPath(":id", "pause"),
    "agents",
    async ({ account }, id) => {
      const { kind, name } = await find(account.id, id);
      return {
        title: kind === "key" ? "Pause this key?" : "Pause this app?",
        confirm: "Pause",
        cancel: PATHS.agents,
        text: (
          <About name={name}>
            is refused from its next request on, whichever agent uses it, until you resume it.
            Nothing has to be connected again. The memories that it saved stay.
          </About>
        ),
      };
    },
    async ({ account, request }, _, id) => {
      const name = await change(account.id, id, request, true);
      return { to: PATHS.agents, notice: `“${name}” is paused.` };
    },
  );
  pages.post(agentPath(":id", "resume"), async ({ account, request }, _, id) => {
    const name = await change(account.id, id, request, false);
    return { to: PATHS.agents, notice: `“${name}” may use your memories again.` };
  });
  pages.confirmed(
    agentPath(":id", "revoke"),
    "agents",
    async ({ account }, id) => {
      const { kind, name } = await find(account.id, id);
      if (kind !== "app") throw new AppError("not_found", "This app is no longer connected.");
      return {
        title: "Disconnect this app?",
        confirm: "Disconnect",
        cancel: PATHS.agents,
        text: (
          <About name={name}>
            will lose access to your memories at once. You can connect it again later. The memories
            that it saved stay.
          </About>
        ),
      };
    },
    async ({ account, request }, _, id) => {
      const { facts } = await find(account.id, id);
      const { clientName } = await grants.revoke(account.id, id);
      record(request, "app_revoked", facts());
      return { to: PATHS.agents, notice: `“${clientName}” is disconnected.` };
    },
  );
}

/** A sentence about a key or an app, which begins with its name. */
function About({ name, children }: { name: string; children?: Child }) {
  return (
    <p>
      <strong>
        <bdi>{name}</bdi>
      </strong>{" "}
      {children}
    </p>
  );
}

/**
 * Deletes at once all memories that a key, an app or one of their agents wrote, even after the key was revoked or the
 * app disconnected. The key may have been stolen, or its agent misled.
 */
export function addWrittenPage(parts: Parts): void {
  const { pages, memories, record } = parts;
  const listAccess = createAccessList(parts);

  /** The access, the name of the writer, and the view of the memories that it wrote. */
  const find = async (accountId: string, id: string, agent: string) => {
    const [access] = await listAccess(accountId, id);
    if (!access) throw new AppError("not_found", "Your account has no such key or app.");
    const view = { source: id, agent_id: agent, history: "1" };
    const filter = { sourceId: id, ...(agent !== "" && { agentId: agent }) };
    return { access, name: agentName(agent || null) ?? access.name, view, filter };
  };

  pages.confirmed(
    agentPath(":id", "written"),
    "agents",
    async ({ account, reach, url }, id) => {
      const agent = url.searchParams.get("agent") ?? "";
      const { access, name, view, filter } = await find(account.id, id, agent);
      const amount = await memories.count(reach, filter);
      const count = memoryCount(amount);
      const isLocal = access.kind === "local";
      const end = access.kind === "key" ? "pause or revoke the key" : "pause or disconnect the app";
      return {
        title:
          isLocal && agent === "" ? "Delete all that they wrote?" : "Delete all that it wrote?",
        confirm: `Delete ${count}`,
        cancel: PATHS.agents,
        text: (
          <>
            <input type="hidden" name="agent" value={agent} />
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
                <a href={viewPath(view)}>Show them first</a>
              </p>
            )}
            {agent !== "" && (
              <p>
                <a href={agentPath(id, "written")}>
                  Delete all that was written with “<bdi>{access.name}</bdi>” instead
                </a>
              </p>
            )}
          </>
        ),
      };
    },
    async ({ account, reach, request }, form, id) => {
      const { access, name, filter } = await find(account.id, id, form.get("agent") ?? "");
      const amount = await memories.removeMatching(reach, filter);
      record(request, "memories_deleted", { ...access.facts(), amount });
      const notice = `${memoryCount(amount)} that “${name}” wrote are deleted permanently.`;
      return { to: PATHS.agents, notice };
    },
  );
}

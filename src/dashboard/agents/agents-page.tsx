/** @jsxRuntime automatic @jsxImportSource #pages */
import { findClient } from "../../connect/clients.ts";
import { allows, type Scope } from "../../keys/scopes.ts";
import { Button, ButtonLink, Copyable } from "../../pages/button.tsx";
import { Allowed, PostForm } from "../../pages/form.tsx";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import type { AgentState } from "../../uses/agent-states.ts";
import { amount } from "../activity/activity-page.tsx";
import { agentName } from "../activity/activity-view.ts";
import { viewPath } from "../memories/memories-view.ts";
import { HELP_PATH, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import { HOOK_OPTIONS } from "../server-status.ts";
import type { Visit } from "../session.ts";
import type { Access, Agent } from "./agents-view.ts";

/** Agents for which the page has a command of their own. */
const MAX_COMMANDS = 4;

/** The forms and questions about an access. */
type AgentAction = "pause" | "resume" | "revoke" | "written";

export function agentPath(id: string, action: AgentAction): string {
  return `${PATHS.agents}/${id}/${action}`;
}

/** The page of all agents, keys and apps that use the account's memories. */
export function AgentsPage({
  visit,
  agents,
  ended,
  commandOf,
}: {
  visit: Visit;
  agents: readonly Agent[];
  /** Disconnected apps. */
  ended: readonly Access[];
  /** The command of `ctxd` with these words. */
  commandOf: (words: string) => string;
}) {
  const { items, ...pager } = listPage(agents, PATHS.agents, visit.url);
  return (
    <Page
      visit={visit}
      section="agents"
      title="Agents"
      lead="Agents, apps and programs that use your memories, and what they did in the last 90 days."
      actions={
        <ButtonLink href={PATHS.connect} kind="main">
          Connect an agent
        </ButtonLink>
      }
    >
      {agents.length === 0 ? (
        <EmptyState title="No agent is connected">
          <p>
            An agent on this machine needs one command. An app asks you for access here when you
            enter the address of this server in it. See <a href={PATHS.connect}>Connect</a>.
          </p>
        </EmptyState>
      ) : (
        <div class="activity-actors">
          <AgentTable visit={visit} agents={items} />
        </div>
      )}
      <Pager label="Pages of agents" {...pager} />
      <CaptureAndRecall agents={agents} commandOf={commandOf} />
      {ended.length > 0 && (
        <details>
          <summary>{`Apps disconnected in the last 30 days (${ended.length})`}</summary>
          <Table
            caption="Disconnected apps"
            rows={ended}
            columns={[
              { title: "App", cell: ({ name }) => <bdi>{name}</bdi> },
              { title: "Disconnected", cell: ({ revokedAt }) => <Moment at={revokedAt} /> },
            ]}
            actions={(access) => <RemoveWrittenLink {...access} />}
          />
        </details>
      )}
    </Page>
  );
}

function AgentTable({ visit, agents }: { visit: Visit; agents: readonly Agent[] }) {
  return (
    <Table
      caption="Agents"
      rows={agents}
      columns={[
        { title: "Agent", cell: (agent) => <AgentName {...agent} spaces={visit.spaces} /> },
        { title: "Last seen", cell: ({ lastAt }) => <Moment at={lastAt} /> },
        { title: "Saved", isNumber: true, cell: (agent) => <Saved {...agent} /> },
        { title: "Of use", isNumber: true, cell: ({ state }) => amount(state?.ofUse ?? 0) },
        { title: "Asked", isNumber: true, cell: ({ done }) => amount(done?.asked) },
        { title: "Received", isNumber: true, cell: ({ done }) => amount(done?.brought) },
      ]}
      actions={({ access, done }) => (
        <div class="actions">
          <PauseAction visit={visit} access={access} />
          {access.kind === "app" && (
            <ButtonLink href={agentPath(access.id, "revoke")} kind="danger" asks={true}>
              Disconnect<span class="hidden-text"> {access.name}</span>
            </ButtonLink>
          )}
          <RemoveWrittenLink {...access} agent={done?.agent ?? null} />
        </div>
      )}
    />
  );
}

/** The number of saved memories, as a link to them. */
function Saved({ access, done }: Agent) {
  if (!done?.saved) return <>{amount()}</>;
  return (
    <a href={viewPath({ source: access.id, agent_id: done.agent ?? "" })}>{amount(done.saved)}</a>
  );
}

function AgentName({ access, done, state, spaces }: Agent & Pick<Visit, "spaces">) {
  const agent = done?.agent ?? null;
  const { kind, name, returnsTo, expiresAt, pausedAt } = access;
  return (
    <>
      <bdi>{agentName(agent) ?? name}</bdi>
      {pausedAt !== null && [" ", <span class="state">Paused</span>]}
      <Alive {...state} />
      {kind === "local" ? (
        <span class="under">on this machine, needs no key</span>
      ) : (
        <span class="under">
          {kind === "key" ? <a href={PATHS.keys}>API key</a> : "App"}
          {agent !== null && (
            <>
              {" "}
              <bdi>{name}</bdi>
            </>
          )}
          {returnsTo !== null && (
            <>
              , returns to <bdi>{returnsTo}</bdi>
            </>
          )}
          , <Allowed {...access} spaces={spaces} />
          {expiresAt !== null && (
            <>
              , expires <Moment at={expiresAt} />
            </>
          )}
        </span>
      )}
    </>
  );
}

/** When an agent last captured and recalled, and what seems to be broken. */
function Alive({ lastCapture = null, lastRecall = null, warnings = [] }: Partial<AgentState>) {
  return (
    <>
      {warnings.map((each) => (
        <span class="under">
          <span class="state">Check</span> {`It ${each}.`}
        </span>
      ))}
      {(lastCapture !== null || lastRecall !== null) && (
        <span class="under">
          {lastCapture !== null && (
            <>
              last capture <Moment at={lastCapture} />
            </>
          )}
          {lastCapture !== null && lastRecall !== null && ", "}
          {lastRecall !== null && (
            <>
              last recall <Moment at={lastRecall} />
            </>
          )}
        </span>
      )}
    </>
  );
}

/** The link that pauses a key or an app, or the button that resumes it. */
function PauseAction({ visit, access }: { visit: Visit; access: Access }) {
  const { id, kind, name, pausedAt } = access;
  if (kind === "local") return Fragment({});
  const of = <span class="hidden-text"> {name}</span>;
  if (pausedAt === null) {
    return (
      <ButtonLink href={agentPath(id, "pause")} asks={true}>
        Pause{of}
      </ButtonLink>
    );
  }
  return (
    <PostForm action={agentPath(id, "resume")} token={visit.token}>
      <Button>Resume{of}</Button>
    </PostForm>
  );
}

/** The link to the page that deletes the memories that a key, an app or an agent wrote. */
export function RemoveWrittenLink({
  id,
  name,
  scopes,
  agent = null,
}: {
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** Only the memories of this agent; null for all. */
  agent?: string | null;
}) {
  if (!allows(scopes, "memories:add")) return Fragment({});
  const query = agent === null ? "" : `?${new URLSearchParams({ agent })}`;
  return (
    <ButtonLink href={agentPath(id, "written") + query} kind="danger" asks={true}>
      Remove what it wrote<span class="hidden-text"> {agent ?? name}</span>
    </ButtonLink>
  );
}

/** The commands that set up capture and recall, for all agents and for each that was seen. */
function CaptureAndRecall({
  agents,
  commandOf,
}: {
  agents: readonly Agent[];
  commandOf: (words: string) => string;
}) {
  const seen = agents.flatMap(({ done }) => (done?.agent ? [{ ...done, id: done.agent }] : []));
  const clients = [...Map.groupBy(seen, ({ id }) => id)].flatMap(([id, own]) => {
    const client = findClient(id);
    const has = (kind: string) => own.some(({ kinds }) => kinds.some((each) => each === kind));
    const does = [has("captured") && "captures", has("recalled") && "recalls"].filter(Boolean);
    return client?.hooks || client?.plugin ? [{ id, name: client.name, does }] : [];
  });
  return (
    <section class="panel" aria-labelledby="hooks">
      <h2 id="hooks">Capture and recall</h2>
      <p>
        With capture, agents save what is said, for 90 days. With recall, they begin each
        conversation with what is known. Run this where your agents run. It shows its changes and
        asks first. <a href={`${HELP_PATH}/capture`}>What is captured and recalled</a>
      </p>
      <Copyable
        text={commandOf(`connect --all ${HOOK_OPTIONS}`)}
        label="the command for all agents"
      />
      {clients.slice(0, MAX_COMMANDS).map(({ id, name, does }) => (
        <>
          <h3>
            {name} {does.length > 0 && <span class="state well">{does.join(" and ")}</span>}
          </h3>
          {does.length < 2 && (
            <Copyable
              text={commandOf(`connect ${id} ${HOOK_OPTIONS}`)}
              label={`the command for ${name}`}
            />
          )}
        </>
      ))}
      <p class="hint">
        <code>--no-capture --no-recall</code> in their place turns both off. <code>--remove</code>{" "}
        disconnects an agent, also one of this machine, which has no key to pause.
      </p>
    </section>
  );
}

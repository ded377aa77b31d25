/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../memories/memory.ts";
import type { Stats } from "../memories/stats.ts";
import { CHARTS, LIVE } from "../pages/assets.ts";
import { ButtonLink } from "../pages/button.tsx";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { EmptyState } from "../pages/notice.tsx";
import { Table } from "../pages/table.tsx";
import type { Visit } from "./guard.tsx";
import { viewPath } from "./memories-view.ts";
import { nameOf } from "./memory-item.tsx";
import { MEMORY_PATHS, PATHS } from "./navigation.tsx";
import { degreesOf, growthOf } from "./overview-tables.ts";
import { Page } from "./page.tsx";
import { sizeText } from "./size.ts";

/** Tags and agents that are shown. */
const MOST_GROUPS = 8;

/** A memory, and when something happened to it. */
export interface Event {
  memory: Memory;
  at: Date;
}

/** What an account has, at a glance. */
export function OverviewPage({
  visit,
  position,
  stats,
  lastSaved,
  lastFound,
}: {
  visit: Visit;
  /** Where the account's memories are, for who follows them. */
  position: string;
  stats: Stats;
  lastSaved: Event | null;
  lastFound: Event | null;
}): Markup {
  return (
    <Page visit={visit} section="overview" title="Overview" assets={[...CHARTS, LIVE]}>
      {stats.memories === 0 ? (
        <div id="figures" data-live="memories" data-live-at={position} data-live-anew={true}>
          <EmptyState title="No memories yet">
            <p>Connect an agent: it saves what it learns, and finds it again when it matters.</p>
            <div class="actions">
              <ButtonLink href={PATHS.connect} kind="main">
                Connect an agent
              </ButtonLink>
              <ButtonLink href={MEMORY_PATHS.new}>Add a memory</ButtonLink>
            </div>
          </EmptyState>
        </div>
      ) : (
        <Figures {...{ position, stats, lastSaved, lastFound }} />
      )}
    </Page>
  );
}

function Figures({
  position,
  stats,
  lastSaved,
  lastFound,
}: {
  position: string;
  stats: Stats;
  lastSaved: Event | null;
  lastFound: Event | null;
}): Markup {
  return (
    <>
      <div class="tiles" id="figures" data-live="memories" data-live-at={position}>
        <Tile label="Memories">
          <a class="figure" href={PATHS.memories}>
            {stats.memories.toLocaleString("en")}
          </a>
        </Tile>
        <Tile label="On disk">
          <span class="figure">{sizeText(stats.bytes ?? 0)}</span>
        </Tile>
        <Tile label="Last saved">
          <LastEvent event={lastSaved} none="nothing yet" />
        </Tile>
        <Tile label="Last found by a search">
          <LastEvent event={lastFound} none="nothing yet" />
        </Tile>
      </div>
      <Chart
        kind="growth"
        title="Growth"
        description="How many memories there are, and how many were saved each day."
      >
        <Table
          caption="Growth"
          rows={growthOf(stats)}
          columns={[
            { title: "When", isHeader: true, cell: ({ period }) => period },
            { title: "Saved", isNumber: true, cell: ({ added }) => added },
            { title: "In all", isNumber: true, cell: ({ total }) => total },
          ]}
        />
      </Chart>
      <Chart
        kind="fading"
        title="What fades"
        description="Every memory by its age and importance. The fainter, the less is left of it: it sinks in searches, but is never lost. A change makes it new again."
      >
        <Table
          caption="How much is left"
          rows={degreesOf(stats)}
          columns={[
            { title: "Left", isHeader: true, cell: ({ label }) => label },
            { title: "Memories", isNumber: true, cell: ({ memories }) => memories },
          ]}
        />
      </Chart>
      <div class="columns">
        <Groups
          title="By tag"
          none="No memory has a tag."
          groups={stats.tags.map(({ tag, memories }) => ({
            label: <bdi>{tag}</bdi>,
            href: viewPath({ tags: tag }),
            memories,
          }))}
        />
        <Groups
          title="By project"
          none="No memory has a project."
          groups={stats.projects.map(({ project, memories }) => ({
            label: project === null ? "no project" : <bdi>{project}</bdi>,
            href: viewPath(project === null ? { unfiled: "1" } : { project }),
            memories,
          }))}
        />
        <Groups
          title="By agent"
          none="No memory has an agent."
          groups={stats.agents.map(({ agent_id, memories }) => ({
            label: agent_id === null ? "without an agent" : <bdi>{agent_id}</bdi>,
            href: agent_id === null ? null : viewPath({ agent_id }),
            memories,
          }))}
        />
      </div>
    </>
  );
}

function Tile({ label, children }: { label: string; children?: Child }): Markup {
  return (
    <section class="panel tile">
      <h2>{label}</h2>
      {children}
    </section>
  );
}

function LastEvent({ event, none }: { event: Event | null; none: string }): Markup {
  if (event === null) return <span class="faint">{none}</span>;
  const { memory, at } = event;
  return (
    <>
      <a class="memory-text" href={`${PATHS.memories}/${memory.id}`}>
        <bdi>{nameOf(memory.content)}</bdi>
      </a>
      <span class="faint">
        <Moment at={at} />
      </span>
    </>
  );
}

/** Drawn where scripts run; its table says the same. */
function Chart({
  kind,
  title,
  description,
  children,
}: {
  kind: "growth" | "fading";
  title: string;
  description: string;
  children?: Child;
}): Markup {
  return (
    <figure class="panel">
      <figcaption>
        <h2>{title}</h2>
        <p class="lead">{description}</p>
      </figcaption>
      <div
        class="chart"
        data-chart={kind}
        role="img"
        aria-label={`${title}: the table below has the figures`}
        hidden={true}
      />
      <p class="chart-note faint" />
      <details open={true}>
        <summary>As a table</summary>
        {children}
      </details>
    </figure>
  );
}

interface Group {
  label: Child;
  /** The memories of the group; `null` when they can't be asked for. */
  href: string | null;
  memories: number;
}

function Groups({
  title,
  none,
  groups,
}: {
  title: string;
  none: string;
  groups: readonly Group[];
}): Markup {
  const most = groups[0]?.memories ?? 1;
  return (
    <section class="panel">
      <h2>{title}</h2>
      {groups.length === 0 && <p class="faint">{none}</p>}
      <ul class="groups">
        {groups.slice(0, MOST_GROUPS).map(({ label, href, memories }) => (
          <li>
            <span class="group-label">{href === null ? label : <a href={href}>{label}</a>}</span>
            <meter value={memories} min={0} max={most} aria-hidden="true" />
            <span class="number">{memories.toLocaleString("en")}</span>
          </li>
        ))}
      </ul>
      {groups.length > MOST_GROUPS && (
        <p class="faint">{`and ${groups.length - MOST_GROUPS} more`}</p>
      )}
    </section>
  );
}
